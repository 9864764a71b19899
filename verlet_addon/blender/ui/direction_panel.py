"""The panel that weighs a body's simulation against its animation."""

from typing import cast

import bpy

from ..scene.cages import simulated_object
from ..scene.curve_points import is_curve
from ..scene.hair_curves import is_hair
from ..settings.properties import VERLET_PG_body
from .hair_panel import draw_following
from .panel_base import BodyPanel, draw_wrapped


class VERLET_PT_direction(BodyPanel):
    """How far the body may leave its animation, and how much of its inertia it feels."""

    bl_label = "Animation"
    bl_options = {"DEFAULT_CLOSED"}
    types = ("CLOTH", "ROPE", "SOFT", "HAIR", "FLESH")

    def fill_for(self, column: bpy.types.UILayout, body: VERLET_PG_body) -> None:
        obj = simulated_object(cast(bpy.types.Object, body.id_data))
        if is_hair(obj):
            draw_following(column, obj, body)
            return
        if body.body_type != "FLESH":
            pins = column.column()
            pins.active = bool(body.pin_group) or is_curve(obj)
            pins.prop(body, "pin_weight")
        # No curve has a maximum distance; one set by a script can be turned off here.
        if not is_curve(obj) or body.use_maximum_distance:
            _draw_distance(column, obj, body)
        column.prop(body, "inertia_share", slider=True)
        if body.body_type == "ROPE":
            column.prop(body, "use_dynamic_mesh")


def _draw_distance(column: bpy.types.UILayout, obj: bpy.types.Object, body: VERLET_PG_body) -> None:
    """Draws how far a body may leave its animation, by the vertex groups of an object."""
    column.prop(body, "use_maximum_distance")
    limit = column.column()
    limit.active = body.use_maximum_distance
    limit.prop(body, "maximum_distance")
    # The label of the property would be too long to be shown whole.
    limit.prop_search(
        body, "maximum_distance_group", obj, "vertex_groups", text="Group", icon="GROUP_VERTEX"
    )


class VERLET_PT_cage(BodyPanel):
    """The mesh that is simulated in place of the body's own, which follows it."""

    bl_label = "Cage"
    bl_options = {"DEFAULT_CLOSED"}
    for_curves = False

    def fill_for(self, column: bpy.types.UILayout, body: VERLET_PG_body) -> None:
        obj = cast(bpy.types.Object, body.id_data)
        column.prop(body, "simulate_as")
        if (cage := simulated_object(obj)) != obj:
            draw_wrapped(column, f"Settings: of {obj.name}", icon="SETTINGS")
            draw_wrapped(column, f"Mesh and vertex groups: of {cage.name}", icon="MESH_DATA")
        else:
            draw_wrapped(column, "A light mesh moves this one", icon="INFO")
