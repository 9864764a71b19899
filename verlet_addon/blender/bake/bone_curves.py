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


def rotation_name(bone: bpy.types.PoseBone) -> str:
    """Name of the property that holds the rotation of a bone in its own mode."""
    return _MODES.get(bone.rotation_mode, _EULER)[0]


def turn_bone(bone: bpy.types.PoseBone, matrix: Any) -> None:
    """Gives a bone the rotation of a matrix in its own space, near the one that it has."""
    mode, name, former = bone.rotation_mode, rotation_name(bone), None
    if mode != "AXIS_ANGLE":
        former = getattr(bone, name)
    setattr(bone, name, _values(mode, _near(mode, matrix, former)))


def _rotations(mode: str, matrices: Sequence[Any]) -> list[tuple[float, ...]]:
    """The values of a rotation mode, each near the one before it: without jumps of a whole turn."""
    rows: list[tuple[float, ...]] = []
    former: Any = None
    for matrix in matrices:
        former = _near(mode, matrix, former)
        rows.append(_values(mode, former))
    return rows


def _near(mode: str, matrix: Any, former: Any) -> Any:
    """Rotation of a matrix as a quaternion or Euler angles, near a former one if there is one."""
    turn = matrix.to_quaternion()
    if mode in _MODES:
        if former is not None:
            turn.make_compatible(former)
        return turn
    return turn.to_euler(mode, former) if former is not None else turn.to_euler(mode)


def _values(mode: str, turn: Any) -> tuple[float, ...]:
    """The values of a rotation mode for a quaternion or Euler angles."""
    if mode != "AXIS_ANGLE":
        return tuple(turn)
    axis, angle = turn.to_axis_angle()
    return (angle, *axis)
