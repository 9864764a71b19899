"""The Drape operator: until all rests from a script, with progress and Esc from the interface."""

from time import monotonic
from typing import Any, cast

import bpy
from bpy.props import BoolProperty, FloatProperty

from ...core.drape import REST_DISTANCE, REST_SECONDS, Settling
from ..bake.bake import taking_part
from ..live.drape import Drape
from ..live.drape_files import is_draped
from ..scene.file_context import file_context
from ..settings.properties import scene_properties
from ..settings.unit_texts import speed_text
from ..translation.interface import translated
from .bake_progress import DRAPE, Task, show_progress
from .colliding import count_of_colliders
from .messages import report
from .modal_operator import ModalOperator
from .operators import (
    OfSelected,
    chosen_bodies,
    has_bodies,
    undoable_mode,
)
from .view_events import is_over_view


class VERLET_OT_drape(OfSelected, ModalOperator):
    """Let the soft bodies fall and fold until they rest, while the timeline stands still"""

    bl_idname = "verlet.drape"
    bl_label = "Drape"
    # Not REGISTER: Adjust Last Operation would drape again at every change of a number.
    bl_options = {"UNDO"}

    seconds: FloatProperty(
        name="Limit",
        description="Longest time that is simulated, if the bodies do not come to rest before",
        unit="TIME_ABSOLUTE",
        default=20.0,
        min=0.01,
        soft_max=120.0,
        options={"SKIP_SAVE"},
    )
    slide: BoolProperty(
        name="Slide into Place",
        description="Let cloth and ropes slide where they land, as if smoothed out by hand: their "
        "friction grows from little to its value meanwhile. Without, they stay where they first "
        "touch, and may bridge corners",
        default=True,
        options={"SKIP_SAVE"},
    )
    selected: BoolProperty(
        name="Selected",
        description="Drape only the selected bodies; the others act only as colliders",
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return has_bodies(cls, context) and undoable_mode(cls, context)

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: Any) -> str:
        """The tooltip, which says of the button beside it what it does otherwise."""
        how = "" if properties.slide else ", without sliding: they stay where they first touch"
        return translated(cls.__doc__ or "") + translated(how)

    def _keeps(self, context: bpy.types.Context, event: bpy.types.Event) -> bool:
        """Whether a press is that of Enter, or a click into a 3D view."""
        window = cast(bpy.types.Window, context.window)
        click = event.type == "LEFTMOUSE" and not event.alt and is_over_view(window, event)
        return click or super()._keeps(context, event)

    def _cancels(self, event: bpy.types.Event) -> bool:
        """Whether a press is that of Esc, or of the right mouse button."""
        return event.type in ("ESC", "RIGHTMOUSE")

    def _task(self) -> Task:
        """Labels of the drape in progress."""
        return DRAPE

    def _start(self, context: bpy.types.Context) -> None:
        """Reads the scene."""
        here = file_context(context)
        chosen = chosen_bodies(context, selected=self.selected, otherwise="drape all of them")
        self._started = monotonic()
        self._last: Settling | None = None
        self._remarks: list[str] = []
        bodies = taking_part(chosen, here.view_layer)
        self._drape = Drape(here.scene, here.view_layer, bodies, slide=self.slide)

    def _is_on_the_way(self) -> bool:
        """Whether the bodies move, and the limit is not reached."""
        last = self._last
        return last is None or not (last.is_at_rest or self._reached_limit(last))

    def _reached_limit(self, last: Settling) -> bool:
        """Whether as much time is simulated as may be; Blender's own number is rounded."""
        return bool(last.seconds >= self.seconds * (1.0 - 1e-6))

    def _step(self) -> bool:
        """Simulates the next moment; once the bodies rest, shows them."""
        if not self._is_on_the_way():
            self._show_bodies()
            return False
        self._last = next(self._drape.settlings)
        self._remarks += self._last.frame.remarks
        return True

    def _stop(self, _context: bpy.types.Context) -> bool:
        """Ends the drape where the bodies are."""
        self._show_bodies()
        return False

    def _show(self, context: bpy.types.Context) -> None:
        """Shows the bodies, the time simulated, and how fast they still are."""
        self._show_bodies()
        if (last := self._last) is not None:
            text = f"{last.seconds:.1f} s, fastest {speed_text(last.speed)}"
            show_progress(context, min(last.seconds / self.seconds, 1.0), text, DRAPE)

    def _show_bodies(self) -> None:
        """Shows the bodies in the viewports."""
        if self._last is not None:
            self._drape.show(self._last.frame.positions)

    def _finish(self, _context: bpy.types.Context) -> None:
        """Leaves the bodies as they are shown, and reports whether they rest."""
        self._drape.accept()
        for remark in self._remarks:
            report(self, "WARNING", remark)
        if self._last is not None:
            self._tell(self._last)

    def _undo(self, _context: bpy.types.Context) -> None:
        """Shows the bodies as they were before."""
        self._drape.cancel()

    def _tell(self, last: Settling) -> None:
        """Reports whether the bodies rest, and what they collide with."""
        work = f"{last.seconds:.1f} s, simulated in {monotonic() - self._started:.1f} s"
        if last.is_at_rest:
            share = f"{REST_DISTANCE:.1%} of its size within {REST_SECONDS:g} s"
            text = f"At rest after {work}: no body moved by more than {share}"
            report(self, "INFO", text + self._collisions())
        elif self._reached_limit(last):
            report(
                self,
                "WARNING",
                f"Not at rest at the limit of {work}: {last.fastest} still moves at "
                f"{speed_text(last.speed)}; drape again to go on{self._collisions()}",
            )
        else:
            report(self, "INFO", f"Kept after {work}, not at rest{self._collisions()}")

    def _collisions(self) -> str:
        """Text on what the bodies collide with, to append to a report."""
        stage = self._drape.stage
        if stage.collider_keys:
            return f"; {count_of_colliders(len(stage.collider_keys))}"
        return "" if scene_properties(stage.scene).use_ground else "; nothing collides"


def draw_drape(column: bpy.types.UILayout, scene: bpy.types.Scene) -> None:
    """Draws the Drape button and, where a drape is shown, the one that discards it."""
    row = column.row(align=True)
    row.scale_y = 1.5
    row.operator("verlet.drape", icon="MOD_CLOTH")
    cast(Any, row.operator("verlet.drape", text="", icon="FREEZE")).slide = False
    if any(map(is_draped, scene.objects)):
        row.operator("verlet.reset", text="Discard", icon="X")
