"""The panels of time: its scale, the steps, and what they do."""

import bpy

from ..scene.file_context import file_context
from ..settings.core_settings import steps_per_frame
from ..settings.properties import scene_properties
from .panel_base import SidebarPanel


class VERLET_PT_simulation(SidebarPanel):
    """Time scale and substeps of the scene."""

    bl_label = "Simulation"
    bl_options = {"DEFAULT_CLOSED"}

    def fill(self, column: bpy.types.UILayout, context: bpy.types.Context) -> None:
        scene = file_context(context).scene
        settings = scene_properties(scene)
        column.prop(settings, "time_scale")
        column.prop(settings, "use_steps_per_second")
        if settings.use_steps_per_second:
            column.prop(settings, "steps_per_second")
            column.label(text=self.steps_text(scene))
        else:
            column.prop(settings, "substeps")

    @staticmethod
    def steps_text(scene: bpy.types.Scene) -> str:
        """The number of steps in a frame at the scene's frame rate."""
        fps = scene.render.fps / scene.render.fps_base
        return f"{steps_per_frame(scene)} per frame, at {fps:.5g} fps"


class VERLET_PT_advanced(SidebarPanel):
    """Solver settings of the scene."""

    bl_label = "Advanced"
    bl_parent_id = "VERLET_PT_simulation"
    bl_options = {"DEFAULT_CLOSED"}

    def fill(self, column: bpy.types.UILayout, context: bpy.types.Context) -> None:
        settings = scene_properties(file_context(context).scene)
        column.prop(settings, "iterations")
        early = column.column()
        early.active = settings.iterations > 1
        early.prop(settings, "tolerance")
        column.prop(settings, "integrator")
