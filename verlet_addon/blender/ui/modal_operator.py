"""Operators that work to the end from a script, and step by step, with Esc, in the interface."""

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, cast

import bpy

from ...core.errors import VerletError
from ..bake.memory import memory_errors_named
from ..scene.file_context import file_context
from ..settings.faults import faults_kept
from .bake_progress import Task, end_progress, show_progress
from .messages import report
from .operators import cancelled_by_errors
from .view_events import moves_view

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems


def seconds_of_work(redraw: float) -> float:
    """Time to work between two redraws, given the duration of a redraw [s].

    Redrawing takes a fifth of it; it is 3 s at most, so that Esc is answered in time.
    """
    return min(max(5 * redraw, 0.05), 3.0)


class ModalOperator(bpy.types.Operator):
    """An operator that works in steps, during which the window stays responsive."""

    _asked = False
    """Whether a dialog asked for its properties, whose OK calls `execute`."""
    _is_started = False
    """Whether the work goes on by a timer; Blender also calls `cancel` where a dialog is left."""

    def _start(self, context: bpy.types.Context) -> None:
        """Checks all that can be checked, and gets ready for the first step."""
        raise NotImplementedError

    def _step(self) -> bool:
        """Does the next part of the work; False if there was none left."""
        raise NotImplementedError

    def _show(self, context: bpy.types.Context) -> None:
        """Shows the progress."""
        raise NotImplementedError

    def _stop(self, context: bpy.types.Context) -> bool:
        """Ends the work early and keeps what there is; True where there is nothing yet.

        Called only where the task has a label for it.
        """
        raise NotImplementedError

    def _finish(self, context: bpy.types.Context) -> None:
        """Leaves the result, and reports it."""
        raise NotImplementedError

    def _undo(self, context: bpy.types.Context) -> None:
        """Leaves all as it was before the start."""
        raise NotImplementedError

    def _task(self) -> Task:
        """Labels of the work in progress."""
        raise NotImplementedError

    def _keeps(self, _context: bpy.types.Context, event: bpy.types.Event) -> bool:
        """Whether a press is that of Enter where it ends the work early and keeps what there is."""
        return bool(self._task().keep) and event.type in ("RET", "NUMPAD_ENTER")

    def _cancels(self, event: bpy.types.Event) -> bool:
        """Whether a press is that of Esc."""
        return event.type == "ESC"

    def invoke(
        self, context: bpy.types.Context, _event: bpy.types.Event
    ) -> "set[OperatorReturnItems]":
        return self.execute(context) if bpy.app.background else self._run_modal(context)

    def _ask(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        """Opens a dialog with the properties, after which the work starts."""
        self._asked = not bpy.app.background
        return file_context(context).window_manager.invoke_props_dialog(self)

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        if self._asked:
            return self._run_modal(context)
        self._start(context)
        try:
            while self._step():
                pass
        except BaseException:
            self._undo(context)
            raise
        self._finish(context)
        return {"FINISHED"}

    @cancelled_by_errors
    def _run_modal(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        """Starts the work, which goes on by a timer."""
        self._start(context)
        self._is_started, self._paused = True, monotonic()
        manager = file_context(context).window_manager
        self._timer = manager.event_timer_add(0.01, window=context.window)
        show_progress(context, 0.0, "reading the scene", self._task())
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(
        self, context: bpy.types.Context, event: bpy.types.Event
    ) -> "set[OperatorReturnItems]":
        with faults_kept():
            return self._answer(context, event)

    def _answer(
        self, context: bpy.types.Context, event: bpy.types.Event
    ) -> "set[OperatorReturnItems]":
        """Answers one event."""
        if event.type == "TIMER":
            return self._go_on(context, self._advance)
        if event.value == "PRESS" and self._keeps(context, event):
            return self._go_on(context, self._stop)
        if event.value == "PRESS" and self._cancels(event):
            self.cancel(context)
            report(self, "INFO", f"{self.bl_label} cancelled")
            return {"CANCELLED"}
        # All other events are blocked, since they could edit the scene.
        window = cast(bpy.types.Window, context.window)
        return {"PASS_THROUGH"} if moves_view(window, event) else {"RUNNING_MODAL"}

    def _go_on(
        self, context: bpy.types.Context, work: Callable[[bpy.types.Context], bool]
    ) -> "set[OperatorReturnItems]":
        """Does a part of the work; ends it on an error, or once `work` returns False."""
        try:
            with memory_errors_named(self.bl_label):
                running = work(context)
        except VerletError as error:
            self.cancel(context)
            report(self, "ERROR", str(error))
            return {"CANCELLED"}
        except Exception:
            self.cancel(context)
            raise
        if running:
            return {"RUNNING_MODAL"}
        self._end_display(context)
        self._finish(context)
        return {"FINISHED"}

    def _advance(self, context: bpy.types.Context) -> bool:
        """Works until the next redraw and shows the progress; returns whether work remains."""
        begin = monotonic()
        pause = begin + seconds_of_work(begin - self._paused)
        while self._step():
            if monotonic() >= pause:
                self._paused = monotonic()
                self._show(context)
                return True
        return False

    def cancel(self, context: bpy.types.Context) -> None:
        """Ends the work, with all as before, and its progress display."""
        if self._is_started:
            self._undo(context)
            self._end_display(context)

    def _end_display(self, context: bpy.types.Context) -> None:
        """Removes the timer and the progress display."""
        file_context(context).window_manager.event_timer_remove(self._timer)
        end_progress(context)
