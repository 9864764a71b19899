"""The settings of `Object.verlet` that weigh its simulation against its animation."""

import bpy
from bpy.props import BoolProperty, FloatProperty, PointerProperty, StringProperty

from ...core.settings import BodySettings

_BODY = BodySettings()


class DirectionProperties:
    """Art direction: properties of `VERLET_PG_body` beside its pins."""

    simulate_as: PointerProperty(
        name="Simulate As",
        description="Mesh that is simulated in place of this one, which follows it: a light cage "
        "around a detailed mesh. Its vertex groups count, and the settings of this object",
        type=bpy.types.Object,
    )
    pin_weight: FloatProperty(
        name="Pin Weight",
        description="Factor on the weights of the pin group; 0 lets go of the pins; can be "
        "animated",
        default=1.0,
        min=0.0,
        max=1.0,
        step=10,
        subtype="FACTOR",
        options={"ANIMATABLE"},
    )
    use_maximum_distance: BoolProperty(
        name="Maximum Distance",
        description="Vertices stay near their places on the animated mesh",
        default=_BODY.use_maximum_distance,
        options=set(),
    )
    maximum_distance: FloatProperty(
        name="Distance",
        description="How far vertices may leave their places on the animated mesh",
        default=_BODY.maximum_distance,
        soft_min=0.0,
        soft_max=1.0,
        step=1,
        precision=3,
        subtype="DISTANCE",
        options={"ANIMATABLE"},
    )
    maximum_distance_group: StringProperty(
        name="Distance Group",
        description="Vertex group whose weights scale the maximum distance; 0 follows the "
        "animated mesh exactly",
        options=set(),
    )
    use_dynamic_mesh: BoolProperty(
        name="Dynamic Mesh",
        description="Ropes come back to the shape that the animated object has at each frame, by "
        "its shape keys, hooks or armature, in place of the one at the first frame",
        default=_BODY.use_dynamic_mesh,
        options=set(),
    )
    inertia_share: FloatProperty(
        name="Less Inertia",
        description="Share of the motion of its pins or, without any, of its object that it does "
        "not feel: 0 lags as in reality, 1 moves as if that stood still, and the air with it",
        default=_BODY.inertia_share,
        soft_min=0.0,
        soft_max=1.0,
        step=10,
        options={"ANIMATABLE"},
    )
