"""Progress of a modal operator, shown in the panel and in the status bar; polls check it."""

from dataclasses import dataclass
from typing import Any, cast

import bpy

from ..scene.file_context import file_context
from ..translation.interface import translated


@dataclass(frozen=True)
class Task:
    """Labels of the work of a modal operator."""

    name: str
    cancel: str
    keep: str
    """Empty where nothing can be kept before the end."""


BAKE = Task("Baking", cancel="Cancel Bake", keep="Keep the Frames so far")
CACHE = Task("Baking", cancel="Stop, to Resume Later", keep="Keep the Frames so far")
DRAPE = Task("Draping", cancel="Cancel Drape", keep="Keep the Shape so far")
FIT = Task("Fitting", cancel="Cancel Fit to Morphs", keep="")
BONES = Task("Bake to Bones", cancel="Cancel Bake to Bones", keep="")


@dataclass(frozen=True)
class BakeProgress:
    """Progress of a modal operator."""

    share: float
    """Share of all frames, 0 to 1."""
    text: str
    """Frame number and time left."""
    task: Task = BAKE


_in_progress: list[BakeProgress] = []
"""Progress of the running modal operator; empty without one."""


def bake_in_progress() -> BakeProgress | None:
    """The progress of the modal operator; None while none runs."""
    return _in_progress[0] if _in_progress else None


def show_progress(context: bpy.types.Context, share: float, text: str, task: Task = BAKE) -> None:
    """Shows the progress at the mouse pointer, in the status bar and in the Bake panel."""
    if not _in_progress:
        file_context(context).window_manager.progress_begin(0, 1)
    # Blender, unlike its stubs, also accepts a function that draws the status bar; to set it anew
    # is the way to redraw it, as it belongs to no screen.
    cast(Any, context.workspace).status_text_set(_draw_status)
    _in_progress[:] = [BakeProgress(share, text, task)]
    file_context(context).window_manager.progress_update(share)
    _redraw(context)


def end_progress(context: bpy.types.Context) -> None:
    """Removes the progress display."""
    if _in_progress:
        _in_progress.clear()
        file_context(context).window_manager.progress_end()
        cast(Any, context.workspace).status_text_set(None)
        _redraw(context)


def draw_progress(column: bpy.types.UILayout) -> None:
    """Draws the panel's progress bar, and the keys that end the work."""
    if (progress := bake_in_progress()) is not None:
        column.progress(
            factor=progress.share, text=translated(f"{progress.task.name}: {progress.text}")
        )
        _draw_keys(column, progress.task)


def _draw_keys(layout: bpy.types.UILayout, task: Task) -> None:
    """Draws the keys that end the work, and what they do."""
    layout.label(text=f"  {translated(task.cancel)}", icon="EVENT_ESC")
    if task.keep:
        layout.label(text=task.keep, icon="EVENT_RETURN")


def _draw_status(header: Any, _context: bpy.types.Context) -> None:
    """Draws the status bar while a modal operator runs."""
    if (progress := bake_in_progress()) is None:
        return
    row = header.layout.row(align=False)
    _draw_keys(row, progress.task)
    row.label(text="Rotate View", icon="MOUSE_MMB")
    row.label(text=f"Verlet: {translated(progress.text)}")


def _redraw(context: bpy.types.Context) -> None:
    """Redraws the 3D views, with their sidebars, and the properties editors of all windows.

    A mesh that is only tagged is evaluated, and no view redrawn; anti-aliasing alone, which goes on
    for a few redraws after each, hides that where redraws are slow.
    """
    for window in file_context(context).window_manager.windows:
        for area in window.screen.areas:
            if area.type in ("VIEW_3D", "PROPERTIES"):
                area.tag_redraw()
