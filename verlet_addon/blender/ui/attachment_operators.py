"""The list of attachments in the panel, and the operators that add and remove entries."""

from typing import TYPE_CHECKING, Any, cast

import bpy

from ..scene.file_context import file_context
from ..settings.properties import body_properties, is_body
from .operators import any_own, cancelled_by_errors, undoable_mode

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems


class VERLET_OT_attachment_add(bpy.types.Operator):
    """Hold a vertex group of the active body to another object, the other one that is selected"""

    bl_idname = "verlet.attachment_add"
    bl_label = "Add Attachment"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return _on_body(cls, context)

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        obj = _active(context)
        body = body_properties(obj)
        attachment: Any = body.attachments.add()
        others = [other for other in file_context(context).selected_objects if other != obj]
        if len(others) == 1:
            attachment.target = others[0]
        if obj.vertex_groups.active is not None:
            attachment.vertex_group = obj.vertex_groups.active.name
        body.attachment_index = len(body.attachments) - 1
        return {"FINISHED"}


class VERLET_OT_attachment_remove(bpy.types.Operator):
    """Remove the chosen attachment of the active body"""

    bl_idname = "verlet.attachment_remove"
    bl_label = "Remove Attachment"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not _on_body(cls, context):
            return False
        body = body_properties(_active(context))
        if not 0 <= body.attachment_index < len(body.attachments):
            cls.poll_message_set("No attachment is chosen; choose one in the list first")
            return False
        index = body.attachment_index
        if index < _attachments_of_library(_active(context)):
            cls.poll_message_set(
                "The attachment belongs to the library of this override; set its weight to 0"
            )
            return False
        return True

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        body = body_properties(_active(context))
        body.attachments.remove(body.attachment_index)
        body.attachment_index = max(0, min(body.attachment_index, len(body.attachments) - 1))
        return {"FINISHED"}


class VERLET_UL_attachments(bpy.types.UIList):
    """The list of attachments, one line each: the object that is followed, and the vertex group."""

    def draw_item(
        self,
        context: bpy.types.Context,
        layout: bpy.types.UILayout,
        data: Any,
        item: Any,
        icon: int | None,
        active_data: Any,
        active_property: str | None,
        index: int | None,
        flt_flag: int | None,
    ) -> None:
        row = layout.row()
        if item.target is None:
            row.label(text="No object", icon="ERROR")
        else:
            row.label(text=item.target.name, icon="LINKED")
        row.label(text=item.vertex_group or "No group")


def _active(context: bpy.types.Context) -> bpy.types.Object:
    """The active object, whose attachments the panel shows."""
    return cast(bpy.types.Object, context.object)


def _attachments_of_library(obj: bpy.types.Object) -> int:
    """Number of the attachments that a library override has from its library, the first ones."""
    override = obj.override_library
    if override is None:
        return 0
    return len(body_properties(cast(bpy.types.Object, override.reference)).attachments)


def _on_body(operator: type[bpy.types.Operator], context: bpy.types.Context) -> bool:
    """Whether the active object is a body in an undoable mode; else sets the poll message."""
    obj = context.object
    if obj is None or obj.type != "MESH" or not is_body(obj):
        operator.poll_message_set("The active object is not a soft body; select one first")
        return False
    return any_own(operator, [obj]) and undoable_mode(operator, context)
