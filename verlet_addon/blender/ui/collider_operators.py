"""The operator that adds Blender's Collision modifier, with settings that suit cloth."""

from typing import TYPE_CHECKING

import bpy

from ..scene.colliders import has_modifier, make_collider
from ..settings.properties import is_body
from .operators import cancelled_by_errors, undoable_mode

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems


class VERLET_OT_make_collider(bpy.types.Operator):
    """Give the selected meshes a Collision modifier, so that soft bodies rest on them"""

    bl_idname = "verlet.make_collider"
    bl_label = "Make Collider"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not _chosen(context):
            cls.poll_message_set(
                "Select meshes of this file that are neither soft bodies nor colliders; Blender "
                "forgets new Collision settings of overrides, so add it in their library"
            )
            return False
        return undoable_mode(cls, context)

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        for obj in _chosen(context):
            make_collider(obj)
        return {"FINISHED"}


def _chosen(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Lists the selected objects that can become colliders."""
    return [
        obj
        for obj in context.selected_objects
        if obj.type == "MESH"
        and not (obj.library or obj.override_library)
        and not is_body(obj)
        and not has_modifier(obj)
    ]
