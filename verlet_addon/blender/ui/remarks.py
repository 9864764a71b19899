"""Remarks of the last bake in the panel: the worst in full, the others behind a button."""

from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from bpy.props import IntProperty

from ...core.errors import MeshError
from ...core.remark import Grade, Remark
from ..bake.record import baked_remarks
from ..scene.cages import simulated_object
from ..scene.file_context import file_context
from ..scene.mesh_access import mesh_of
from ..translation.interface import translated
from .operators import cancelled_by_errors, undoable_mode
from .panel_base import draw_wrapped, layout_of

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems

LETTERS = 80
"""Number of characters in a line of a remark."""
ICONS: dict[Grade, Any] = {"INFO": "INFO", "WARNING": "ERROR", "SERIOUS": "CANCEL"}
"""Icon of each grade; Blender's ERROR is the triangle of a warning."""


def draw_remarks(column: bpy.types.UILayout, scene: bpy.types.Scene) -> None:
    """Draws the worst remark in full, red if it is serious, and a button with all of them."""
    if not (remarks := baked_remarks(scene)):
        return
    if remarks[0].grade != "INFO":
        draw_remark(column.box().column(align=True), remarks[0], 0)
    if remarks[1:] or remarks[0].grade == "INFO":
        count = "1 remark" if len(remarks) == 1 else f"{len(remarks)} remarks"
        column.popover("VERLET_PT_remarks", text=translated(count), icon=ICONS[remarks[0].grade])


def draw_remark(
    column: bpy.types.UILayout, remark: Remark, number: int, *, letters: int = 0
) -> None:
    """Draws a remark, and the button that selects the vertices that it is about."""
    alert = remark.grade == "SERIOUS"
    draw_wrapped(column, remark, icon=ICONS[remark.grade], letters=letters, alert=alert)
    if remark.vertices:
        button: Any = column.operator("verlet.select_remark", icon="VERTEXSEL")
        button.number = number


class VERLET_PT_remarks(bpy.types.Panel):
    """Warnings of the last bake, which the status bar shows only for seconds"""

    bl_label = "Remarks"
    bl_space_type = "VIEW_3D"
    bl_region_type = "HEADER"
    bl_ui_units_x = 24

    def draw(self, context: bpy.types.Context) -> None:
        column = layout_of(self).column()
        for number, remark in enumerate(baked_remarks(file_context(context).scene)):
            draw_remark(column.column(align=True), remark, number, letters=LETTERS)


class VERLET_OT_select_remark(bpy.types.Operator):
    """Show the vertices that the remark is about, in Edit Mode"""

    bl_idname = "verlet.select_remark"
    bl_label = "Select Vertices"
    bl_options = {"REGISTER", "UNDO"}

    number: IntProperty(name="Remark", description="Its place in the list", min=0)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return undoable_mode(cls, context)

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        here = file_context(context)
        remarks = baked_remarks(here.scene)
        if self.number >= len(remarks):
            raise MeshError("The last bake has no such remark; bake again")
        remark = remarks[self.number]
        body = here.scene.objects.get(remark.body)
        if body is None or body.type != "MESH":
            raise MeshError(f"There is no mesh object {remark.body} any longer; bake again")
        obj = simulated_object(body)
        if obj.name not in here.view_layer.objects or obj.library is not None:
            raise MeshError(f"{obj.name} cannot be edited in this view layer")
        here.view_layer.objects.active = obj
        select_vertices(obj, remark.vertices)
        return {"FINISHED"}


def select_vertices(obj: bpy.types.Object, vertices: tuple[int, ...]) -> None:
    """Selects some vertices of the active object alone, and leaves it in Edit Mode."""
    mesh = mesh_of(obj)
    chosen = np.zeros(len(mesh.vertices), bool)
    chosen[[vertex for vertex in vertices if vertex < len(chosen)]] = True
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_mode(type="VERT")
    bpy.ops.mesh.select_all(action="DESELECT")
    bpy.ops.object.mode_set(mode="OBJECT")
    mesh.vertices.foreach_set("select", chosen)
    bpy.ops.object.mode_set(mode="EDIT")
