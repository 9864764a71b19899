"""The Bake panel: frame range, Live and Bake buttons, and the record of the last bake."""

from typing import Any

import bpy

from ..bake.bake import bodies, frame_range
from ..bake.memory import LARGE, needed, size_in_words
from ..bake.record import baked_deviation, baked_loops, baked_range, baked_remarks, is_baked
from ..live.control import message_of, note_changes, session_of
from ..scene.file_context import file_context
from ..scene.file_warnings import some
from ..scene.hair_curves import is_hair
from ..scene.mesh_access import point_count
from ..settings.properties import scene_properties
from ..settings.unit_texts import length_text
from ..translation.interface import translated
from .apply_operator import draw_apply
from .bake_progress import bake_in_progress, draw_progress
from .cache_buttons import draw_conversion, draw_problems, draw_resume
from .changed_bodies import changed_bodies
from .drape_operator import draw_drape
from .edit_operators import draw_edit
from .loop_range import draw_range
from .messages import draw_messages
from .panel_base import SidebarPanel, draw_wrapped
from .remarks import draw_remarks

SAMPLE = 12
"""Size of a point of a cache at a frame [B]."""


class VERLET_PT_bake(SidebarPanel):
    """Frame range, Live, Bake and Clear; the first panel, so that others never push it down.

    It is there without a body too, so that Make Soft Body below stays under the mouse.
    """

    bl_label = "Bake"

    def fill(self, column: bpy.types.UILayout, context: bpy.types.Context) -> None:
        scene = file_context(context).scene
        if bake_in_progress() is not None:
            draw_progress(column)
            return
        in_preview = scene.use_preview_range
        prefix, owner = ("frame_preview", "Preview") if in_preview else ("frame", "Scene")
        frames = column.column(align=True)
        frames.prop(scene, f"{prefix}_start", text=translated(f"{translated(owner)} Start"))
        frames.prop(scene, f"{prefix}_end", text="End")
        column.separator()
        button = column.row()
        button.scale_y = 1.5
        live = session_of(scene) is not None
        text = "End Live" if live else "Live"
        button.operator("verlet.live", text=translated(text), icon="PHYSICS", depress=live)
        column.operator("verlet.grab", icon="VIEW_PAN")
        draw_drape(column, scene)
        self.fill_bake(column, context)
        several = len(bodies(scene)) > 1
        clear = column.row(align=True)
        text = "Clear All" if several else "Clear Bake"
        clear.operator("verlet.clear_bake", text=translated(text), icon="TRASH")
        if several:
            clear.operator("verlet.clear_bake", text="Clear Selected").selected = True
        # Below the buttons that are there always, so that none of them moves under the mouse.
        self.fill_live(column, scene)
        self.fill_memory(column, scene)
        draw_apply(column, scene, file_context(context).view_layer)
        draw_resume(column, context)
        draw_edit(column, context)
        draw_conversion(column, context)
        self.fill_record(column, scene, file_context(context).view_layer)
        draw_problems(column)
        draw_messages(column)

    def fill_bake(self, column: bpy.types.UILayout, context: bpy.types.Context) -> None:
        """Draws the form of the bake, and the buttons that bake."""
        scene = file_context(context).scene
        form, several = scene_properties(scene).bake_mode, len(bodies(scene)) > 1
        if any(map(is_hair, bodies(scene))):
            form = "CACHE"
            draw_wrapped(column, "Hair is baked to a cache", icon="INFO")
        else:
            column.prop(scene_properties(scene), "bake_mode")
        if form == "COMPACT":
            column.prop(scene_properties(scene), "component_tolerance")
        button = column.row()
        button.scale_y = 1.5
        bake: Any = button.operator(
            "verlet.bake", text="Bake All" if several else "Bake", icon="REC"
        )
        buttons = [bake]
        if several:
            buttons.append(column.operator("verlet.bake", text="Bake Selected", icon="REC"))
            buttons[1].selected = True
        for each in buttons:
            if form != "RELATIVE":
                each.mode = form
            if loop := scene_properties(scene).loop_length:
                each.loop = loop

    def fill_memory(self, column: bpy.types.UILayout, scene: bpy.types.Scene) -> None:
        """Draws the memory that a bake to shape keys needs, if that is much; of hair, its cache."""
        settings, (start, end) = scene_properties(scene), frame_range(scene)
        if any(map(is_hair, every := bodies(scene))):
            size = SAMPLE * sum(map(point_count, every)) * max(end - start + 1, 0)
            draw_wrapped(
                column, f"Takes about {size_in_words(size)} on the disk", icon="DISK_DRIVE"
            )
            return
        count = max((end - start) // settings.key_step + 1, 0)
        if settings.bake_mode != "CACHE" and (need := needed(bodies(scene), count)) >= LARGE:
            draw_wrapped(column, f"Takes about {size_in_words(need)} of memory", icon="ERROR")

    def fill_live(self, column: bpy.types.UILayout, scene: bpy.types.Scene) -> None:
        """Draws the last simulated frame, and why the simulation is stale."""
        session = session_of(scene)
        if message := message_of(scene):
            draw_wrapped(column, message, icon="ERROR", alert=True)
        if session is None:
            return
        note_changes(session)
        lines = column.column(align=True)
        if session.stale:
            draw_wrapped(lines, f"Out of date: restarts at frame {session.start}", icon="INFO")
        elif scene.frame_current > session.last + 1:
            draw_wrapped(lines, f"Go to frame {session.last} to continue", icon="ERROR")
        else:
            draw_wrapped(lines, f"Simulated to {session.last}", icon="TIME")
        restarted = f"Restarted: {session.restarted}" if session.restarted else ""
        draw_wrapped(lines, session.stale or restarted, icon="BLANK1")
        if scene.sync_mode != "NONE":
            draw_wrapped(column, "Playback skips frames, but Live needs every frame", icon="ERROR")
            every = column.operator("wm.context_set_enum", text="Play Every Frame", icon="PLAY")
            every.data_path, every.value = "scene.sync_mode", "NONE"

    def fill_record(
        self,
        column: bpy.types.UILayout,
        scene: bpy.types.Scene,
        view_layer: bpy.types.ViewLayer,
    ) -> None:
        """Draws the baked frames, the remarks, and the bodies that are not as they were baked."""
        if (frames := baked_range(scene)) is None:
            return
        column.separator()
        missing = [obj.name for obj in bodies(scene) if not is_baked(obj)]
        changed = changed_bodies(scene, view_layer)
        serious = any(remark.grade == "SERIOUS" for remark in baked_remarks(scene))
        icon: Any = "ERROR" if missing or changed or serious else "CHECKMARK"
        start, end = frame_range(scene)
        text = f"Baked frames {frames[0]} to {frames[1]}"
        if loops := baked_loops(scene):
            draw_wrapped(
                column, f"Loop of {some(loops)} frames, from {frames[0]}", icon="CHECKMARK"
            )
            draw_range(column, scene)
        elif frames[0] > start or frames[1] < end:
            draw_wrapped(column, f"{text} of {start} to {end}", icon="TIME")
        else:
            draw_wrapped(column, text, icon=icon)
        if missing:
            draw_wrapped(column, f"Not baked: {some(missing)}", icon="BLANK1")
        if changed:
            draw_wrapped(column, f"Changed since: {some([*changed])}", icon="BLANK1")
            reasons = dict.fromkeys(reason for each in changed.values() for reason in each)
            draw_wrapped(column, some([*reasons]), icon="BLANK1")
        elif not missing and any(map(is_baked, bodies(scene))):
            draw_wrapped(column, "Settings, meshes, motion unchanged", icon="BLANK1")
        worst, rms = baked_deviation(scene)
        if worst >= 1e-6:
            text = f"Within {length_text(worst)}, {length_text(rms)} rms"
            draw_wrapped(column, text, icon="BLANK1")
        draw_remarks(column, scene)


class VERLET_PT_bake_options(SidebarPanel):
    """Settings of a bake that a first one does without."""

    bl_label = "Options"
    bl_parent_id = "VERLET_PT_bake"
    bl_options = {"DEFAULT_CLOSED"}

    def fill(self, column: bpy.types.UILayout, context: bpy.types.Context) -> None:
        settings = scene_properties(file_context(context).scene)
        column.prop(settings, "settle_frames")
        step = column.column()
        step.active = settings.bake_mode != "CACHE"
        step.prop(settings, "key_step")
        column.prop(settings, "loop_length")
