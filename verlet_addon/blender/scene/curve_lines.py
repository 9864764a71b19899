"""Curve objects as the lines that Blender draws, whose points are the particles of a rope."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import bpy
import numpy as np

from ...core.arrays import Floats, Integers
from ...core.errors import MeshError
from ..settings.properties import body_properties
from .curve_points import curve_of, is_curve, point_controls, read_controls
from .mesh_access import found_again, read_vertices
from .spline_basis import SplineMake, counts, make_of, most_moved, spline_basis, spline_fit

_PLAIN = {"bevel_mode": "ROUND", "bevel_depth": 0.0, "extrude": 0.0}
"""Settings without which a curve is drawn as lines."""
_HANDLES = ("handle_left_type", "handle_right_type")


def check_curve(obj: bpy.types.Object) -> None:
    """Raises MeshError where a curve cannot be a rope."""
    curve = curve_of(obj)
    if curve.dimensions != "3D":
        raise MeshError(f"{obj.name} is a 2D curve; set its Shape to 3D")
    if not read_controls(curve).size:
        raise MeshError(f"{obj.name} has no points; add some, or remove its soft body")
    _pinned_points(obj)


def check_rope(obj: bpy.types.Object) -> None:
    """Raises MeshError for a curve with settings that no curve can have."""
    body = body_properties(obj)
    if not is_curve(obj):
        return
    if body.body_type != "ROPE":
        raise MeshError(f"{obj.name} is a curve, which can be a rope alone; set its type to Rope")
    if body.simulate_as is not None or body.use_maximum_distance:
        raise MeshError(
            f"{obj.name} is a curve, which has neither a cage nor a maximum distance; clear its "
            "Simulate As and turn Maximum Distance off"
        )


def refuse_curve(obj: bpy.types.Object, shown: str, instead: str) -> None:
    """Raises MeshError for a curve; parameters as of `modifiers.check_order`."""
    if is_curve(obj):
        raise MeshError(curve_refusal(obj, shown, instead))


def curve_refusal(obj: bpy.types.Object, shown: str, instead: str) -> str:
    """Sentence on a curve that cannot show something."""
    return (
        f"{obj.name} is a curve, on which {shown} cannot be shown; {instead}, or make it a mesh by "
        "Rope Mesh from Curve"
    )


def read_line(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Floats:
    """(n, 3) points of the evaluated lines in the object's space, within `plain_curves`.

    Raises
    ------
    MeshError
        The curve is drawn as other than lines.
    """
    evaluated = obj.evaluated_get(depsgraph)
    mesh: Any = evaluated.to_mesh()
    points = read_vertices(mesh) if mesh is not None else np.empty((0, 3))
    faces = len(mesh.polygons) if mesh is not None else 0
    evaluated.to_mesh_clear()
    if faces or len(points) != line_count(obj):
        raise MeshError(
            f"{obj.name} is not drawn as lines, by its modifiers or since its bevel is animated; "
            "remove these, or make it a mesh by Rope Mesh from Curve"
        )
    return points


def line_count(obj: bpy.types.Object) -> int:
    """Number of the points of a curve's lines."""
    return sum(counts(make)[0] for make in _makes(obj))


def read_line_edges(obj: bpy.types.Object) -> Integers:
    """(m, 2) pairs of the points that follow each other on a curve's lines."""
    edges, first = [np.empty((0, 2), np.int64)], 0
    for make in _makes(obj):
        count, _ = counts(make)
        numbers = first + np.arange(count)
        edges.append(np.stack((numbers[:-1], numbers[1:]), axis=1))
        if make.cyclic and count > 2:
            edges.append(np.array([[first + count - 1, first]]))
        first += count
    return np.concatenate(edges)


def fit_controls(obj: bpy.types.Object, line: Floats) -> Floats:
    """(c, 3) control points whose lines are nearest to points (n, 3), exact for polylines."""
    held, fitted, first = np.flatnonzero(line_pins(obj)), [np.empty((0, 3))], 0
    for make in _makes(obj):
        last = first + counts(make)[0]
        its = held[(held >= first) & (held < last)] - first
        points = line[first:last]
        fitted.append(
            points if make.kind == "POLY" else spline_fit(make, tuple(its.tolist())) @ points
        )
        first = last
    return np.concatenate(fitted)


def points_of_key(obj: bpy.types.Object, positions: Floats) -> Floats:
    """The points that a shape key has for positions (n, 3): control points (c, 3) of a curve."""
    return fit_controls(obj, positions) if is_curve(obj) else positions


def line_gap(obj: bpy.types.Object, line: Floats) -> float:
    """Largest distance of points (n, 3) from the lines of the control points that fit best [m]."""
    gaps = draw_line(obj, fit_controls(obj, line)) - line
    return float(np.sqrt((gaps**2).sum(axis=1)).max(initial=0.0))


def draw_line(obj: bpy.types.Object, controls: Floats) -> Floats:
    """(n, 3) points of the lines that control points (c, 3) make."""
    drawn, first = [np.empty((0, 3))], 0
    for make in _makes(obj):
        last = first + counts(make)[1]
        its = controls[first:last]
        drawn.append(its if make.kind == "POLY" else spline_basis(make) @ its)
        first = last
    return np.concatenate(drawn)


