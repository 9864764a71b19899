"""Texts on the colliders of a body, and on what takes most tests for contacts."""

from collections.abc import Mapping

import bpy

from ...core.scene import ContactSearch
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


def costliest_search(searches: Mapping[tuple[str, str], ContactSearch], frames: int) -> str:
    """Words on the two objects with most tests for contacts in some frames of a bake.

    Tests take most of the time of a search, and their number depends on how fine both objects are.
    Empty unless there are several pairs of objects to choose from.
    """
    if len(searches) < 2:
        return ""
    (one, other), most = max(searches.items(), key=lambda item: (item[1].tests, item[0]))
    share = most.tests / max(sum(each.tests for each in searches.values()), 1)
    return (
        f"most tests for contacts: {one} with {'itself' if one == other else other} "
        f"({share:.0%}, {most.searches / frames:.0f} searches a frame)"
    )
