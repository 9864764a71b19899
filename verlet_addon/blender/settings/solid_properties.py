"""The settings of `Object.verlet` for jelly and flesh."""

from bpy.props import BoolProperty, FloatProperty, IntProperty, StringProperty

from ...core.settings import BodySettings

_BODY = BodySettings()


class SolidProperties:
    """How firm jelly and flesh are, where flesh is, how it wobbles, and its muscles.

    These are properties of `VERLET_PG_body`.
    """

    stiffness: FloatProperty(
        name="Stiffness",
        description="Young's modulus in pascal: the pressure that would flatten it entirely",
        default=_BODY.stiffness,
        soft_min=1.0,
        soft_max=1e7,
        step=1000,
        precision=1,
        options={"ANIMATABLE"},
    )
    resolution: IntProperty(
        name="Resolution",
        description="Cells of jelly along the object; more show finer motion and take longer",
        default=_BODY.resolution,
        soft_min=2,
        soft_max=40,
        options=set(),
    )

    flesh_group: StringProperty(
        name="Flesh Group",
        description="Vertex group of what wobbles: 0 is bone, which follows the pose exactly, "
        "1 is fat as thick as Depth",
        options=set(),
    )
    flesh_depth: FloatProperty(
        name="Depth",
        description="Thickness of the flesh under the skin where the Flesh Group is 1",
        default=_BODY.flesh_depth,
        min=1e-4,
        soft_min=0.005,
        soft_max=1.0,
        step=1,
        precision=3,
        subtype="DISTANCE",
        options=set(),
    )
    flesh_resolution: IntProperty(
        name="Resolution",
        description="Cells over that depth; more show finer motion and take longer",
        default=_BODY.flesh_resolution,
        min=1,
        max=20,
        soft_max=6,
        options=set(),
    )
    flesh_damping: FloatProperty(
        name="Wobble Damping",
        description="Damping ratio: at 0.03 it swings for twelve periods until a tenth is left, "
        "at 0.12 for three, at 1 it does not swing",
        default=_BODY.flesh_damping,
        min=0.0,
        max=2.0,
        soft_max=1.0,
        step=1,
        precision=3,
        options={"ANIMATABLE"},
    )
    keep_volume: FloatProperty(
        name="Keep Volume",
        description="How far flesh resists the stretch and the loss of volume that the pose has: 0 "
        "takes on the shape of the pose exactly; at 1 the skin slides where joints bend",
        default=_BODY.keep_volume,
        min=0.0,
        max=1.0,
        step=10,
        subtype="FACTOR",
        options={"ANIMATABLE"},
    )
    loaded_shape: BoolProperty(
        name="Modelled under Gravity",
        description="The mesh was modelled as it hangs under gravity, so it does not sag by itself",
        default=_BODY.loaded_shape,
        options=set(),
    )
    muscle_group: StringProperty(
        name="Muscle Group",
        description="Vertex group of muscles, whose fibres become as long as Muscle Length says",
        options=set(),
    )
    muscle_map: StringProperty(
        name="Muscle Map",
        description="UV map that shows which way fibres of muscles run: upwards in it",
        options=set(),
    )
    muscle_length: FloatProperty(
        name="Muscle Length",
        description="Length of the fibres over that of the mesh at rest: below 1 the muscles "
        "contract and bulge. Key it, or drive it by a bone",
        default=_BODY.muscle_length,
        min=0.3,
        max=2.0,
        step=1,
        precision=3,
        options={"ANIMATABLE"},
    )
