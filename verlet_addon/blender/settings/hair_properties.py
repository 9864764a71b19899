"""The settings of `Object.verlet` for hair alone."""

from bpy.props import BoolProperty, FloatProperty, StringProperty

from ...core.settings import BodySettings

_BODY = BodySettings()

HAIR_NAMES = ("follow_groom", "follow_attribute")
"""Properties that decide how far hair is held."""


class HairProperties:
    """How far hair is held to its groom, and how strands act on each other.

    These are properties of `VERLET_PG_body`.
    """

    follow_groom: FloatProperty(
        name="Follow Groom",
        description="How far the strands are held to where the groom has them: 0 swings freely, 1 "
        "is the groom",
        default=0.0,
        min=0.0,
        max=1.0,
        step=10,
        subtype="FACTOR",
        options={"ANIMATABLE"},
    )
    follow_attribute: StringProperty(
        name="Follow Attribute",
        description="Attribute of the hair, a number at each point or each curve, that scales "
        "Follow Groom: 0 is free, 1 has all of it",
        options=set(),
    )
    strand_friction: FloatProperty(
        name="Strand Friction",
        description="How fast strands take on the motion of those around them, per second: 0 lets "
        "each swing by itself, at 20 they move as one within a twentieth of a second",
        default=_BODY.strand_friction,
        min=0.0,
        soft_max=100.0,
        step=100,
        options=set(),
    )
    strand_pressure: FloatProperty(
        name="Strand Pressure",
        description="How strongly strands are driven apart where they come closer together than "
        "in the groom, as acceleration at twice its density; 0 lets them meet in one line",
        default=_BODY.strand_pressure,
        min=0.0,
        soft_max=50.0,
        step=100,
        unit="ACCELERATION",
        options=set(),
    )
    strand_spacing: FloatProperty(
        name="Strand Distance",
        description="Distance within which strands rub and press on each other; about that of the "
        "guides",
        default=_BODY.strand_spacing,
        min=1e-4,
        soft_max=0.1,
        step=0.1,
        precision=4,
        subtype="DISTANCE",
        options=set(),
    )
    is_hair_carrier: BoolProperty(
        name="Hair Carrier",
        description="Mesh that plays the simulation of hair",
        options={"HIDDEN"},
    )
