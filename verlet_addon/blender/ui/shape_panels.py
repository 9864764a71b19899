"""Panels for the rest shape, plasticity, and the vertex groups that scale settings."""

from typing import cast

import bpy

from ..scene.cages import simulated_object
from ..scene.curve_points import is_curve
from ..scene.mesh_access import shape_keys_of
from ..settings.properties import VERLET_PG_body, body_properties
from ..settings.rest_shape_properties import PAINTED
from .panel_base import BodyPanel, layout_of
from .unit_labels import draw_with_unit

SURFACES = ("CLOTH", "ROPE")
WEIGHTS = {
    "CLOTH": ("stretch", "shear", "bend", "shrinking", "thickness", "pressure"),
    "ROPE": ("stretch", "bend", "shrinking", "thickness"),
    "SOFT": ("stiffness",),
    "FLESH": ("stiffness",),
}
"""Settings that vertex groups can scale, by body type."""


class VERLET_PT_shape(BodyPanel):
    """Rest shape, rigid parts, shrinking, sewing and tearing of the body."""

    bl_label = "Shape"
    bl_options = {"DEFAULT_CLOSED"}
    types = SURFACES

    def fill_for(self, column: bpy.types.UILayout, body: VERLET_PG_body) -> None:
        obj = simulated_object(cast(bpy.types.Object, body.id_data))
        if (key := shape_keys_of(obj)) is not None:
            column.prop_search(
                body, "rest_key", key, "key_blocks", text="Rest Shape", icon="SHAPEKEY_DATA"
            )
        if not is_curve(obj):
            column.prop_search(body, "rigid_group", obj, "vertex_groups", icon="GROUP_VERTEX")
        column.prop(body, "shrinking")
        if body.body_type == "CLOTH":
            column.prop(body, "use_sewing")
            force = column.column()
            force.active = body.use_sewing
            # The labels of the properties would be too long to be shown whole.
            draw_with_unit(force, body, "sewing_force", "Force")
            force.prop(body, "sewing_weight", text="Weight")
            column.prop(body, "use_tearing")
            strength = column.column()
            strength.active = body.use_tearing
            draw_with_unit(strength, body, "tear_strength")
            strength.operator("verlet.split_for_tearing", icon="MOD_EDGESPLIT")
            column.separator()
            column.operator("verlet.fit", icon="MOD_CLOTH")


class VERLET_PT_plasticity(BodyPanel):
    """Plastic deformation of the body."""

    bl_label = "Plasticity"
    bl_options = {"DEFAULT_CLOSED"}
    types = SURFACES

    def draw_header(self, context: bpy.types.Context) -> None:
        obj = cast(bpy.types.Object, context.object)
        layout_of(self).prop(body_properties(obj), "use_plasticity", text="")

    def fill_for(self, column: bpy.types.UILayout, body: VERLET_PG_body) -> None:
        column.active = body.enabled and body.use_plasticity
        column.label(text="Yield: beyond it, deformation stays")
        stretch = column.column()
        stretch.active = body.stretch_compliance > 0.0 or body.weft_compliance > 0.0
        stretch.prop(body, "yield_strain", text="Stretch")
        draw_with_unit(column, body, "yield_curvature", "Bend")
        column.prop(body, "hardening")


class VERLET_PT_weights(BodyPanel):
    """Vertex groups that scale the body's settings."""

    bl_label = "Property Weights"
    bl_options = {"DEFAULT_CLOSED"}
    types = tuple(WEIGHTS)
    for_curves = False

    def fill_for(self, column: bpy.types.UILayout, body: VERLET_PG_body) -> None:
        obj = simulated_object(cast(bpy.types.Object, body.id_data))
        for layer in WEIGHTS[body.body_type]:
            group = PAINTED[layer]
            # Most labels with "Group" would be too long to be shown whole.
            text = body.bl_rna.properties[group].name.removesuffix(" Group")
            column.prop_search(body, group, obj, "vertex_groups", text=text, icon="GROUP_VERTEX")
