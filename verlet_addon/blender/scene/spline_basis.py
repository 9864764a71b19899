"""Weights with which the control points of a spline make the points that Blender draws.

They are measured on a passing curve of the same make, so that they hold in every version.
"""

from functools import lru_cache
from typing import Any, NamedTuple, cast

import bpy
import numpy as np

from ...core.arrays import Floats
from .curve_points import control_count, spline_points, write_spline
from .mesh_access import read_vertices

_AT_ONCE = 32
"""Splines of the passing curve, which bounds its size."""
_SMOOTH = 1e-8
"""Weight of the differences between neighbouring control points in a fit: it decides those that
move no drawn point, such as the outer handles of open splines."""
_HELD = 1e6
"""Weight of held points in a fit; that of all others is 1."""


class SplineMake(NamedTuple):
    """All of a spline that decides these weights."""

    kind: str
    points: int
    cyclic: bool
    resolution: int
    order: int
    endpoint: bool
    bezier: bool
    weights: tuple[float, ...]
    """Weights of the points of a NURBS spline."""


def make_of(spline: bpy.types.Spline) -> SplineMake:
    """The make of a spline; polylines differ by their points alone."""
    kind, points = spline.type, spline_points(spline)
    cyclic = spline.use_cyclic_u
    if kind == "POLY":
        return SplineMake(kind, len(points), cyclic, 0, 0, False, False, ())
    if kind == "BEZIER":
        return SplineMake(kind, len(points), cyclic, spline.resolution_u, 0, False, False, ())
    return SplineMake(
        kind,
        len(points),
        cyclic,
        spline.resolution_u,
        spline.order_u,
        spline.use_endpoint_u,
        spline.use_bezier_u,
        tuple(point.co[3] for point in points),
    )


def counts(make: SplineMake) -> tuple[int, int]:
    """Numbers of drawn points and of control points; polylines draw each of theirs."""
    if make.kind == "POLY":
        return make.points, make.points
    drawn, controls = spline_basis(make).shape
    return drawn, controls


def most_moved(make: SplineMake, control: int) -> int | None:
    """The drawn point that a control point moves most; None where too few points draw none."""
    if make.kind == "POLY":
        return control
    weights = spline_basis(make)[:, control]
    return int(weights.argmax()) if len(weights) else None


@lru_cache(maxsize=256)
def spline_basis(make: SplineMake) -> Floats:
    """(n, c) weights: drawn points (n, 3) are this matrix times the control points (c, 3).

    Handles count as they are, as those of the type Free do. Not for polylines, which need none.
    """
    curve = bpy.data.curves.new("Verlet", "CURVE")
    curve.dimensions, carrier = "3D", bpy.data.objects.new("Verlet", curve)
    try:
        count = control_count(_add_spline(curve, make))
        columns = [
            _measure(curve, carrier, make, range(first, min(first + 3 * _AT_ONCE, count)), count)
            for first in range(0, count, 3 * _AT_ONCE)
        ]
    finally:
        bpy.data.objects.remove(carrier)
        bpy.data.curves.remove(curve)
    return np.hstack(columns)


def _measure(
    curve: bpy.types.Curve,
    carrier: bpy.types.Object,
    make: SplineMake,
    controls: range,
    count: int,
) -> Floats:
    """(n, controls) columns of the weights: three control points a spline, one along each axis."""
    curve.splines.clear()
    units = np.eye(count)[:, controls.start : controls.stop]
    units = np.pad(units, ((0, 0), (0, -len(controls) % 3)))
    for first in range(0, units.shape[1], 3):
        write_spline(_add_spline(curve, make), units[:, first : first + 3])
    drawn = read_vertices(carrier.to_mesh())
    carrier.to_mesh_clear()
    splines = units.shape[1] // 3
    places = drawn.reshape(splines, -1, 3)
    return np.hstack(list(places))[:, : len(controls)]


def _add_spline(curve: bpy.types.Curve, make: SplineMake) -> bpy.types.Spline:
    """A spline of a make, with all points at the origin."""
    spline: bpy.types.Spline = cast(Any, curve.splines).new(make.kind)
    points = spline_points(spline)
    points.add(make.points - 1)
    spline.use_cyclic_u, spline.resolution_u = make.cyclic, make.resolution
    if make.kind == "BEZIER":
        for point in points:
            point.handle_left_type = point.handle_right_type = "FREE"
        return spline
    for point, weight in zip(points, make.weights, strict=True):
        point.co = (0.0, 0.0, 0.0, weight)
    spline.order_u = make.order
    spline.use_endpoint_u, spline.use_bezier_u = make.endpoint, make.bezier
    return spline


@lru_cache(maxsize=256)
def spline_fit(make: SplineMake, held: tuple[int, ...]) -> Floats:
    """(c, n) matrix that gives the control points nearest to drawn points, by least squares.

    Parameters
    ----------
    held : numbers of the drawn points that count most.
    """
    basis = spline_basis(make)
    importance = np.ones(len(basis))
    importance[list(held)] = _HELD
    steps = np.diff(np.eye(basis.shape[1]), axis=0)
    weighed = basis.T * importance
    return np.asarray(np.linalg.solve(weighed @ basis + _SMOOTH * steps.T @ steps, weighed))
