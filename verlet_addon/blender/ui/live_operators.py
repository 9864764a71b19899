"""Operators that start and end live simulation."""

from typing import TYPE_CHECKING

import bpy

from ..live.control import end_live, session_of, start_live
from ..live.drape_files import end_drapes
from ..scene.file_context import file_context
from ..translation.interface import translated
from .bake_progress import bake_in_progress
from .operators import cancelled_by_errors, has_bodies, undoable_mode

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems


class VERLET_OT_live(bpy.types.Operator):
    """Simulate frames as the timeline plays them, without a bake; press again to end that"""

    bl_idname = "verlet.live"
    bl_label = "Live"
    bl_options = {"UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        live = session_of(file_context(context).scene) is not None
        return (live or has_bodies(cls, context)) and undoable_mode(cls, context)

    def invoke(
        self, context: bpy.types.Context, event: bpy.types.Event
    ) -> "set[OperatorReturnItems]":
        here = file_context(context)
        session = session_of(here.scene)
        if session is None or session.last == session.start:
            return self.execute(context)
        count = session.last - session.start + 1
        return here.window_manager.invoke_confirm(
            self,
            event,
            title="End Live",
            message=translated(f"Its {count} frames are lost, also to undo; Bake keeps them"),
            confirm_text="End Live",
        )

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        here = file_context(context)
        if session_of(here.scene) is not None:
            end_live(here.scene)
        else:
            session = start_live(here.scene, here.view_layer)
            here.scene.frame_set(session.start)
        return {"FINISHED"}


class VERLET_OT_reset(bpy.types.Operator):
    """End live simulation and discard drapes: the scene is as it was before"""

    bl_idname = "verlet.reset"
    bl_label = "End Live, Discard Drape"
    bl_options = {"UNDO"}

    @classmethod
    def poll(cls, _context: bpy.types.Context) -> bool:
        return bake_in_progress() is None

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        scene = file_context(context).scene
        end_live(scene)
        end_drapes(scene.objects)
        return {"FINISHED"}