def line_pins(obj: bpy.types.Object) -> Floats:
    """(n,) 1 for the points of a curve's lines that hold it, 0 for all others.

    A control point holds the point that it moves most.
    """
    body, pins, first = body_properties(obj), np.zeros(line_count(obj)), 0
    held = {held_point(obj, control) for control in _held_controls(obj)}
    for make in _makes(obj):
        count, _ = counts(make)
        if count and not make.cyclic:
            held |= {first} if body.hold_start else set()
            held |= {first + count - 1} if body.hold_end else set()
        first += count
    pins[[point for point in held if point is not None]] = 1.0
    return pins


def held_point(obj: bpy.types.Object, control: int) -> int | None:
    """Number of the point of a curve's lines that a control point moves most.

    None for a handle, and in splines of too few points to be drawn.
    """
    if control not in point_controls(curve_of(obj)):
        return None
    first = 0
    for make in _makes(obj):
        drawn, controls = counts(make)
        if control < controls:
            point = most_moved(make, control)
            return None if point is None else first + point
        first, control = first + drawn, control - controls
    return None


def _held_controls(obj: bpy.types.Object) -> set[int]:
    """Numbers of the control points that hooks move or that are pinned."""
    hooks = [item for item in obj.modifiers if item.type == "HOOK" and item.show_viewport]
    hooked = {
        number for item in hooks for number in cast(bpy.types.HookModifier, item).vertex_indices
    }
    return hooked | _pinned_points(obj)


def _pinned_points(obj: bpy.types.Object) -> set[int]:
    """Numbers among the control points of the points that are pinned by number."""
    controls = point_controls(curve_of(obj))
    return {controls[number] for number in pinned_numbers(obj)}


def pinned_numbers(obj: bpy.types.Object) -> list[int]:
    """Numbers of a curve's points that are pinned.

    Raises
    ------
    MeshError
        The text is no list of such numbers.
    """
    text, count = body_properties(obj).pinned_points, len(point_controls(curve_of(obj)))
    numbers = text.replace(",", " ").split()
    if all(number.isdecimal() and int(number) < count for number in numbers):
        return sorted({int(number) for number in numbers})
    raise MeshError(
        f"{obj.name} has {count} points, numbered from 0, and its Pinned Points are "
        f'"{text}"; give numbers from 0 to {count - 1}'
    )


def change_pinned(obj: bpy.types.Object, chosen: set[int], *, add: bool) -> set[int]:
    """Pins the chosen points of a curve, or unpins them; returns those that were meant."""
    before = set(pinned_numbers(obj))
    after = before | chosen if add else before - chosen
    body_properties(obj).pinned_points = " ".join(map(str, sorted(after)))
    return chosen if add else before & chosen


def _makes(obj: bpy.types.Object) -> list[SplineMake]:
    """The makes of a curve's splines."""
    return list(map(make_of, curve_of(obj).splines))


@contextmanager
def plain_curves(objects: Iterable[bpy.types.Object]) -> Iterator[bool]:
    """Has curves drawn as lines, with handles as their keys give them; yields whether any change.

    Within the context the file may be undone or redone, and objects renamed.
    """
    changed = [
        (obj.session_uid, shown, handles)
        for obj in objects
        if is_curve(obj)
        for shown, handles in [(_shown(obj), handle_types(obj))]
        if shown != _PLAIN or set(handles) - {"FREE"}
    ]
    for uid, _, handles in changed:
        obj = cast(bpy.types.Object, found_again(uid))
        _show(obj, _PLAIN)
        set_handle_types(obj, ["FREE"] * len(handles))
    try:
        yield bool(changed)
    finally:
        for uid, shown, handles in changed:
            if (found := found_again(uid)) is not None:
                _show(found, shown)
                set_handle_types(found, handles)


def _shown(obj: bpy.types.Object) -> dict[str, Any]:
    """The settings of a curve that may make faces of it."""
    return {name: getattr(curve_of(obj), name) for name in _PLAIN}


def _show(obj: bpy.types.Object, values: dict[str, Any]) -> None:
    """Sets these settings."""
    for name, value in values.items():
        setattr(curve_of(obj), name, value)


def handle_types(obj: bpy.types.Object) -> list[str]:
    """The types of a curve's handles, left and right of each Bezier point."""
    return [getattr(point, name) for point in _bezier_points(obj) for name in _HANDLES]


def set_handle_types(obj: bpy.types.Object, types: list[str]) -> None:
    """Sets the types of a curve's handles; of a curve with others than these, none."""
    points = list(_bezier_points(obj))
    if len(types) != len(_HANDLES) * len(points):
        return
    kinds = iter(types)
    for point in points:
        for name in _HANDLES:
            setattr(point, name, next(kinds))


def free_handles(obj: bpy.types.Object) -> None:
    """Makes all handles of a curve free, so that shape keys move them, and stores their types."""
    types = handle_types(obj)
    if set(types) - {"FREE"}:
        body_properties(obj).handle_types = " ".join(types)
        set_handle_types(obj, ["FREE"] * len(types))


def restore_handles(obj: bpy.types.Object) -> None:
    """Gives the handles of a curve the types that `free_handles` stored."""
    body = body_properties(obj)
    if body.handle_types:
        set_handle_types(obj, body.handle_types.split())
    body.property_unset("handle_types")


def _bezier_points(obj: bpy.types.Object) -> Iterator[Any]:
    """The Bezier points of a curve."""
    for spline in curve_of(obj).splines:
        yield from spline.bezier_points if spline.type == "BEZIER" else ()
