"""Operators on edited frames of a cache, and their buttons."""

from typing import TYPE_CHECKING, Any, cast

import bpy

from ..bake.bone_keys import key_bones
from ..bake.edit_names import edited_frames
from ..bake.edited_frame import remove_edits
from ..live.control import working
from ..live.frame_editing import edit_frame
from ..scene.cache_modifiers import bake_modifier
from ..scene.file_context import file_context
from ..scene.soft_bones import body_of_bones
from ..settings.bone_properties import armature_of
from ..translation.interface import translated
from .operators import cancelled_by_errors, undoable_mode

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems


def _body(context: bpy.types.Context) -> bpy.types.Object | None:
    """The active mesh, or the body of the soft bones of the active armature."""
    obj = context.object
    if obj is not None and obj.type == "ARMATURE":
        return body_of_bones(obj)
    return obj if obj is not None and obj.type == "MESH" else None


class VERLET_OT_edit_frame(bpy.types.Operator):
    """Make the current frame of the cache a shape key to sculpt, or a pose of soft bones to turn"""

    bl_idname = "verlet.edit_frame"
    bl_label = "Edit Frame"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if (obj := _body(context)) is None or bake_modifier(obj) is None:
            cls.poll_message_set("The active object shows no bake to a cache")
            return False
        return undoable_mode(cls, context)

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        here = file_context(context)
        obj = cast(bpy.types.Object, _body(context))
        with working():
            edit_frame(obj, here.scene, here.view_layer)
        frame, armature = here.scene.frame_current, armature_of(obj)
        if armature is None:
            text = (
                f"Sculpt the shape key of frame {frame} of {obj.name}, then go back to Object Mode "
                "and press Simulate from Edited Frame"
            )
        else:
            text = (
                f"Pose the soft bones of {armature.name} at frame {frame}, then press Simulate "
                "from Edited Frame there"
            )
        self.report({"INFO"}, translated(text))
        return {"FINISHED"}


class VERLET_OT_discard_edit(bpy.types.Operator):
    """Remove the edited frames of all bodies, and show their cache again"""

    bl_idname = "verlet.discard_edit"
    bl_label = "Discard Edited Frame"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not any(map(edited_frames, file_context(context).scene.objects)):
            cls.poll_message_set("No body has an edited frame")
            return False
        return undoable_mode(cls, context)

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        here = file_context(context)
        objects = [obj for obj in here.scene.objects if edited_frames(obj)]
        with working():
            remove_edits(objects)
            key_bones(here.scene, here.view_layer, objects)
        return {"FINISHED"}


def draw_edit(column: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws the buttons of edited frames, where the active object shows a cache or has some."""
    if (obj := _body(context)) is None:
        return
    if frames := edited_frames(obj):
        row = column.column(align=True)
        text = f"Simulate from Edited Frame {frames[0]}"
        button = cast(
            Any, row.operator("verlet.bake", text=translated(text), icon="SCULPTMODE_HLT")
        )
        button.mode, button.resume, button.edited = "CACHE", True, True
        button.from_frame = frames[0]
        row.operator("verlet.discard_edit", icon="X")
    elif bake_modifier(obj) is not None:
        column.operator("verlet.edit_frame", icon="SCULPTMODE_HLT")
