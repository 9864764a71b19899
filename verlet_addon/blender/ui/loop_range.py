"""The operator that sets the scene's frames to a turn of its loops."""

from typing import TYPE_CHECKING

import bpy

from ..bake.record import loop_turn
from ..scene.file_context import file_context
from ..translation.interface import translated
from .operators import cancelled_by_errors, undoable_mode

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems


class VERLET_OT_scene_range_to_loop(bpy.types.Operator):
    """Set the scene's range to a turn of the baked loop and its first frame again, for exports"""

    bl_idname = "verlet.scene_range_to_loop"
    bl_label = "Scene Range to Loop"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if loop_turn(file_context(context).scene) is None:
            cls.poll_message_set("No object of the scene has a loop; set Loop, and bake")
            return False
        return undoable_mode(cls, context)

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        scene = file_context(context).scene
        if (turn := loop_turn(scene)) is None:
            return {"CANCELLED"}
        scene.frame_start, scene.frame_end = turn
        start, end = turn
        self.report(
            {"INFO"},
            translated(
                f"The scene has frames {start} to {end}: a turn of {end - start}, and the first "
                f"one again, which exported clips need; render to {end - 1}"
            ),
        )
        return {"FINISHED"}


def draw_range(column: bpy.types.UILayout, scene: bpy.types.Scene) -> None:
    """Draws the button where the scene has a loop and other frames than a turn of it."""
    if loop_turn(scene) not in (None, (scene.frame_start, scene.frame_end)):
        column.operator("verlet.scene_range_to_loop", icon="FILE_REFRESH")
