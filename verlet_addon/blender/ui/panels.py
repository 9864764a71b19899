"""The sidebar tab and the Add menu."""

from typing import Any, cast, get_args

import bpy

from ...core.field import Kind
from ...core.settings import BodyType, weight_name
from ..scene.body_creation import type_hint
from ..scene.cages import simulated_object
from ..scene.colliders import is_collider
from ..scene.curve_points import is_curve
from ..scene.file_context import file_context
from ..scene.force_fields import acting_fields, enabled_fields
from ..scene.hair_curves import is_hair
from ..settings.bone_properties import armature_of
from ..settings.properties import VERLET_PG_body, body_properties, scene_properties
from ..translation.interface import translated
from .curve_ropes import draw_curve, draw_holds
from .flesh_panel import draw_firmness, draw_flesh
from .hair_panel import draw_guides, draw_hair, draw_strands
from .material_menu import VERLET_PT_material_presets, draw_material
from .panel_base import BodyPanel, SidebarPanel, active_body, draw_wrapped, layout_of
from .pin_operators import draw_pin_buttons
from .rope_tubes import is_unseen
from .unit_labels import draw_with_unit, unit_of


class VERLET_PT_body(SidebarPanel):
    """The active object: its type, mass and pins, or the button that makes it a body."""

    bl_label = "Soft Body"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.object is None or context.object.type != "ARMATURE"

    def draw_header(self, context: bpy.types.Context) -> None:
        if (body := active_body(context)) is not None:
            layout_of(self).prop(body, "enabled", text="")

    def fill(self, column: bpy.types.UILayout, context: bpy.types.Context) -> None:
        body = active_body(context)
        if body is None:
            self.fill_no_body(column, context.object)
            return
        armature = armature_of(cast(bpy.types.Object, context.object))
        if armature is not None:
            draw_wrapped(column, f"Joints of {armature.name}", icon="ARMATURE_DATA")
            draw_wrapped(column, "Settings: Soft Bones, in Pose Mode", icon="INFO")
            return
        self.fill_body(column.column(), cast(bpy.types.Object, context.object), body)
        column.separator()
        column.operator("verlet.release", icon="X")

    def fill_no_body(self, column: bpy.types.UILayout, obj: bpy.types.Object | None) -> None:
        """Draws what makes an object a body or a collider; of a collider, its settings first."""
        collider = obj if obj is not None and is_collider(obj) else None
        if collider is not None:
            self.fill_collider(column, collider)
            column.separator()
        button = column.row()
        button.scale_y = 1.0 if collider is not None else 1.5
        button.operator("verlet.convert", icon="MOD_SOFT")
        if collider is None:
            if obj is not None and is_hair(obj):
                column.label(text="Curves: hair", icon="INFO")
            elif obj is not None and is_curve(obj):
                draw_wrapped(column, "Any curve: a rope", icon="INFO")
                column.operator("verlet.curve_to_mesh", icon="OUTLINER_OB_MESH")
            else:
                draw_wrapped(column, "Any mesh: cloth, rope, jelly, flesh, water", icon="INFO")
                draw_guides(column, obj)
            column.separator()
            column.operator("verlet.make_collider", icon="MOD_PHYSICS")
            draw_wrapped(column, "What soft bodies collide with", icon="INFO")
            column.separator()
            column.menu("VERLET_MT_samples", icon="FILE_BLEND")

    def fill_collider(self, column: bpy.types.UILayout, obj: bpy.types.Object) -> None:
        """Draws a collider's contact settings."""
        draw_wrapped(column, "Collider; more under Physics", icon="MOD_PHYSICS")
        column.prop(obj.collision, "thickness_outer", text="Thickness (m)")
        column.prop(obj, "verlet_collider_friction")
        column.prop(obj.collision, "use_culling", text="Single Sided")

    def fill_body(
        self, column: bpy.types.UILayout, obj: bpy.types.Object, body: VERLET_PG_body
    ) -> None:
        """Draws the settings that all types of bodies have."""
        column.active = body.enabled
        if is_hair(obj):
            draw_hair(column, obj, body)
            return
        if is_curve(obj):
            draw_curve(column, obj)
        else:
            # Overrides keep settings alone, none that set others.
            overridden = obj.override_library is not None
            column.prop(*((body, "body_type") if overridden else (obj, "verlet_type")))
        draw_hint(column, obj, body)
        if obj.type == "MESH" and is_unseen(obj):
            draw_wrapped(column, "Edges alone: renders show nothing", icon="ERROR")
            column.operator("verlet.show_tube", icon="CURVE_BEZCURVE")
        draw_material(column, body)
        if body.body_type != "WATER":
            column.prop(body, "use_density")
            if body.use_density:
                column.prop(body, "density", text=unit_of(body, "density"))
            else:
                column.prop(body, "mass")
        if is_curve(obj):
            draw_holds(column, body)
        elif body.body_type == "FLESH":
            draw_flesh(column, body)
        else:
            simulated = simulated_object(obj)
            column.prop_search(body, "pin_group", simulated, "vertex_groups", icon="GROUP_VERTEX")
        if obj.mode == "EDIT" and body.body_type in PINNED and simulated_object(obj) == obj:
            draw_pin_buttons(column)


