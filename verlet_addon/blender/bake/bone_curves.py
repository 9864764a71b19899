"""F-curves of the rotations of bones, in the mode of each bone."""

from collections.abc import Sequence
from typing import Any

import bpy

_MODES = {"QUATERNION": ("rotation_quaternion", 4), "AXIS_ANGLE": ("rotation_axis_angle", 4)}
_EULER = ("rotation_euler", 3)
LINEAR = 1
"""Number of linear interpolation in `foreach_set`."""


def bone_path(name: str) -> str:
    """RNA path of a bone of a pose."""
    return f'pose.bones["{bpy.utils.escape_identifier(name)}"]'


def is_rotation_path(path: str, bones: Sequence[str]) -> bool:
    """Whether a path is that of a rotation of one of some bones."""
    bone, _, name = path.rpartition(".")
    return name.startswith("rotation_") and bone in map(bone_path, bones)


def write_rotations(
    channels: Any,
    bone: bpy.types.PoseBone,
    moments: Sequence[float],
    matrices: Sequence[Any],
    *,
    repeat: bool,
) -> None:
    """Writes linear F-curves of a bone's rotation, in its own mode, which may repeat.

    Parameters
    ----------
    channels : container of curves.
    moments, matrices : frames on curves, and at each the matrix of the bone in its own space.
    """
    name, size = _MODES.get(bone.rotation_mode, _EULER)
    rows = _rotations(bone.rotation_mode, matrices)
    group = channels.groups.get(bone.name) or channels.groups.new(bone.name)
    for index in range(size):
        curve = channels.fcurves.new(f"{bone_path(bone.name)}.{name}", index=index)
        curve.group = group
        points = curve.keyframe_points
        points.add(len(moments))
        every = zip(moments, rows, strict=True)
        points.foreach_set("co", [value for moment, row in every for value in (moment, row[index])])
        points.foreach_set("interpolation", [LINEAR] * len(moments))
        curve.update()
        if repeat:
            curve.modifiers.new("CYCLES")


def _rotations(mode: str, matrices: Sequence[Any]) -> list[tuple[float, ...]]:
    """The values of a rotation mode, each near the one before it: without jumps of a whole turn."""
    rows: list[tuple[float, ...]] = []
    former: Any = None
    for matrix in matrices:
        turn = matrix.to_quaternion()
        if mode in _MODES and former is not None:
            turn.make_compatible(former)
        if mode == "QUATERNION":
            rows.append(tuple(turn))
        elif mode == "AXIS_ANGLE":
            axis, angle = turn.to_axis_angle()
            rows.append((angle, *axis))
        else:
            turn = turn.to_euler(mode, former) if former is not None else turn.to_euler(mode)
            rows.append(tuple(turn))
        former = turn
    return rows
