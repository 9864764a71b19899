"""The switches of the overlay, in Blender's popover of viewport overlays."""

from typing import cast

import bpy

from ...scene.file_context import file_context
from ...settings.overlay_properties import overlay_properties
from ...settings.properties import is_body
from ..panel_base import layout_of


class VERLET_PT_overlay(bpy.types.Panel):
    """Overlays of soft bodies in the viewport."""

    bl_label = "Verlet"
    bl_space_type = "VIEW_3D"
    bl_region_type = "HEADER"
    bl_parent_id = "VIEW3D_PT_overlay"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return any(is_body(obj) for obj in file_context(context).scene.objects)

    def draw(self, context: bpy.types.Context) -> None:
        layout, shown = layout_of(self), overlay_properties(context.workspace)
        layout.active = cast(bpy.types.SpaceView3D, context.space_data).overlay.show_overlays
        split = layout.split()
        left, right = split.column(align=True), split.column(align=True)
        left.prop(shown, "show_pins")
        left.prop(shown, "show_attachments")
        right.prop(shown, "show_colliders")
        right.prop(shown, "show_strain")
        if shown.show_strain:
            layout.prop(shown, "strain_scale", text="Strain Scale")
