"""What the panels show of flesh."""

from typing import cast

import bpy

from ..scene.cages import simulated_object
from ..scene.mesh_access import mesh_of, shape_keys_of
from ..settings.properties import VERLET_PG_body
from .panel_base import BodyPanel
from .unit_labels import draw_with_unit


def draw_flesh(column: bpy.types.UILayout, body: VERLET_PG_body) -> None:
    """Draws where flesh is, and how thick."""
    painted = simulated_object(cast(bpy.types.Object, body.id_data))
    column.prop_search(body, "flesh_group", painted, "vertex_groups", icon="GROUP_VERTEX")
    column.operator("verlet.paint_flesh", icon="BRUSH_DATA")
    column.prop(body, "flesh_depth")


def draw_firmness(column: bpy.types.UILayout, body: VERLET_PG_body) -> None:
    """Draws how firm flesh is, how long it wobbles, and what shape it comes back to."""
    draw_with_unit(column, body, "stiffness")
    column.prop(body, "flesh_damping")
    column.prop(body, "flesh_resolution")
    column.prop(body, "keep_volume", slider=True)
    column.prop(body, "loaded_shape")
    simulated = simulated_object(cast(bpy.types.Object, body.id_data))
    if (key := shape_keys_of(simulated)) is not None:
        column.prop_search(
            body, "rest_key", key, "key_blocks", text="Rest Shape", icon="SHAPEKEY_DATA"
        )


class VERLET_PT_muscles(BodyPanel):
    """Muscles of flesh, which contract."""

    bl_label = "Muscles"
    bl_options = {"DEFAULT_CLOSED"}
    types = ("FLESH",)

    def fill_for(self, column: bpy.types.UILayout, body: VERLET_PG_body) -> None:
        painted = simulated_object(cast(bpy.types.Object, body.id_data))
        column.prop_search(body, "muscle_group", painted, "vertex_groups", icon="GROUP_VERTEX")
        acting = column.column()
        acting.active = bool(body.muscle_group)
        acting.prop_search(body, "muscle_map", mesh_of(painted), "uv_layers", icon="GROUP_UVS")
        acting.prop(body, "muscle_length")
