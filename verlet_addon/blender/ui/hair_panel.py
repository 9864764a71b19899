"""What the panels show of hair."""

from typing import cast

import bpy

from ..scene.hair_creation import hair_systems
from ..scene.hair_curves import hair_of
from ..scene.mesh_access import mesh_of
from ..settings.properties import VERLET_PG_body
from .material_menu import draw_material
from .panel_base import draw_wrapped
from .unit_labels import draw_with_unit


def draw_hair(column: bpy.types.UILayout, obj: bpy.types.Object, body: VERLET_PG_body) -> None:
    """Draws how many strands there are, their material and their mass per length."""
    curves = hair_of(obj)
    text = f"Hair: {len(curves.curves):,} strands, {len(curves.points):,} points"
    draw_wrapped(column, text, icon="CURVES_DATA")
    draw_material(column, body)
    if obj.override_library is not None:  # overrides keep settings alone
        draw_with_unit(column, body, "density", "Mass")
    else:
        column.prop(obj, "verlet_strand_mass", text="Mass (g/m)")


def draw_strands(column: bpy.types.UILayout, body: VERLET_PG_body) -> None:
    """Draws how strands bend and twist."""
    if cast(bpy.types.Object, body.id_data).override_library is not None:
        draw_with_unit(column, body, "bend_compliance", "Bend")  # overrides keep settings alone
    else:
        column.prop(body.id_data, "verlet_droop")
        draw_wrapped(column, "Droop of a level strand of 20 cm", icon="INFO")
    column.prop(body, "twist_ratio")


def draw_following(column: bpy.types.UILayout, obj: bpy.types.Object, body: VERLET_PG_body) -> None:
    """Draws how far hair follows its groom, and how much of its inertia it feels."""
    column.prop(body, "follow_groom", slider=True)
    scale = column.column()
    scale.active = body.follow_groom > 0.0 or obj.animation_data is not None
    # The label of the property would be too long to be shown whole.
    scale.prop_search(body, "follow_attribute", hair_of(obj), "attributes", text="Attribute")
    column.prop(body, "inertia_share", slider=True)


def draw_guides(column: bpy.types.UILayout, obj: bpy.types.Object | None) -> None:
    """Draws the button that makes hair, of an object that it can be made of."""
    if obj is None or obj.type != "MESH":
        return
    if hair_systems(obj) or (mesh_of(obj).edges and not mesh_of(obj).polygons):
        column.operator("verlet.hair_from_guides", icon="CURVES_DATA")
