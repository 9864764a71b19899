"""The panels of soft bones, in the sidebar tab and in Properties ▸ Bone."""

from typing import cast

import bpy

from ..scene.bone_joints import skirts_of
from ..scene.soft_bones import body_of_bones
from ..settings.bone_materials import BONE_MATERIALS
from ..settings.bone_properties import soft_bones
from ..settings.properties import body_properties
from ..translation.interface import translated
from .panel_base import SidebarPanel, draw_wrapped, layout_of
from .soft_bone_operators import active_bone, stands_on


class VERLET_MT_bone_material(bpy.types.Menu):
    """Set the material of the selected soft bones"""

    bl_label = "Bone Material"

    def draw(self, _context: bpy.types.Context) -> None:
        layout = layout_of(self)
        for name, material in BONE_MATERIALS.items():
            layout.operator("verlet.set_bone_material", text=material.label).material = name


def draw_soft_bone(column: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws the settings of the active bone, or the button that makes the selected ones soft."""
    armature = cast(bpy.types.Object, context.object)
    body, bone = body_of_bones(armature), active_bone(context)
    if body is None or bone is None or bone not in soft_bones(body):
        button = column.row()
        button.scale_y = 1.5
        button.operator("verlet.make_soft_bones", icon="BONE_DATA")
        draw_wrapped(column, "Those selected, and all on them", icon="INFO")
        column.operator("verlet.soft_bones_from_addons")
        column.operator("verlet.soft_bones_from_file")
        return
    column.menu("VERLET_MT_bone_material", icon="PRESET")
    column.prop(bone, "verlet_frequency")
    joint = column.column()
    joint.active = not any(stands_on(bone, roots) for roots, _ in skirts_of(body))
    joint.prop(bone, "verlet_damping_ratio")
    joint.prop(bone, "verlet_angle_limit")
    column.prop(bone, "verlet_follow_pose", slider=True)
    column.prop(bone, "verlet_radius")
    column.operator("verlet.copy_bone_settings", icon="PASTEDOWN")
    skirt = column.row(align=True)
    skirt.operator("verlet.close_skirt", icon="MOD_CLOTH")
    if body_properties(body).skirts:
        skirt.operator("verlet.close_skirt", text="Open").open_again = True
    column.separator()
    column.label(text=translated(f"All soft bones of {armature.name}:"))
    its = body_properties(body)
    column.prop(its, "bones_to")
    column.prop(its, "inertia_share", slider=True)
    column.prop(its, "gravity")
    column.prop(its, "use_pose_gravity")
    column.prop(its, "friction")
    column.prop(its, "use_self_collision")
    column.prop(its, "collision_collection")
    column.prop(its, "density")
    column.prop(its, "damping", text="Air Damping")
    column.separator()
    column.operator("verlet.make_soft_bones", text="Add Selected", icon="ADD")
    column.operator("verlet.release_soft_bones", icon="X")


class VERLET_PT_soft_bones(SidebarPanel):
    """The active bone of an armature: its settings as a soft bone."""

    bl_label = "Soft Bones"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.object is not None and context.object.type == "ARMATURE"

    def draw_header(self, context: bpy.types.Context) -> None:
        body = body_of_bones(cast(bpy.types.Object, context.object))
        if body is not None:
            layout_of(self).prop(body_properties(body), "enabled", text="")

    def fill(self, column: bpy.types.UILayout, context: bpy.types.Context) -> None:
        draw_soft_bone(column, context)


class VERLET_PT_bone(bpy.types.Panel):
    """The same settings in Properties ▸ Bone."""

    bl_label = "Soft Bone"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "bone"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return active_bone(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        layout = layout_of(self)
        layout.use_property_split = True
        draw_soft_bone(layout.column(), context)
