"""The Bake operator: runs to the end from a script, and modally in the interface."""

from collections import deque
from collections.abc import Generator, Sequence
from time import monotonic
from typing import TYPE_CHECKING

import bpy
from bpy.props import BoolProperty, IntProperty

from ...core.remark import graded
from ..bake.bake import frame_range, taking_part
from ..bake.cautions import cautions
from ..bake.drivers import DriverWatch
from ..bake.progress import Progress
from ..bake.record import remember_remarks
from ..live.control import hand_back
from ..scene.file_context import file_context
from ..settings.overlay_properties import overlay_properties
from ..settings.properties import scene_properties
from ..settings.unit_texts import length_text
from .bake_options import BakeOptions
from .bake_preview import LiveView
from .bake_progress import BAKE, CACHE, Task, show_progress
from .colliding import costliest_search, count_of_colliders
from .messages import report
from .modal_operator import ModalOperator
from .operators import (
    OfSelected,
    cancelled_by_errors,
    chosen_bodies,
    has_bodies,
    undoable_mode,
)

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems


class VERLET_OT_bake(BakeOptions, OfSelected, ModalOperator):
    """Simulate all bodies of the scene that are switched on and keep the motion"""

    bl_idname = "verlet.bake"
    bl_label = "Bake"
    # Not REGISTER: Adjust Last Operation would bake again at every change of a number.
    bl_options = {"UNDO"}

    frame_start: IntProperty(
        name="Start",
        description="First frame; the scene's own if not given",
        default=1,
    )
    frame_end: IntProperty(
        name="End",
        description="Last frame; the scene's own if not given",
        default=250,
    )
    selected: BoolProperty(
        name="Selected",
        description="Bake only the selected bodies; the others keep their bakes, and act "
        "only as colliders",
        # Saved, the next bake of all bodies would also bake the selected ones alone.
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return has_bodies(cls, context) and undoable_mode(cls, context)

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        started, scene = monotonic(), file_context(context).scene
        try:
            (last,) = deque(self._begin(context), maxlen=1)
        except BaseException:
            hand_back(scene, baked=False)
            raise
        hand_back(scene, baked=True)
        self._tell(last, seconds=monotonic() - started)
        return {"FINISHED"}

    def _start(self, context: bpy.types.Context) -> None:
        """Starts the bake, and shows its bodies in the viewports."""
        self._bake = self._begin(context)
        self._last: Progress | None = None
        self._started = monotonic()
        self._view = LiveView(file_context(context).scene, self._taking_part)

    def _step(self) -> bool:
        """Simulates the next frame."""
        if (progress := next(self._bake, None)) is None:
            return False
        if self._last is None:
            self._first_done = monotonic()
        self._last = progress
        return True

    def _keeps(self, context: bpy.types.Context, event: bpy.types.Event) -> bool:
        """Whether a press is that of Enter, or of Esc where it keeps the frames so far."""
        return super()._keeps(context, event) or (event.type == "ESC" and self._can_resume())

    def _stop(self, _context: bpy.types.Context) -> bool:
        """Ends the bake at the last simulated frame and writes it; True where there is none."""
        if self._last is None:
            return True
        try:
            self._last = self._bake.send(True)
        except StopIteration:
            return False
        return True

    def _finish(self, context: bpy.types.Context) -> None:
        """Ends the live simulation that the bake replaces, and reports."""
        hand_back(file_context(context).scene, baked=True)
        self._view.close()
        if self._last is not None:
            self._tell(self._last, seconds=monotonic() - self._started)

    def _undo(self, context: bpy.types.Context) -> None:
        """Ends the bake without writing."""
        self._bake.close()
        hand_back(file_context(context).scene, baked=False)
        self._view.close()

    def _begin(self, context: bpy.types.Context) -> Generator[Progress, bool | None, None]:
        """Checks the bodies, reports warnings and returns the bake's generator."""
        here = file_context(context)
        start, end = frame_range(here.scene)
        given = self.properties.is_property_set
        self._first = self.frame_start if given("frame_start") else start
        chosen = chosen_bodies(context, selected=self.selected, otherwise="bake all of them")
        self._taking_part = taking_part(chosen, here.view_layer)
        self._end = self.frame_end if given("frame_end") else end
        self._drivers = DriverWatch(here.view_layer)
        self._cautions = self._drivers.news(here.view_layer)
        self._warn(self._cautions)
        running = self.start_bake(here, self._taking_part, self._first, self._end)
        need = self.large_need(here, self._taking_part, self._first, self._end)
        further = [*need, *cautions(here.scene, here.view_layer, chosen)]
        self._warn(further)
        self._cautions += further
        return running

    def _task(self) -> Task:
        """Labels of the bake in progress."""
        return CACHE if self.mode == "CACHE" and not self.loop else BAKE

    def _can_resume(self) -> bool:
        """Whether Esc keeps the frames so far: a cache can be resumed."""
        last = self._last
        kept = self.mode == "CACHE" and not self.loop
        return kept and last is not None and last.frame >= self._first

    def _show(self, context: bpy.types.Context) -> None:
        """Shows the progress, and the bodies in the viewports."""
        if (progress := self._last) is None:
            return
        overlay = overlay_properties(context.workspace)
        if overlay.show_strain:
            scale = overlay.strain_scale / 100.0
            self._view.show(progress.positions, progress.rest_lengths, scale=scale)
        else:
            self._view.show(progress.positions)
        text = progress.describe(seconds=monotonic() - self._first_done)
        show_progress(context, progress.done / progress.total, text, self._task())

    def _warn(self, sentences: Sequence[str]) -> None:
        """Reports remarks by their grade; a serious one is no error, which would end a script."""
        for sentence in sentences:
            grade = graded(sentence).grade
            report(self, "INFO" if grade == "INFO" else "WARNING", sentence)

    def _tell(self, last: Progress, *, seconds: float) -> None:
        """Reports frames, duration, largest strain and penetration, and stores the remarks."""
        what = f"frames {self._first} to {last.frame}"
        if self.loop:
            what = f"a loop of {self.loop} frames ({last.frame - self.loop} to {last.frame - 1})"
        text = f"Baked {what} in {seconds:.1f} s"
        if any(map(len, last.rest_lengths)):  # of water and flesh none is measured
            text += f"; {_stretch(last)}"
        if last.worst_penetration is not None:
            text += f", {_penetration(last.worst_penetration)}"
        here = file_context(bpy.context)
        if last.colliders:
            text += f"; {count_of_colliders(last.colliders)}"
        elif last.worst_penetration is None and not scene_properties(here.scene).use_ground:
            text += "; nothing collides"
        if costliest := costliest_search(last.contact_searches, last.done):
            text += f"; {costliest}"
        if self.mode == "CACHE" and last.frame < self._end and not self.loop:
            text += f"; Resume goes on at frame {last.frame + 1}"
        report(self, "INFO", text)
        remarks = [*self._drivers.news(here.view_layer), *last.remarks]
        self._warn(remarks)
        remember_remarks(here.scene, [*self._cautions, *remarks])


def _stretch(last: Progress) -> str:
    """Clause on the largest strain."""
    if last.worst_stretch < 0.0005:
        return "no edge stretched"
    return f"no edge stretched by more than {last.worst_stretch:.1%} ({last.most_stretched})"


def _penetration(depth: float) -> str:
    """Clause on the deepest penetration [m]."""
    if depth < 1e-5:
        return "no contact penetrated"
    return f"no contact penetrated by more than {length_text(depth)}"
