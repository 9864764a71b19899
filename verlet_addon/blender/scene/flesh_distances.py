"""Distances from bones to the skin of a mesh, and which bones are the ends of limbs."""

from collections.abc import Container, Iterator, Sequence
from typing import Any, cast

import bpy
import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from ...core.arrays import Floats
from ...core.geometry.faces import area_normals, normalized
from .mesh_access import mesh_of
from .surfaces import mesh_triangles

ASIDE = 0.25
"""Distance from the end of its parent at which a bone starts aside, as a share of the parent's
length."""


def armature_of_mesh(obj: bpy.types.Object) -> bpy.types.Object | None:
    """The armature that poses a mesh, by a modifier or as its parent; None without one."""
    chosen = [each.object for each in obj.modifiers if isinstance(each, bpy.types.ArmatureModifier)]
    chosen.append(obj.parent)
    return next((each for each in chosen if each is not None and each.type == "ARMATURE"), None)


def posing_bones(obj: bpy.types.Object, rig: bpy.types.Object) -> list[bpy.types.Bone]:
    """Bones that deform a mesh, but for single ones beside which the limb goes on.

    Those, such as bones of a breast or of twist, are within flesh, not what it hangs on.
    """
    every = [bone for bone in cast(bpy.types.Armature, rig.data).bones if bone.use_deform]
    used = [bone for bone in every if bone.name in obj.vertex_groups] or every
    names = {bone.name for bone in used}
    return [bone for bone in used if not _is_offshoot(bone, names)]


def _is_offshoot(bone: bpy.types.Bone, used: Container[str]) -> bool:
    """Whether a bone ends where it is, while others of its parent go on, and starts aside of these.

    A head, which starts where the chest ends, is none.
    """
    if (parent := bone.parent) is None or _hanging(bone, used):
        return False
    if (bone.head_local - parent.tail_local).length < ASIDE * parent.length:
        return False
    return any(_hanging(each, used) for each in parent.children if each != bone)


def _hanging(bone: bpy.types.Bone, used: Container[str]) -> list[bpy.types.Bone]:
    """Bones of these names that are children of a bone, or children of those."""
    return [each for each in bone.children_recursive if each.name in used]


def bone_distances(skin: Floats, rig: bpy.types.Object, bones: Sequence[bpy.types.Bone]) -> Floats:
    """(n,) distance from each point (n, 3) of a skin to the nearest bone of a rig at rest [m]."""
    nearest = np.full(len(skin), np.inf)
    for start, end in _segments(rig, bones):
        along = end - start
        share = np.clip((skin - start) @ along / max(float(along @ along), 1e-30), 0.0, 1.0)
        away = np.linalg.norm(skin - start - share[:, None] * along, axis=1)
        nearest = np.minimum(nearest, away)
    return nearest


def _segments(
    rig: bpy.types.Object, bones: Sequence[bpy.types.Bone]
) -> Iterator[tuple[Floats, Floats]]:
    """Yields start and end of each bone at rest, in world space [m]."""
    for bone in bones:
        ends = (rig.matrix_world @ each for each in (bone.head_local, bone.tail_local))
        start, end = (np.array(each, np.float64) for each in ends)
        yield start, end


def end_bones(
    rig: bpy.types.Object, bones: Sequence[bpy.types.Bone], reach: float
) -> list[bpy.types.Bone]:
    """Bones from whose head no bone that hangs on them ends further away than `reach` [m].

    These are the bones of hands, feet and the head, whatever their names are.
    """
    names = {bone.name for bone in bones}
    return [bone for bone in bones if _reach(rig, bone, names) <= reach]


def _reach(rig: bpy.types.Object, bone: bpy.types.Bone, used: Container[str]) -> float:
    """Distance from the head of a bone to the furthest tail of it and those on it [m]."""
    head = rig.matrix_world @ bone.head_local
    tails = [rig.matrix_world @ each.tail_local for each in (bone, *_hanging(bone, used))]
    return float(max((tail - head).length for tail in tails))


def half_thickness(obj: bpy.types.Object, skin: Floats) -> Floats:
    """(n,) half of the distance to where a ray inwards leaves the mesh [m]; 0 where none does.

    `skin` are its vertices (n, 3) [m].
    """
    triangles = mesh_triangles(mesh_of(obj))
    if obj.matrix_world.is_negative:
        triangles = triangles[:, ::-1]
    tree: Any = BVHTree.FromPolygons(skin.tolist(), triangles.tolist(), all_triangles=True)
    normals = area_normals(skin.T, triangles.T).T
    return np.array(
        [
            _depth(tree, Vector(place), Vector(inward))
            for place, inward in zip(skin, -normalized(normals), strict=True)
        ]
    )


def _depth(tree: Any, place: Vector, inward: Vector) -> float:
    """Half of the way from a point along a direction to a surface [m]; 0 without one."""
    hit = tree.ray_cast(place + 1e-5 * inward, inward)[3]
    return 0.0 if hit is None else 0.5 * float(hit)


def skin_areas(obj: bpy.types.Object) -> Floats:
    """(n,) area of the faces at each vertex, to a factor."""
    mesh = mesh_of(obj)
    sizes = np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("loop_total", sizes)
    areas = np.empty(len(mesh.polygons), np.float32)
    mesh.polygons.foreach_get("area", areas)
    corners = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    shares = np.repeat(areas / sizes, sizes)
    return np.bincount(corners, shares, len(mesh.vertices)).astype(np.float64)