PINNED = tuple(name for name in get_args(BodyType) if name != "FLESH")
"""Types of bodies that pins hold; flesh is held by its bones."""


def draw_hint(column: bpy.types.UILayout, obj: bpy.types.Object, body: VERLET_PG_body) -> None:
    """Draws what does not suit a mesh as a body of its type."""
    if obj.type == "MESH" and (hint := type_hint(obj, body.body_type)):
        solid = body.body_type in ("SOFT", "FLESH")
        column.label(text=hint, icon="INFO" if solid else "ERROR")
        if solid:
            column.operator("verlet.select_open_edges", icon="EDGESEL")


class VERLET_PT_attachments(BodyPanel):
    """Attachments of the body to other objects."""

    bl_label = "Attachments"
    bl_options = {"DEFAULT_CLOSED"}
    types = PINNED
    for_curves = False

    def fill_for(self, column: bpy.types.UILayout, body: VERLET_PG_body) -> None:
        row = column.row()
        row.template_list(
            "VERLET_UL_attachments", "", body, "attachments", body, "attachment_index", rows=3
        )
        buttons = row.column(align=True)
        buttons.operator("verlet.attachment_add", text="", icon="ADD")
        buttons.operator("verlet.attachment_remove", text="", icon="REMOVE")
        if 0 <= body.attachment_index < len(body.attachments):
            self.fill_attachment(
                column,
                body.attachments[body.attachment_index],
                cast(bpy.types.Object, body.id_data),
            )
        else:
            draw_wrapped(
                column,
                "Select what it follows, then this with Shift, and press +; the active vertex "
                "group is attached",
                icon="INFO",
            )

    def fill_attachment(self, column: bpy.types.UILayout, item: Any, obj: bpy.types.Object) -> None:
        """Draws the settings of the attachment that is chosen in the list."""
        column.prop(item, "target")
        if item.target is not None and item.target.type == "ARMATURE":
            column.prop_search(item, "bone", item.target.data, "bones", icon="BONE_DATA")
            if not item.bone:
                draw_wrapped(column, "Follows no bone, the object alone", icon="INFO")
        painted = simulated_object(obj)
        column.prop_search(item, "vertex_group", painted, "vertex_groups", icon="GROUP_VERTEX")
        if item.vertex_group and item.vertex_group == body_properties(obj).pin_group:
            draw_wrapped(
                column,
                "Pinned too, so it follows half way; clear the Pin Group above",
                icon="ERROR",
            )
        column.prop(item, "weight")


class VERLET_PT_material(BodyPanel):
    """Elasticity and damping of the body."""

    bl_label = "Physical Properties"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_header_preset(self, _context: bpy.types.Context) -> None:
        VERLET_PT_material_presets.draw_panel_header(layout_of(self))

    def fill_for(self, column: bpy.types.UILayout, body: VERLET_PG_body) -> None:
        if body.body_type == "WATER":
            column.prop(body, "wave_speed")
        elif body.body_type == "HAIR":
            draw_strands(column, body)
        elif body.body_type == "FLESH":
            draw_firmness(column, body)
        elif body.body_type == "SOFT":
            draw_with_unit(column, body, "stiffness")
            column.prop(body, "resolution")
        else:
            self.fill_softness(column, body)
        if body.body_type == "ROPE":
            column.prop(body, "twist_ratio")
            column.prop(body, "angle_limit")
        if body.body_type not in ("WATER", "FLESH"):
            column.prop(body, "inner_damping")
        draw_with_unit(column, body, "damping")
        held = body.pin_group or len(body.attachments)
        held = held or is_curve(cast(bpy.types.Object, body.id_data))
        if body.body_type in ("CLOTH", "ROPE") and held:
            column.prop(body, "use_tethers")

    def fill_softness(self, column: bpy.types.UILayout, body: VERLET_PG_body) -> None:
        """Draws how easily cloth and ropes stretch, shear and bend, and the gas within."""
        column.label(text="Softness: 0 does not give at all")
        softness = column.column(align=True)
        draw_with_unit(softness, body, "stretch_compliance", "Stretch")
        if body.body_type == "CLOTH" and body.thread_map:
            draw_with_unit(softness, body, "weft_compliance", "Weft")
        if body.body_type != "ROPE":
            draw_with_unit(softness, body, "shear_compliance", "Shear")
        if cast(bpy.types.Object, body.id_data).override_library is not None:
            draw_with_unit(softness, body, "bend_compliance", "Bend")
        else:
            softness.prop(body.id_data, "verlet_bend", text="Bend")
        if body.body_type == "CLOTH":
            obj = simulated_object(cast(bpy.types.Object, body.id_data))
            mesh = cast(bpy.types.Mesh, obj.data)
            column.prop_search(body, "thread_map", mesh, "uv_layers", icon="GROUP_UVS")
            draw_with_unit(column, body, "pressure")


