"""Operators of Edit Mode that pin the selected vertices of a body, and its entries in menus."""

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import bpy

from ...core.errors import MeshError
from ..scene.pins import check_pins, pin_selected, selected_count, unpin_selected
from ..translation.interface import translated
from .bake_progress import bake_in_progress
from .operators import cancelled_by_errors
from .panel_base import layout_of

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems


class _PinOperator:
    """Base of the operators that change pins at the selected vertices of all edited meshes."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        operator = cast(type[bpy.types.Operator], cls)
        if bake_in_progress() is not None:
            operator.poll_message_set("A bake is in progress; wait for its end, or press Esc")
            return False
        if context.mode not in ("EDIT_MESH", "EDIT_CURVE"):
            operator.poll_message_set("Select vertices of a soft body in Edit Mode first")
            return False
        return True


class VERLET_OT_pin_selected(_PinOperator, bpy.types.Operator):
    """Hold the selected vertices in place: they get weight 1 in the pin group of the soft body"""

    bl_idname = "verlet.pin_selected"
    bl_label = "Pin Selected"
    bl_options = {"REGISTER", "UNDO"}

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        self.report({"INFO"}, translated(f"{_vertices(_change(context, pin_selected))} pinned"))
        return {"FINISHED"}


class VERLET_OT_unpin_selected(_PinOperator, bpy.types.Operator):
    """Let the selected vertices go: they are removed from the pin group of the soft body"""

    bl_idname = "verlet.unpin_selected"
    bl_label = "Unpin"
    bl_options = {"REGISTER", "UNDO"}

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        if not (count := _change(context, unpin_selected)):
            raise MeshError("None of the selected vertices is pinned; select some that are")
        self.report({"INFO"}, translated(f"{_vertices(count)} unpinned"))
        return {"FINISHED"}


def _change(context: bpy.types.Context, change: Callable[[bpy.types.Object], int]) -> int:
    """Changes the pins of all edited objects with selected vertices, after all are checked."""
    edited = [obj for obj in context.objects_in_mode_unique_data if selected_count(obj)]
    if not edited:
        raise MeshError("No vertex is selected; select those to pin or unpin")
    for obj in edited:
        check_pins(obj)
    return sum(map(change, edited))


def _vertices(count: int) -> str:
    """The number of vertices, in words."""
    return "1 vertex" if count == 1 else f"{count} vertices"


def draw_vertex_menu(self: bpy.types.Menu, _context: bpy.types.Context) -> None:
    """Adds the entries to the Vertex menu and the context menu of Edit Mode."""
    layout = layout_of(self)
    layout.separator()
    layout.operator("verlet.pin_selected", text="Pin Selected (Verlet)", icon="PINNED")
    layout.operator("verlet.unpin_selected", text="Unpin (Verlet)", icon="UNPINNED")


def draw_pin_buttons(column: bpy.types.UILayout) -> None:
    """Draws the buttons of the panel."""
    row = column.row(align=True)
    row.operator("verlet.pin_selected", icon="PINNED")
    row.operator("verlet.unpin_selected", icon="UNPINNED")
