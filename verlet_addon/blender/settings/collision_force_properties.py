"""The contact and force settings of `Object.verlet`."""

from typing import Any

import bpy
from bpy.props import BoolProperty, FloatProperty, PointerProperty, StringProperty

from ...core.settings import BodySettings

_BODY = BodySettings()


def _weight(label: str) -> Any:
    """A factor on the strength of the force fields of one type."""
    return FloatProperty(
        name=label,
        description=f"How much of the strength of {label} fields the object feels; 0 is none",
        default=1.0,
        soft_min=0.0,
        soft_max=2.0,
        step=10,
        options={"ANIMATABLE"},
    )


class InfluenceProperties:
    """Contact and force properties of `VERLET_PG_body`."""

    thickness: FloatProperty(
        name="Thickness",
        description="Distance kept from whatever the object touches",
        default=_BODY.thickness,
        soft_min=0.0,
        soft_max=0.1,
        step=0.1,
        precision=4,
        subtype="DISTANCE",
        options=set(),
    )
    friction: FloatProperty(
        name="Friction",
        description=(
            "Coefficient of friction, 0 slides freely; "
            "where two surfaces touch, the lower value counts"
        ),
        default=_BODY.friction,
        soft_min=0.0,
        soft_max=2.0,
        step=10,
        options={"ANIMATABLE"},
    )
    restitution: FloatProperty(
        name="Bounciness",
        description=(
            "Share of the speed that is kept in a bounce, 0 none, 1 all; "
            "where two surfaces touch, the higher value counts"
        ),
        default=_BODY.restitution,
        soft_min=0.0,
        soft_max=1.0,
        step=10,
        options={"ANIMATABLE"},
    )
    use_self_collision: BoolProperty(
        name="Self Collision",
        description="Collide with itself: folds of cloth, windings of rope, and thighs, or an arm "
        "and a belly of flesh, keep apart",
        default=_BODY.use_self_collision,
        options=set(),
    )
    vertex_group_self_collisions: StringProperty(
        name="Exempt from Itself",
        description="Vertex group that passes through the object itself: faces, edges and vertices "
        "that are all in it take no part in Self Collision",
        options=set(),
    )
    collision_collection: PointerProperty(
        name="Collection",
        description="Only colliders of this collection stop the object; without one, all do",
        type=bpy.types.Collection,
    )
    vertex_group_object_collisions: StringProperty(
        name="Exempt from Others",
        description="Vertex group that passes through colliders and other bodies, not through the "
        "ground: faces, edges and vertices that are all in it",
        options=set(),
    )
    gravity: FloatProperty(
        name="Gravity",
        description="Factor on the scene's gravity for the object; 0 is none, below 0 it rises",
        default=_BODY.gravity,
        soft_min=-1.0,
        soft_max=2.0,
        step=10,
        options={"ANIMATABLE"},
    )
    wind: FloatProperty(
        name="Force Fields",
        description="How much of the strength of force fields the object feels; 0 is none",
        default=_BODY.wind,
        soft_min=0.0,
        soft_max=2.0,
        step=10,
        options={"ANIMATABLE"},
    )
    effector_collection: PointerProperty(
        name="Collection",
        description="Only force fields of this collection act on the object; without one, all do",
        type=bpy.types.Collection,
    )
    wind_weight: _weight("Wind")
    force_weight: _weight("Force")
    vortex_weight: _weight("Vortex")
    harmonic_weight: _weight("Harmonic")
    charge_weight: _weight("Charge")
    turbulence_weight: _weight("Turbulence")
    drag_weight: _weight("Drag")
