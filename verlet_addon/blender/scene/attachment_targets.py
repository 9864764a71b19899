"""Places on other objects that attached vertices follow, for the overlay of the viewports.

A simulation binds attachments at its first frame alone, as `attachments` does; these places are
found anew after each change of the scene, in a time that does not depend on the size of a mesh.
"""

from collections.abc import Callable, Sequence
from typing import Any

import bpy
import numpy as np
from mathutils import Vector
from mathutils.interpolate import poly_3d_calc

from ...core.arrays import Floats, Singles
from .mesh_access import read_vertices

Follow = Callable[[Any, bpy.types.Depsgraph], Floats]
"""World places (k, 3) that follow an attachment's object at the current frame [m]."""


def nearest_targets(item: Any, places: Floats | Singles, depsgraph: bpy.types.Depsgraph) -> Follow:
    """Places on the object of an attachment that world places (k, 3) follow.

    The nearest ones on a mesh or a bone; else the object's origin.
    """
    target = item.target
    if target.type == "ARMATURE" and item.bone in target.pose.bones:
        return _along_bone(item.bone, target, places, depsgraph)
    if target.type == "MESH" and len(places):
        return _on_mesh(target, places, depsgraph)
    return _at_origin(len(places))


def _at_origin(count: int) -> Follow:
    """The origin of the object, `count` times."""

    def follow(target: Any, depsgraph: bpy.types.Depsgraph) -> Floats:
        origin = np.array(target.evaluated_get(depsgraph).matrix_world.translation)
        return np.tile(origin, (count, 1))

    return follow


def _along_bone(
    name: str, target: Any, places: Floats | Singles, depsgraph: bpy.types.Depsgraph
) -> Follow:
    """The nearest places on the axis of a bone."""

    def ends(target: Any, depsgraph: bpy.types.Depsgraph) -> Floats:
        evaluated = target.evaluated_get(depsgraph)
        bone = evaluated.pose.bones.get(name)
        sides = (bone.head, bone.tail) if bone is not None else 2 * (Vector(),)
        return np.array([evaluated.matrix_world @ side for side in sides])

    head, tail = ends(target, depsgraph)
    axis = tail - head
    shares = np.clip((places - head) @ axis / max(axis @ axis, 1e-30), 0.0, 1.0)[:, None]

    def follow(target: Any, depsgraph: bpy.types.Depsgraph) -> Floats:
        head, tail = ends(target, depsgraph)
        return np.asarray(head + shares * (tail - head))

    return follow


def _on_mesh(target: Any, places: Floats | Singles, depsgraph: bpy.types.Depsgraph) -> Follow:
    """The nearest places on the faces of a mesh; its origin where it has none, or is edited."""
    evaluated = target.evaluated_get(depsgraph)
    inverse = evaluated.matrix_world.inverted_safe()
    try:
        nearest = [_nearest(evaluated, inverse @ Vector(place), depsgraph) for place in places]
    except RuntimeError:  # where there are no faces, and in Edit Mode
        return _at_origin(len(places))
    corners, shares = zip(*nearest, strict=True)
    count, members = len(evaluated.data.vertices), np.concatenate(corners)
    weights, starts = np.concatenate(shares)[:, None], np.cumsum([0, *map(len, corners[:-1])])

    def follow(target: Any, depsgraph: bpy.types.Depsgraph) -> Floats:
        evaluated = target.evaluated_get(depsgraph)
        if len(evaluated.data.vertices) != count:
            return _at_origin(len(places))(target, depsgraph)
        points = weights * read_vertices(evaluated.data)[members]
        matrix = np.array(evaluated.matrix_world)
        return np.asarray(np.add.reduceat(points, starts) @ matrix[:3, :3].T + matrix[:3, 3])

    return follow


def _nearest(
    evaluated: Any, place: Vector, depsgraph: bpy.types.Depsgraph
) -> tuple[Sequence[int], Sequence[float]]:
    """Corners of the face nearest to a place in the object's space, and shares of the point on it.

    Raises
    ------
    RuntimeError
        Blender finds no face.
    """
    found, point, _, face = evaluated.closest_point_on_mesh(place, depsgraph=depsgraph)
    if not found or not 0 <= face < len(evaluated.data.polygons):
        raise RuntimeError("no face")
    corners = evaluated.data.polygons[face].vertices[:]
    polygon = [evaluated.data.vertices[corner].co for corner in corners]
    return corners, poly_3d_calc(polygon, point)
