"""Texts on what a body collides with."""

import bpy

from ..bake.bake import bodies
from ..scene.colliders import met_colliders
from ..settings.properties import body_properties, scene_properties


def count_of_colliders(count: int) -> str:
    """Text on the number of colliders that take part."""
    return "1 collider takes part" if count == 1 else f"{count} colliders take part"


def colliding(
    obj: bpy.types.Object, scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer
) -> str:
    """Text on what a body collides with, beside other bodies and itself."""
    together = bodies(scene)
    met = len(met_colliders(obj, together, view_layer))
    if met:
        return count_of_colliders(met)
    if scene_properties(scene).use_ground:
        return "The ground alone takes part"
    alone = len(together) < 2 and not body_properties(obj).use_self_collision
    return "Nothing collides" if alone else "No colliders take part"
