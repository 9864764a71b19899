"""The settings of `Object.verlet` for hair alone."""

from bpy.props import BoolProperty, FloatProperty, StringProperty

HAIR_NAMES = ("follow_groom", "follow_attribute")
"""Properties that decide how far hair is held."""


class HairProperties:
    """How far hair is held to its groom: properties of `VERLET_PG_body`."""

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
    is_hair_carrier: BoolProperty(
        name="Hair Carrier",
        description="Mesh that plays the simulation of hair",
        options={"HIDDEN"},
    )
