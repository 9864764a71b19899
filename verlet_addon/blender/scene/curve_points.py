"""Control points of curve objects as arrays, in the order in which hooks number them.

A Bezier point is three points, its left handle, itself and its right handle; a point of any other
spline is one.
"""

from collections.abc import Iterator
from typing import Any, cast

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats

_BEZIER = ("handle_left", "co", "handle_right")
"""Vectors of a Bezier point, in order."""


def is_curve(obj: bpy.types.Object) -> bool:
    """Whether an object is a curve of splines."""
    return obj.type == "CURVE"


def curve_of(obj: bpy.types.Object) -> bpy.types.Curve:
    """The curve of a curve object."""
    return cast(bpy.types.Curve, obj.data)


def spline_points(spline: bpy.types.Spline) -> Any:
    """The points of a spline, of either kind."""
    return spline.bezier_points if spline.type == "BEZIER" else spline.points


def control_count(spline: bpy.types.Spline) -> int:
    """Number of a spline's control points, handles included."""
    return len(spline_points(spline)) * (len(_BEZIER) if spline.type == "BEZIER" else 1)


def point_controls(curve: bpy.types.Curve) -> list[int]:
    """Per point of a curve, over all splines, its number among the control points."""
    found, first = [], 0
    for spline in curve.splines:
        count, its = len(spline_points(spline)), control_count(spline)
        handles = its // count if count else 1
        found += [first + handles * number + handles // 2 for number in range(count)]
        first += its
    return found


def read_controls(curve: bpy.types.Curve) -> Floats:
    """(c, 3) control points of a curve without its shape keys."""
    return np.concatenate([np.empty((0, 3)), *map(_read_spline, curve.splines)])


def _read_spline(spline: bpy.types.Spline) -> Floats:
    """(c, 3) control points of a spline."""
    points = spline_points(spline)
    if spline.type == "BEZIER":
        vectors = [_vectors(points, name, 3) for name in _BEZIER]
        return np.stack(vectors, axis=1).reshape(-1, 3)
    return _vectors(points, "co", 4)[:, :3]


def write_spline(spline: bpy.types.Spline, controls: Floats) -> None:
    """Sets the control points (c, 3) of a spline; the weights of a NURBS spline stay."""
    points, values = spline_points(spline), controls.astype(np.float32)
    if spline.type == "BEZIER":
        for number, name in enumerate(_BEZIER):
            points.foreach_set(name, values[number::3].ravel())
    else:
        weights = _vectors(points, "co", 4)[:, 3:]
        points.foreach_set("co", np.hstack((values, weights)).astype(np.float32).ravel())


def write_controls(curve: bpy.types.Curve, controls: Floats) -> None:
    """Sets the control points (c, 3) of a curve."""
    first = 0
    for spline in curve.splines:
        last = first + control_count(spline)
        write_spline(spline, controls[first:last])
        first = last


def read_key_controls(block: bpy.types.ShapeKey) -> Floats:
    """(c, 3) control points of a curve's shape key."""
    vectors = [list(vector) for item in block.data for _, vector in _each(item)]
    return np.array(vectors, np.float64).reshape(-1, 3)


def write_key_controls(block: bpy.types.ShapeKey, controls: Floats | NDArray[np.float32]) -> None:
    """Sets the control points (c, 3) of a curve's shape key; tilt and radius stay."""
    rows = iter(controls.tolist())
    for item in block.data:
        for name, _ in _each(item):
            setattr(item, name, next(rows))


def key_control_count(block: bpy.types.ShapeKey) -> int:
    """Number of control points of a curve's shape key."""
    return sum(len(list(_each(item))) for item in block.data)


def _each(item: Any) -> Iterator[tuple[str, Any]]:
    """Names and vectors of one point of a shape key."""
    bezier = isinstance(item, bpy.types.ShapeKeyBezierPoint)
    for name in _BEZIER if bezier else ("co",):
        yield name, getattr(item, name)


def _vectors(points: Any, name: str, width: int) -> Floats:
    """(n, width) values of a vector property of all points."""
    values = np.empty(width * len(points), np.float32)
    points.foreach_get(name, values)
    return values.reshape(-1, width).astype(np.float64)