class VERLET_PT_forces(BodyPanel):
    """Gravity and force fields of the body."""

    bl_label = "Forces"
    bl_options = {"DEFAULT_CLOSED"}
    types = ("CLOTH", "ROPE", "SOFT", "HAIR", "FLESH")

    def fill(self, column: bpy.types.UILayout, context: bpy.types.Context) -> None:
        BodyPanel.fill(self, column, context)  # not super(): the Physics tab has copies
        if (obj := context.object) is not None:
            fields = enabled_fields(file_context(context).view_layer)
            count = len(acting_fields(obj, fields))
            text = "1 force field acts" if count == 1 else f"{count or 'No'} force fields act"
            draw_wrapped(column, text, icon="FORCE_WIND")

    def fill_for(self, column: bpy.types.UILayout, body: VERLET_PG_body) -> None:
        column.prop(body, "gravity")
        if body.body_type == "HAIR":
            column.prop(body, "use_pose_gravity")
        column.prop(body, "wind")
        column.prop(body, "effector_collection")


class VERLET_PT_field_weights(BodyPanel):
    """Share of the strength of each type of force field that acts on the body"""

    bl_label = "Field Weights"
    bl_parent_id = "VERLET_PT_forces"
    bl_options = {"DEFAULT_CLOSED"}

    def fill_for(self, column: bpy.types.UILayout, body: VERLET_PG_body) -> None:
        for kind in get_args(Kind):
            column.prop(body, weight_name(kind), slider=True)


class VERLET_PT_ground(SidebarPanel):
    """The ground plane of the scene."""

    bl_label = "Ground"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_header(self, context: bpy.types.Context) -> None:
        settings = scene_properties(file_context(context).scene)
        layout_of(self).prop(settings, "use_ground", text="")

    def fill(self, column: bpy.types.UILayout, context: bpy.types.Context) -> None:
        settings = scene_properties(file_context(context).scene)
        column.active = settings.use_ground
        column.prop(settings, "ground_object")
        column.prop(settings, "ground_height")
        column.prop(settings, "ground_friction")
        column.prop(settings, "ground_restitution")


class VERLET_MT_add(bpy.types.Menu):
    """Add a soft body that is pinned and ready to bake"""

    bl_label = "Verlet"

    def draw(self, _context: bpy.types.Context) -> None:
        layout = layout_of(self)
        layout.operator("verlet.add_cloth", icon="MOD_CLOTH")
        layout.operator("verlet.add_rope", icon="CURVE_PATH")
        layout.operator("verlet.add_jelly", icon="MOD_SOFT")
        layout.operator("verlet.add_balloon", icon="MESH_UVSPHERE")
        layout.operator("verlet.add_water", icon="MOD_OCEAN")


def draw_add_menu(self: bpy.types.Menu, _context: bpy.types.Context) -> None:
    """Adds the submenu to Add ▸ Mesh."""
    layout_of(self).menu("VERLET_MT_add", icon="MOD_SOFT")


# Entries in Blender's own menus contain "Verlet", so that a search with F3 finds them all.


def draw_quick_effects(self: bpy.types.Menu, _context: bpy.types.Context) -> None:
    """Adds the entries to Object ▸ Quick Effects."""
    layout = layout_of(self)
    layout.separator()
    layout.operator("verlet.convert", text="Make Verlet Soft Body", icon="MOD_SOFT")
    layout.operator("verlet.hair_from_guides", text="Verlet Hair from Guides", icon="CURVES_DATA")
    layout.operator("verlet.make_collider", text="Make Verlet Collider", icon="MOD_PHYSICS")
    layout.operator("verlet.drape", text="Drape Verlet Soft Bodies", icon="MOD_CLOTH")


def draw_animation_menu(self: bpy.types.Menu, _context: bpy.types.Context) -> None:
    """Adds the entries to Object ▸ Animation."""
    layout = layout_of(self)
    layout.separator()
    layout.operator("verlet.bake", text="Bake Verlet Soft Bodies", icon="REC")
    layout.operator("verlet.clear_bake", text="Clear Verlet Bake", icon="TRASH")


def draw_apply_menu(self: bpy.types.Menu, _context: bpy.types.Context) -> None:
    """Adds our entries to Object ▸ Apply."""
    layout = layout_of(self)
    layout.separator()
    for mode, name in (("MESH", "Mesh"), ("SHAPE_KEY", "Shape Key")):
        entry: Any = layout.operator(
            "verlet.apply_shape", text=translated(f"Verlet Shape as {name}")
        )
        entry.mode = mode
