"""Mirror modifiers, converted to planes at which a body is joined to its mirror image."""

from collections.abc import Sequence
from typing import cast

import bpy
import numpy as np

from ...core.arrays import Floats
from ...core.errors import MeshError
from ...core.scene import Plane
from .mesh_access import mesh_of, read_vertices
from .modifiers import is_carrier

Joint = tuple[str, int]
"""The name of a Mirror modifier and the number of an axis that it mirrors."""


def find_joints(obj: bpy.types.Object) -> tuple[Joint, ...]:
    """Modifier names and axes at which an object is joined to its mirror image.

    Mirrors with a later carrier are left out, since it deforms both halves differently. So are axes
    at which Bisect cuts the mesh, since the cut is at the plane however the mesh moves.
    """
    if obj.type != "MESH":
        return ()
    return tuple(
        (mirror.name, axis)
        for mirror in shown_mirrors(obj)
        if joins(mirror) and not later_carriers(obj, mirror)
        for axis in range(3)
        if mirror.use_axis[axis] and not (mirror.use_bisect_axis[axis] and _cuts(obj, mirror, axis))
    )


def shown_mirrors(obj: bpy.types.Object) -> list[bpy.types.MirrorModifier]:
    """The Mirror modifiers that are on in the viewport or in renders."""
    mirrors = [item for item in obj.modifiers if isinstance(item, bpy.types.MirrorModifier)]
    return [item for item in mirrors if item.show_viewport or item.show_render]


def joins(mirror: bpy.types.MirrorModifier) -> bool:
    """Whether a modifier is meant to join both halves."""
    return mirror.use_mirror_merge or mirror.use_clip


def later_carriers(
    obj: bpy.types.Object, mirror: bpy.types.MirrorModifier
) -> list[bpy.types.Modifier]:
    """The enabled carriers after a mirror in the stack."""
    place = obj.modifiers.find(mirror.name)
    return [item for item in obj.modifiers[place:] if item.show_viewport and is_carrier(item)]


def touches(obj: bpy.types.Object, mirror: bpy.types.MirrorModifier, axis: int) -> bool:
    """Whether a mesh meets its image in one of a mirror's planes."""
    heights, distance = _heights(obj, mirror, axis)
    return bool((np.abs(heights) <= distance).any())


def read_planes(
    obj: bpy.types.Object, joints: Sequence[Joint], depsgraph: bpy.types.Depsgraph
) -> list[Plane]:
    """The planes, in world space at the current frame, at which an object's halves are joined."""
    mirrors = [(_mirror(obj, name).mirror_object or obj, axis) for name, axis in joints]
    return [_plane(plane.evaluated_get(depsgraph), axis) for plane, axis in mirrors]


def read_merge_distances(
    obj: bpy.types.Object, joints: Sequence[Joint], planes: Sequence[Plane]
) -> list[float]:
    """Distances within which vertices are joined to their image, of each plane [m]."""
    mirrors = [_mirror(obj, name) for name, _ in joints]
    return [
        _merge_distance(obj, mirror, plane) for mirror, plane in zip(mirrors, planes, strict=True)
    ]


def _mirror(obj: bpy.types.Object, name: str) -> bpy.types.MirrorModifier:
    """The Mirror modifier with a name."""
    return cast(bpy.types.MirrorModifier, obj.modifiers[name])


def _plane(obj: bpy.types.Object, axis: int) -> Plane:
    """The plane through an object's origin, spanned by its two axes other than `axis`."""
    matrix = np.array(obj.matrix_world, np.float64)
    normal = np.cross(matrix[:3, (axis + 1) % 3], matrix[:3, (axis + 2) % 3])
    length = float(np.linalg.norm(normal))
    if length == 0:
        raise MeshError(
            f"{obj.name} has scale 0, so it has no plane to mirror at; give it another scale"
        )
    return Plane(point=matrix[:3, 3], normal=normal / length)


def _merge_distance(obj: bpy.types.Object, mirror: bpy.types.MirrorModifier, plane: Plane) -> float:
    """Distance from its plane within which a mirror joins a vertex to its image [m].

    The image is twice as far away, and the modifier measures in the object's space.
    """
    linear = np.array(obj.matrix_world, np.float64)[:3, :3]
    return mirror.merge_threshold / 2 * float(np.linalg.norm(linear.T @ plane.normal))


def _cuts(obj: bpy.types.Object, mirror: bpy.types.MirrorModifier, axis: int) -> bool:
    """Whether a mesh has vertices on both sides of a mirror's plane."""
    heights, distance = _heights(obj, mirror, axis)
    return bool((heights > distance).any() and (heights < -distance).any())


def _heights(
    obj: bpy.types.Object, mirror: bpy.types.MirrorModifier, axis: int
) -> tuple[Floats, float]:
    """(n,) signed distances of vertices from a mirror's plane, and its merge distance [m]."""
    matrix = np.array(obj.matrix_world, np.float64)
    plane = _plane(mirror.mirror_object or obj, axis)
    positions = read_vertices(mesh_of(obj)) @ matrix[:3, :3].T + matrix[:3, 3]
    return (positions - plane.point) @ plane.normal, _merge_distance(obj, mirror, plane)
