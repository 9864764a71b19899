"""Warnings of colliders that bodies pass through, entirely or in part."""

from collections.abc import Iterator, Sequence
from typing import cast

import bpy

from ...core.arrays import Integers
from ...core.contacts.sides.closed_surfaces import orient_outwards
from ...core.geometry.ray_casting import closed_shells
from ..scene.colliders import all_met, is_collider, read_collider
from ..scene.surfaces import read_points
from ..scene.visibility import enabled_objects, instancers


def colliders_without_effect(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    objects: Sequence[bpy.types.Object],
) -> Iterator[str]:
    """Warnings of colliders that bodies pass through, entirely or in part."""
    depsgraph = cast(bpy.types.Depsgraph, view_layer.depsgraph)
    met, by_body = all_met(objects, view_layer)
    for number, obj in enumerate(met):
        collider = read_collider(obj, depsgraph)
        its = [body for body, its in zip(objects, by_body, strict=True) if number in its]
        if not len(collider.triangles):
            yield (
                f"The collider {obj.name} has no faces, so bodies pass through it; add some, or "
                "remove its Collision modifier"
            )
        elif not collider.has_area(read_points(obj, depsgraph)):
            yield (
                f"The collider {obj.name} has a scale of zero now, so bodies pass through it until "
                "its scale changes; set another one, or remove its Collision modifier"
            )
        elif collider.single_sided and _is_room(obj, collider.triangles.T, its, depsgraph):
            yield (
                f"The normals of the collider {obj.name} point inwards, so bodies outside pass "
                "through it; recalculate them by Mesh ▸ Normals ▸ Recalculate Outside in Edit "
                "Mode, or turn off its Single Sided"
            )
    yield from _disabled(scene, view_layer) if objects else ()
    showing = set(instancers(depsgraph)) if met else set()
    for name in sorted(showing & {obj.name for obj in met}):
        yield (
            f"The collider {name} shows instances, which bodies pass through; add a Realize "
            "Instances node to its geometry nodes, or make the instances real"
        )


def _disabled(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> Iterator[str]:
    """Warning of colliders that take no part."""
    away = set(scene.objects) - enabled_objects(view_layer)
    names = sorted(obj.name for obj in away if is_collider(obj))
    if len(names) == 1:
        yield (
            f"{names[0]} is disabled in viewports or left out of the view layer, so bodies pass "
            "through it; enable it, or remove the Collision modifier"
        )
    elif names:
        yield (
            f"{', '.join(names)} are disabled in viewports or left out of the view layer, so "
            "bodies pass through them; enable them, or remove the Collision modifier"
        )


def _is_room(
    obj: bpy.types.Object,
    triangles: Integers,
    bodies: Sequence[bpy.types.Object],
    depsgraph: bpy.types.Depsgraph,
) -> bool:
    """Whether a collider is closed with normals inwards while some bodies are outside of it."""
    places = read_points(obj, depsgraph)
    closed = triangles[:, closed_shells(triangles)]
    if not closed.size or orient_outwards(places.T, closed) is closed:
        return False
    low, high = places.min(axis=0), places.max(axis=0)
    around = (read_points(body, depsgraph) for body in bodies)
    return any(((points < low) | (points > high)).any() for points in around)
