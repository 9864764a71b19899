"""Mirror modifiers as the planes that a body's other half lies behind."""

from collections.abc import Sequence
from typing import cast

import bpy
import numpy as np

from ..core.errors import MeshError
from ..core.mesh import Plane
from .modifiers import is_carrier

Joint = tuple[str, int]
"""The name of a Mirror modifier and the number of an axis that it mirrors."""


def find_joints(obj: bpy.types.Object) -> tuple[Joint, ...]:
    """Where an object's Mirror modifiers join what they show to what they are given.

    Not where a modifier carries both halves along after they were mirrored, for then they are
    no mirror images of each other any more.
    """
    modifiers = [item for item in obj.modifiers if item.show_viewport or item.show_render]
    return tuple(
        (item.name, axis)
        for place, item in enumerate(modifiers)
        if isinstance(item, bpy.types.MirrorModifier)
        if item.use_mirror_merge or item.use_clip
        if not any(map(is_carrier, modifiers[place:]))
        for axis in range(3)
        if item.use_axis[axis]
    )


def read_planes(
    obj: bpy.types.Object, joints: Sequence[Joint], depsgraph: bpy.types.Depsgraph
) -> list[Plane]:
    """The planes, in world space at the current frame, at which an object's halves are joined."""
    return [
        _plane(_mirror(obj, name).mirror_object or obj, axis, depsgraph) for name, axis in joints
    ]


def read_reaches(
    obj: bpy.types.Object, joints: Sequence[Joint], planes: Sequence[Plane]
) -> list[float]:
    """For each plane, how near to it vertices count as on it [m]; modifiers measure in the mesh."""
    linear = np.array(obj.matrix_world, np.float64)[:3, :3]
    return [
        _mirror(obj, name).merge_threshold * float(np.linalg.norm(linear.T @ plane.normal))
        for (name, _), plane in zip(joints, planes, strict=True)
    ]


def _mirror(obj: bpy.types.Object, name: str) -> bpy.types.MirrorModifier:
    """The Mirror modifier of a name."""
    return cast(bpy.types.MirrorModifier, obj.modifiers[name])


def _plane(obj: bpy.types.Object, axis: int, depsgraph: bpy.types.Depsgraph) -> Plane:
    """The plane through an object's origin that its two other axes span."""
    matrix = np.array(obj.evaluated_get(depsgraph).matrix_world, np.float64)
    normal = np.cross(matrix[:3, (axis + 1) % 3], matrix[:3, (axis + 2) % 3])
    length = float(np.linalg.norm(normal))
    if length == 0:
        raise MeshError(f"{obj.name} has scale 0, so nothing can be mirrored at it; scale it up")
    return Plane(point=matrix[:3, 3], normal=normal / length)
