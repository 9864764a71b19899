"""Options of the Bake operator: form of the bake, resume and loop; start of a bake with them."""

from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ...core.errors import SettingsError
from ..bake.bake import bake, baked_frames
from ..bake.cache_bake import EASE_FRAMES, bake_cache, check_cache_step
from ..bake.cache_folder import saved_file
from ..bake.forms import KeyForm
from ..bake.loop_bake import bake_loop
from ..bake.memory import large_need
from ..bake.progress import Progress
from ..live.control import take_over
from ..scene.file_context import FileContext
from ..scene.hair_curves import is_hair
from ..settings.properties import scene_properties
from ..settings.scene_properties_group import BAKE_MODES

Running = Generator[Progress, bool | None, None]
"""A bake in progress."""


class BakeOptions:
    """Properties of operators that bake."""

    mode: EnumProperty(
        name="Mode",
        description="Form in which the motion is saved; hair is saved as a cache",
        items=BAKE_MODES,
        default="RELATIVE",
        options={"SKIP_SAVE"},
    )
    resume: BoolProperty(
        name="Resume",
        description="Go on where a cache of these bodies ends, or at From Frame",
        # Saved, the next bake would go on with a cache instead of making one.
        options={"SKIP_SAVE"},
    )
    from_frame: IntProperty(
        name="From Frame",
        description="With Resume, the first frame to simulate again, with the scene as it is now; "
        "0 is the one after the last of the cache",
        default=0,
        options={"SKIP_SAVE"},
    )
    edited: BoolProperty(
        name="Edited",
        description="With From Frame, draw the bodies to that frame as it was edited by hand, and "
        "go on from there",
        options={"SKIP_SAVE"},
    )
    ease_frames: IntProperty(
        name="Ease Frames",
        description="With Edited, number of frames before that frame over which bodies are drawn "
        "to the edited shape; these frames change too",
        default=EASE_FRAMES,
        min=1,
        options={"SKIP_SAVE"},
    )
    step: IntProperty(
        name="Step",
        description="Frames from one shape key to the next; the scene's own if not given",
        default=1,
        soft_min=1,
    )
    tolerance: FloatProperty(
        name="Tolerance",
        description="How far components may leave any vertex from the simulation at any frame; the "
        "scene's own if not given",
        default=0.001,
        precision=4,
        subtype="DISTANCE",
    )
    loop: IntProperty(
        name="Loop",
        description="Number of frames that repeat before and after, as a loop without a seam; it "
        "is simulated twice. 0 bakes the range as it is",
        default=0,
        min=0,
        options={"SKIP_SAVE"},
    )

    def start_bake(
        self, here: FileContext, objects: Sequence[bpy.types.Object], start: int, end: int
    ) -> Running:
        """Starts the bake of objects over a range of frames.

        Live simulation pauses, and ends with the bake.
        """
        if not self._is_given("mode") and any(map(is_hair, objects)):
            self.mode = "CACHE"  # the one form that hair has
        if self._is_given("step") and self.mode == "CACHE":
            check_cache_step(self.step)
        options: Any = {"frame_start": start, "frame_end": end}
        if self.loop:
            return self._start_loop(here, objects, options)
        if self.mode == "CACHE":
            options |= {"resume": self.resume, "from_frame": self.from_frame}
            options |= {"edited": self.edited, "ease_frames": self.ease_frames}
            running = bake_cache(
                here.scene, here.view_layer, objects, blend=saved_file(), **options
            )
            take_over(here.scene, objects, start)
            return running
        if self.resume or self.from_frame or self.edited:
            raise SettingsError("Only a bake to a cache can be resumed; set the mode to CACHE")
        known = take_over(here.scene, objects, start)
        options |= {"step": self._chosen_step(here.scene), "simulated": known}
        return bake(here.scene, here.view_layer, objects, form=self._form(here.scene), **options)

    def _start_loop(
        self, here: FileContext, objects: Sequence[bpy.types.Object], options: dict[str, Any]
    ) -> Running:
        """Starts the bake of a loop."""
        if self.resume or self.from_frame or self.edited:
            raise SettingsError("A loop cannot be resumed; set Loop to 0, or leave out resume")
        form: KeyForm | Path = saved_file() if self.mode == "CACHE" else self._form(here.scene)
        step = 1 if self.mode == "CACHE" else self._chosen_step(here.scene)
        running = bake_loop(
            *(here.scene, here.view_layer, objects),
            length=self.loop,
            form=form,
            step=step,
            **options,
        )
        take_over(here.scene, objects, options["frame_start"])
        return running

    def large_need(
        self, here: FileContext, objects: Sequence[bpy.types.Object], start: int, end: int
    ) -> list[str]:
        """One sentence on the memory of the bake, if it is large."""
        if self.mode == "CACHE":
            return []
        return large_need(objects, len(baked_frames(start, end, self._chosen_step(here.scene))))

    def _chosen_step(self, scene: bpy.types.Scene) -> int:
        """Frames from one shape key to the next."""
        return int(self.step if self._is_given("step") else scene_properties(scene).key_step)

    def _form(self, scene: bpy.types.Scene) -> KeyForm:
        """The form of shape keys."""
        own = self._is_given("tolerance")
        tolerance = self.tolerance if own else scene_properties(scene).component_tolerance
        return KeyForm(self.mode, tolerance)

    def _is_given(self, name: str) -> bool:
        """Whether a property was set by the caller."""
        operator: Any = self
        return bool(operator.properties.is_property_set(name))
