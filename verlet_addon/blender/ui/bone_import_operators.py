"""Operators that make bones soft by what other add-ons and files say about them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import bpy
from bpy.props import StringProperty
from bpy_extras.io_utils import ImportHelper

from ...core.errors import FileError
from ..scene.bone_import import soft_bones_from_addons, soft_bones_from_file
from ..scene.file_context import file_context
from .messages import report
from .operators import cancelled_by_errors, undoable_mode
from .panel_base import layout_of

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems


class _ArmatureOperator:
    """Base of the operators on an armature that is the active object."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        operator = cast(type[bpy.types.Operator], cls)
        if context.object is not None and context.object.type == "ARMATURE":
            return undoable_mode(operator, context)
        operator.poll_message_set("Make an armature the active object first")
        return False


class VERLET_OT_soft_bones_from_addons(_ArmatureOperator, bpy.types.Operator):
    """Make bones soft that the add-ons for VRM, MMD, Wiggle or Jiggle Physics move, with their settings and colliders; these need not be installed"""  # noqa: E501, as Blender shows it

    bl_idname = "verlet.soft_bones_from_addons"
    bl_label = "Soft Bones from Add-ons"
    bl_options = {"REGISTER", "UNDO"}

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        armature = cast(bpy.types.Object, context.object)
        for sentence in soft_bones_from_addons(file_context(context).scene, armature):
            report(self, "INFO", sentence)
        return {"FINISHED"}


class VERLET_OT_soft_bones_from_file(  # type: ignore[misc]
    _ArmatureOperator, ImportHelper, bpy.types.Operator
):
    """Make bones soft that are spring bones in the .vrm or .glb file that the armature comes from"""  # noqa: E501

    bl_idname = "verlet.soft_bones_from_file"
    bl_label = "Soft Bones from VRM File"
    bl_options = {"REGISTER", "UNDO"}

    filter_glob: StringProperty(default="*.vrm;*.glb", options={"HIDDEN"})

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        if not (filepath := cast(Any, self).filepath):
            raise FileError("No file is chosen; choose the one the armature comes from", Path())
        path = Path(bpy.path.abspath(filepath)).resolve()
        armature = cast(bpy.types.Object, context.object)
        for sentence in soft_bones_from_file(file_context(context).scene, armature, path):
            report(self, "INFO", sentence)
        return {"FINISHED"}


def draw_bone_import_menu(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    """Adds the entries to Object ▸ Animation and to the Pose menu, for armatures."""
    if context.object is None or context.object.type != "ARMATURE":
        return
    layout = layout_of(self)
    layout.separator()
    layout.operator("verlet.soft_bones_from_addons", icon="BONE_DATA")
    layout.operator_context = "INVOKE_DEFAULT"
    layout.operator("verlet.soft_bones_from_file")
