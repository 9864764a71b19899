"""Pins in Edit Mode: weights of the pin group at the selected vertices of the edited mesh."""

from collections.abc import Iterator
from typing import Any

import bmesh
import bpy

from ...core.errors import MeshError
from ..settings.properties import body_properties, is_body
from .curve_lines import change_pinned, check_curve
from .curve_points import curve_of, is_curve, spline_points
from .handlers import add_handlers, remove_handlers
from .mesh_access import found_again, mesh_of
from .ownership import check_data

_NAME = "Pin"
"""Name of the group that is made for a body without a pin group."""

_made: dict[int, tuple[str, bool]] = {}
"""Pin groups made here, and whether that is undone, by `session_uid` of the body."""


def check_pins(obj: bpy.types.Object) -> None:
    """Raises MeshError if the pins of an object in Edit Mode cannot be changed."""
    if not is_body(obj):
        raise MeshError(
            f"{obj.name} is no soft body; switch to Object Mode and press Make Soft Body first"
        )
    check_data(obj)
    if is_curve(obj):
        check_curve(obj)
    group = obj.vertex_groups.get(body_properties(obj).pin_group)
    if group is not None and group.lock_weight:
        raise MeshError(f"The vertex group {group.name} of {obj.name} is locked; unlock it first")


def pin_selected(obj: bpy.types.Object) -> int:
    """Gives the selected vertices weight 1 in the pin group; returns their number.

    A body without a pin group gets one named Pin. Of a curve, the numbers of its points are noted.
    """
    if is_curve(obj):
        return len(change_pinned(obj, _selected_points(obj), add=True))
    index = pin_group(obj).index
    edited = bmesh.from_edit_mesh(mesh_of(obj))
    count = 0
    for weights in _selected_weights(edited):
        weights[index] = 1.0
        count += 1
    bmesh.update_edit_mesh(mesh_of(obj), loop_triangles=False, destructive=False)
    return count


def unpin_selected(obj: bpy.types.Object) -> int:
    """Removes the selected vertices from the pin group; returns the number that was in it."""
    if is_curve(obj):
        return len(change_pinned(obj, _selected_points(obj), add=False))
    group = obj.vertex_groups.get(body_properties(obj).pin_group)
    edited = bmesh.from_edit_mesh(mesh_of(obj))
    if group is None or edited.verts.layers.deform.active is None:
        return 0
    count = 0
    for weights in _selected_weights(edited):
        if group.index in weights:
            del weights[group.index]
            count += 1
    bmesh.update_edit_mesh(mesh_of(obj), loop_triangles=False, destructive=False)
    return count


def pin_group(obj: bpy.types.Object) -> bpy.types.VertexGroup:
    """The pin group of a body, made where there is none."""
    body = body_properties(obj)
    if (group := obj.vertex_groups.get(body.pin_group)) is None:
        group = obj.vertex_groups.new(name=body.pin_group or _NAME)
        if not body.pin_group:
            body.pin_group = group.name
            _made[obj.session_uid] = group.name, False
    return group


def selected_count(obj: bpy.types.Object) -> int:
    """Number of the selected vertices of an edited mesh, or points of an edited curve."""
    return len(_selected_points(obj)) if is_curve(obj) else mesh_of(obj).total_vert_sel


def _selected_points(obj: bpy.types.Object) -> set[int]:
    """Numbers of the selected points of an edited curve."""
    points = [point for spline in curve_of(obj).splines for point in spline_points(spline)]
    return {
        number
        for number, point in enumerate(points)
        if getattr(point, "select_control_point", False) or getattr(point, "select", False)
    }


def _selected_weights(edited: bmesh.types.BMesh) -> Iterator[Any]:
    """Yields the weights by group index of each selected vertex."""
    layer = edited.verts.layers.deform.verify()
    return (vertex[layer] for vertex in edited.verts if vertex.select)


def _after_undo(_scene: Any = None, _depsgraph: Any = None) -> None:
    """Handler: unsets a pin group that undo in Edit Mode has removed, and sets it after redo.

    Undo in Edit Mode restores vertex groups, but no properties of objects.
    """
    for uid, (name, undone) in _made.items():
        if (obj := found_again(uid)) is None:
            continue
        body, exists = body_properties(obj), name in obj.vertex_groups
        if not exists and body.pin_group == name:
            body.property_unset("pin_group")
            _made[uid] = name, True
        elif exists and undone and not body.pin_group:
            body.pin_group = name
            _made[uid] = name, False


def _after_load(_path: Any = None, _other: Any = None) -> None:
    """Handler: forgets the bodies of the file before."""
    _made.clear()


_HANDLERS: dict[str, Any] = {
    "undo_post": _after_undo,
    "redo_post": _after_undo,
    "load_post": _after_load,
}


def register_handlers() -> None:
    """Adds the handlers."""
    add_handlers(_HANDLERS)


def unregister_handlers() -> None:
    """Removes the handlers, and forgets all bodies."""
    remove_handlers(_HANDLERS)
    _made.clear()
