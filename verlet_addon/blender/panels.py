"""The sidebar tab and the Add menu."""

import bpy

from .bake import bodies, frame_range
from .properties import body_properties, scene_properties
from .shape_keys import has_bake


class _Panel:
    """Where every panel of the add-on stands."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Verlet"


class _BodyPanel(_Panel):
    """A part of the settings of the active body."""

    bl_parent_id = "VERLET_PT_body"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.object is not None and body_properties(context.object).enabled


class VERLET_PT_body(_Panel, bpy.types.Panel):
    bl_label = "Soft Body"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        obj = context.object
        if obj is None or not body_properties(obj).enabled:
            column = layout.column()
            column.scale_y = 1.5
            column.operator("verlet.convert", icon="MOD_SOFT")
            layout.label(text="Any mesh: cloth, rope or jelly", icon="INFO")
            return
        layout.use_property_split = True
        layout.use_property_decorate = False
        body = body_properties(obj)
        layout.prop(body, "body_type")
        layout.prop(body, "mass")
        layout.prop_search(body, "pin_group", obj, "vertex_groups", icon="GROUP_VERTEX")
        layout.operator("verlet.release", icon="X")


class VERLET_PT_material(_BodyPanel, bpy.types.Panel):
    bl_label = "Material"

    def draw(self, context: bpy.types.Context) -> None:
        column = _column(self.layout)
        body = body_properties(context.object)
        column.prop(body, "stretch_compliance")
        if body.body_type != "ROPE":
            column.prop(body, "shear_compliance")
        column.prop(body, "bend_compliance")
        column.prop(body, "damping")
        if body.pin_group:
            column.prop(body, "use_tethers")


class VERLET_PT_collisions(_BodyPanel, bpy.types.Panel):
    bl_label = "Collisions"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        column = _column(self.layout)
        body = body_properties(context.object)
        column.prop(body, "thickness")
        column.prop(body, "friction")
        column.prop(body, "restitution")


class VERLET_PT_simulation(_Panel, bpy.types.Panel):
    bl_label = "Simulation"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        settings = scene_properties(context.scene)
        layout.prop(settings, "time_scale")
        layout.prop(settings, "substeps")


class VERLET_PT_advanced(_Panel, bpy.types.Panel):
    bl_label = "Advanced"
    bl_parent_id = "VERLET_PT_simulation"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        column = _column(self.layout)
        settings = scene_properties(context.scene)
        column.prop(settings, "iterations")
        column.prop(settings, "integrator")


class VERLET_PT_ground(_Panel, bpy.types.Panel):
    bl_label = "Ground"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_header(self, context: bpy.types.Context) -> None:
        self.layout.prop(scene_properties(context.scene), "use_ground", text="")

    def draw(self, context: bpy.types.Context) -> None:
        settings = scene_properties(context.scene)
        column = _column(self.layout)
        column.active = settings.use_ground
        column.prop(settings, "ground_object")
        column.prop(settings, "ground_height")
        column.prop(settings, "ground_friction")
        column.prop(settings, "ground_restitution")


class VERLET_PT_bake(_Panel, bpy.types.Panel):
    bl_label = "Bake"

    def draw(self, context: bpy.types.Context) -> None:
        scene = context.scene
        column = _column(self.layout)
        prefix = "frame_preview" if scene.use_preview_range else "frame"
        column.prop(scene, f"{prefix}_start", text="Frame Start")
        column.prop(scene, f"{prefix}_end", text="End")
        row = self.layout.row(align=True)
        row.scale_y = 1.5
        row.operator("verlet.bake", icon="REC")
        self.layout.operator("verlet.clear_bake", icon="TRASH")


class VERLET_MT_add(bpy.types.Menu):
    bl_label = "Verlet"

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.operator("verlet.add_cloth", icon="MOD_CLOTH")
        self.layout.operator("verlet.add_rope", icon="CURVE_PATH")


def draw_add_menu(self: bpy.types.Menu, context: bpy.types.Context) -> None:
    """Adds our entry to Add ▸ Mesh."""
    self.layout.menu("VERLET_MT_add", icon="MOD_SOFT")


def _column(layout: bpy.types.UILayout) -> bpy.types.UILayout:
    """Starts a column of settings, labels left and values right."""
    layout.use_property_split = True
    layout.use_property_decorate = False
    return layout.column()
