"""Texts on the colliders of a body."""

import bpy

from ..bake.bake import bodies
from ..scene.colliders import met_colliders
from ..settings.properties import body_properties, scene_properties


def count_of_colliders(count: int) -> str:
    """The number of colliders as text."""
    return "1 collider" if count == 1 else f"{count} colliders"


def colliding(
    obj: bpy.types.Object, scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer
) -> str:
    """Text on the colliders of a body; other bodies and itself are not counted."""
    together = bodies(scene)
    met = len(met_colliders(obj, together, view_layer))
    if met:
        return f"Collides with {count_of_colliders(met)}"
    if scene_properties(scene).use_ground:
        return "Collides with the ground only"
    alone = len(together) < 2 and not body_properties(obj).use_self_collision
    return "Nothing collides" if alone else "Collides with no colliders"
