"""The Grab tool of the toolbar in Object and Pose Mode: a press on a body starts the operator."""

import bpy

from .grab_operator import VERLET_OT_grab


class GrabTool(bpy.types.WorkSpaceTool):
    """Drag soft bodies while they move, as a hand would"""

    bl_space_type = "VIEW_3D"
    bl_context_mode = "OBJECT"
    bl_idname = "verlet.grab_tool"
    bl_label = "Grab Soft Body"
    bl_description = (
        "Drag soft bodies while they are simulated in real time; Enter keeps the shape, Esc "
        "restores it"
    )
    bl_icon = "brush.uv_sculpt.grab"
    bl_keymap = ((VERLET_OT_grab.bl_idname, {"type": "LEFTMOUSE", "value": "PRESS"}, None),)

    @staticmethod
    def draw_settings(
        _context: bpy.types.Context, layout: bpy.types.UILayout, tool: bpy.types.WorkSpaceTool
    ) -> None:
        properties = tool.operator_properties(VERLET_OT_grab.bl_idname)
        layout.prop(properties, "keep")


class PoseGrabTool(GrabTool):
    """Drag the joints of soft bones while they move, as a hand would"""

    bl_context_mode = "POSE"
    bl_idname = "verlet.grab_bones_tool"

    @staticmethod
    def draw_settings(
        _context: bpy.types.Context, _layout: bpy.types.UILayout, _tool: bpy.types.WorkSpaceTool
    ) -> None:
        """Nothing: soft bones keep a grab as their pose."""


_TOOLS = (GrabTool, PoseGrabTool)


def register_tool() -> None:
    """Adds the tool to the toolbars, which there are none of without a window."""
    if not bpy.app.background:
        for tool in _TOOLS:
            bpy.utils.register_tool(tool, separator=True)


def unregister_tool() -> None:
    """Removes the tool."""
    if not bpy.app.background:
        for tool in reversed(_TOOLS):
            bpy.utils.unregister_tool(tool)
