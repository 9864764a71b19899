"""The Collisions panel of the sidebar tab."""

from typing import cast

import bpy

from ..scene.cages import simulated_object
from ..scene.curve_points import is_curve
from ..scene.file_context import file_context
from ..settings.properties import VERLET_PG_body
from .colliding import colliding
from .panel_base import BodyPanel, draw_wrapped
from .thickness_cost import thickness_cost
from .unit_labels import draw_with_unit


class VERLET_PT_collisions(BodyPanel):
    """Contact settings of the body, and the number of its colliders."""

    bl_label = "Collisions"
    bl_options = {"DEFAULT_CLOSED"}

    def fill(self, column: bpy.types.UILayout, context: bpy.types.Context) -> None:
        if (obj := context.object) is not None:
            here = file_context(context)
            text = colliding(obj, here.scene, here.view_layer)
            draw_wrapped(column, text, icon="MOD_PHYSICS")
        BodyPanel.fill(self, column, context)  # not super(): the Physics tab has copies

    def fill_for(self, column: bpy.types.UILayout, body: VERLET_PG_body) -> None:
        if body.body_type in ("CLOTH", "ROPE", "FLESH"):
            column.prop(body, "use_self_collision")
            if body.use_self_collision:
                _exempt(column, body, "vertex_group_self_collisions")
                _draw_cost(column, body)
        if body.body_type != "WATER":
            column.prop(body, "thickness")
            column.prop(body, "friction")
        if body.body_type in ("CLOTH", "ROPE"):  # jelly bounces by its own elasticity
            column.prop(body, "restitution")
        if body.body_type == "HAIR":
            _draw_strands(column, body)
        column.prop(body, "collision_collection")
        if body.body_type in ("CLOTH", "ROPE"):
            _exempt(column, body, "vertex_group_object_collisions")


def _draw_strands(column: bpy.types.UILayout, body: VERLET_PG_body) -> None:
    """Draws how strands of hair act on each other."""
    draw_with_unit(column, body, "strand_friction")
    column.prop(body, "strand_pressure")
    spacing = column.column()
    spacing.active = body.strand_friction > 0.0 or body.strand_pressure > 0.0
    spacing.prop(body, "strand_spacing")


def _draw_cost(column: bpy.types.UILayout, body: VERLET_PG_body) -> None:
    """Draws how much longer a bake of cloth takes for its Thickness."""
    if body.body_type == "CLOTH":
        cost = thickness_cost(cast(bpy.types.Object, body.id_data))
        draw_wrapped(column, cost, icon="SORTTIME")


def _exempt(column: bpy.types.UILayout, body: VERLET_PG_body, group: str) -> None:
    """Draws the vertex group that is exempt from the setting above; curves have none."""
    painted = simulated_object(cast(bpy.types.Object, body.id_data))
    if not is_curve(painted):
        column.prop_search(body, group, painted, "vertex_groups", icon="GROUP_VERTEX")
