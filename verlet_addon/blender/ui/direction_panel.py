"""The panel that weighs a body's simulation against its animation."""

from typing import cast

import bpy

from ..scene.cages import simulated_object
from ..settings.properties import VERLET_PG_body
from .panel_base import BodyPanel


class VERLET_PT_direction(BodyPanel):
    """How far the body may leave its animation, and how much of its inertia it feels."""

    bl_label = "Animation"
    bl_options = {"DEFAULT_CLOSED"}
    types = ("CLOTH", "ROPE", "SOFT")

    def fill_for(self, column: bpy.types.UILayout, body: VERLET_PG_body) -> None:
        pins = column.column()
        pins.active = bool(body.pin_group)
        pins.prop(body, "pin_weight")
        column.prop(body, "use_maximum_distance")
        limit = column.column()
        limit.active = body.use_maximum_distance
        limit.prop(body, "maximum_distance")
        obj = simulated_object(cast(bpy.types.Object, body.id_data))
        # The label of the property would be too long to be shown whole.
        limit.prop_search(
            body, "maximum_distance_group", obj, "vertex_groups", text="Group", icon="GROUP_VERTEX"
        )
        column.prop(body, "inertia_share", slider=True)


class VERLET_PT_cage(BodyPanel):
    """The mesh that is simulated in place of the body's own, which follows it."""

    bl_label = "Cage"
    bl_options = {"DEFAULT_CLOSED"}
    for_curves = False

    def fill_for(self, column: bpy.types.UILayout, body: VERLET_PG_body) -> None:
        obj = cast(bpy.types.Object, body.id_data)
        column.prop(body, "simulate_as")
        if (cage := simulated_object(obj)) != obj:
            column.label(text=f"Settings: of {obj.name}", icon="SETTINGS")
            column.label(text=f"Mesh and vertex groups: of {cage.name}", icon="MESH_DATA")
        else:
            column.label(text="A light mesh moves this one", icon="INFO")
