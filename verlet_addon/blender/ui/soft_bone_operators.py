"""Operators of soft bones: made and released, their settings copied or set by a material."""

from typing import TYPE_CHECKING, Any, cast

import bpy
from bpy.props import BoolProperty, EnumProperty

from ...core.errors import MeshError
from ..bake.cache_folder import clear_caches, folders_of
from ..bake.shape_keys import remove_bakes
from ..scene.file_context import file_context
from ..scene.file_warnings import some
from ..scene.soft_bones import (
    body_of_bones,
    close_skirt,
    make_soft_bones,
    open_skirt,
    release_soft_bones,
)
from ..settings.bone_materials import BONE_MATERIALS, set_bone_material
from ..settings.bone_properties import BONE_SETTINGS, bone_setting, set_bone, soft_bones
from ..translation.interface import translated
from .messages import report
from .operators import cancelled_by_errors, undoable_mode

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems


def active_bone(context: bpy.types.Context) -> bpy.types.PoseBone | None:
    """The active bone of a pose, also in Properties ▸ Bone; None without one."""
    obj = context.object
    if obj is None or obj.type != "ARMATURE" or obj.pose is None:
        return None
    data: Any = obj.data
    bones: Any = obj.pose.bones
    return None if data.bones.active is None else bones.get(data.bones.active.name)


def chosen_bones(context: bpy.types.Context) -> dict[bpy.types.Object, list[str]]:
    """By their armature, the names of the selected bones in Pose Mode, else of the active bone."""
    found: dict[bpy.types.Object, list[str]] = {}
    bones = list(getattr(context, "selected_pose_bones", None) or ())
    active = active_bone(context)
    for bone in bones or filter(None, [active]):
        found.setdefault(cast(bpy.types.Object, bone.id_data), []).append(bone.name)
    return found


def chosen_soft_bones(context: bpy.types.Context) -> list[bpy.types.PoseBone]:
    """The soft ones among the chosen bones."""
    found = []
    for armature, names in chosen_bones(context).items():
        body = body_of_bones(armature)
        found += [] if body is None else [b for b in soft_bones(body) if b.name in names]
    return found


class _SoftBoneOperator:
    """Base of the operators on soft bones that are chosen."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        operator = cast(type[bpy.types.Operator], cls)
        if chosen_soft_bones(context):
            return undoable_mode(operator, context)
        operator.poll_message_set("None of the selected bones is soft")
        return False


class VERLET_OT_make_soft_bones(bpy.types.Operator):
    """Have the selected bones, and all that stand on them, follow through like tails"""

    bl_idname = "verlet.make_soft_bones"
    bl_label = "Make Soft Bones"
    bl_options = {"REGISTER", "UNDO"}

    material: EnumProperty(
        name="Material",
        description="Settings of the bones",
        items=[
            ("KEEP", "As They Are", "The settings that the bones have"),
            *((name, its.label, its.example) for name, its in BONE_MATERIALS.items()),
        ],
        default="KEEP",
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if chosen_bones(context):
            return undoable_mode(cls, context)
        cls.poll_message_set("Select bones of an armature in Pose Mode first")
        return False

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        scene, count = file_context(context).scene, 0
        for armature, names in chosen_bones(context).items():
            body = make_soft_bones(scene, armature, names)
            count += len(body.vertex_groups)
            if self.material != "KEEP":
                chosen = [bone for bone in soft_bones(body) if stands_on(bone, names)]
                set_bone_material(chosen, self.material)
        report(self, "INFO", f"{count} bones are soft; play with Live, or press Bake")
        return {"FINISHED"}


class VERLET_OT_release_soft_bones(_SoftBoneOperator, bpy.types.Operator):
    """Make the selected soft bones ordinary ones again, without their bake and their settings"""

    bl_idname = "verlet.release_soft_bones"
    bl_label = "Release Soft Bones"
    bl_options = {"REGISTER", "UNDO"}

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        scene = file_context(context).scene
        for armature, names in chosen_bones(context).items():
            if (body := body_of_bones(armature)) is None:
                continue
            folders = folders_of([body])
            remove_bakes([body])
            for sentence in clear_caches(scene.name, [body], folders):
                report(self, "INFO", sentence)
            release_soft_bones(scene, armature, names)
        return {"FINISHED"}


class VERLET_OT_copy_bone_settings(_SoftBoneOperator, bpy.types.Operator):
    """Give the selected soft bones the settings of the active bone"""

    bl_idname = "verlet.copy_bone_settings"
    bl_label = "Copy to Selected"
    bl_options = {"REGISTER", "UNDO"}

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        if (active := active_bone(context)) is None:
            raise MeshError("No bone is active; click one, whose settings the others get")
        settings = {name: bone_setting(active, name) for name in BONE_SETTINGS}
        for bone in chosen_soft_bones(context):
            set_bone(bone, **settings)
        return {"FINISHED"}


class VERLET_OT_close_skirt(_SoftBoneOperator, bpy.types.Operator):
    """Join the selected chains of soft bones with their neighbours, as cloth"""

    bl_idname = "verlet.close_skirt"
    bl_label = "Close Skirt"
    bl_options = {"REGISTER", "UNDO"}

    open_again: BoolProperty(
        name="Open",
        description="Have the chains of the skirt swing by themselves again",
        options={"SKIP_SAVE"},
    )

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        scene = file_context(context).scene
        for armature, names in chosen_bones(context).items():
            if self.open_again:
                open_skirt(scene, armature, names)
                continue
            joined = close_skirt(scene, armature, names)
            report(self, "INFO", f"{len(joined)} chains are joined, in the order of {some(joined)}")
        return {"FINISHED"}


class VERLET_OT_set_bone_material(_SoftBoneOperator, bpy.types.Operator):
    """Give the selected soft bones the settings of a material"""

    bl_idname = "verlet.set_bone_material"
    bl_label = "Set Bone Material"
    bl_options = {"REGISTER", "UNDO"}

    material: EnumProperty(
        name="Material",
        description="Settings of the bones",
        items=[(name, its.label, its.example) for name, its in BONE_MATERIALS.items()],
        default="TAIL",
        options={"SKIP_SAVE"},
    )

    @classmethod
    def description(
        cls, _context: bpy.types.Context, properties: bpy.types.OperatorProperties
    ) -> str:
        return translated(BONE_MATERIALS[cast(Any, properties).material].example)

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        set_bone_material(chosen_soft_bones(context), self.material)
        return {"FINISHED"}


def stands_on(bone: bpy.types.PoseBone, names: list[str]) -> bool:
    """Whether a bone or one that it stands on has one of the names."""
    while bone is not None:
        if bone.name in names:
            return True
        bone = cast(bpy.types.PoseBone, bone.parent)
    return False
