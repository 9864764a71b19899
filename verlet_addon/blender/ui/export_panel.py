"""The panel below Bake with the forms of bakes for other programs."""

from typing import Any, cast

import bpy

from .panel_base import SidebarPanel


class VERLET_PT_export(SidebarPanel):
    """Buttons that write bakes in the forms of other programs, and that play their caches"""

    bl_label = "Exchange"
    bl_parent_id = "VERLET_PT_bake"
    bl_options = {"DEFAULT_CLOSED"}

    def fill(self, column: bpy.types.UILayout, context: bpy.types.Context) -> None:
        column.operator_context = "INVOKE_DEFAULT"
        column.operator("verlet.export_cache", text="Export Cache", icon="EXPORT")
        column.operator("verlet.import_cache", text="Play Cache", icon="IMPORT")
        cast(Any, column.operator("verlet.bake_bones", icon="ARMATURE_DATA")).beside = True
        column.operator("verlet.export_vat", icon="TEXTURE")
