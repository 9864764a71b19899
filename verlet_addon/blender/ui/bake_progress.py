"""Progress of the modal bake: shown in the panel and in the status bar, and checked by polls."""

from dataclasses import dataclass
from typing import Any, cast

import bpy

from ..scene.file_context import file_context


@dataclass(frozen=True)
class BakeProgress:
    """Progress of a bake."""

    share: float
    """Share of all frames, 0 to 1."""
    text: str
    """Frame number and time left."""


_in_progress: list[BakeProgress] = []
"""Progress of the running modal bake; empty without one."""


def bake_in_progress() -> BakeProgress | None:
    """The progress of the modal bake; None while none runs."""
    return _in_progress[0] if _in_progress else None


def show_progress(context: bpy.types.Context, share: float, text: str) -> None:
    """Shows the progress at the mouse pointer, in the status bar and in the Bake panel."""
    if not _in_progress:
        file_context(context).window_manager.progress_begin(0, 1)
        # Blender, unlike its stubs, also accepts a function that draws the status bar.
        cast(Any, context.workspace).status_text_set(_draw_status)
    _in_progress[:] = [BakeProgress(share, text)]
    file_context(context).window_manager.progress_update(share)
    _redraw_sidebars(context)


def end_progress(context: bpy.types.Context) -> None:
    """Removes the progress display."""
    if _in_progress:
        _in_progress.clear()
        file_context(context).window_manager.progress_end()
        cast(Any, context.workspace).status_text_set(None)
        _redraw_sidebars(context)


def draw_progress(column: bpy.types.UILayout) -> None:
    """Draws the panel's progress bar, and the keys that end the bake."""
    if (progress := bake_in_progress()) is not None:
        column.progress(factor=progress.share, text=f"Baking: {progress.text}")
        column.label(text="  Cancel", icon="EVENT_ESC")
        column.label(text="Keep the frames so far", icon="EVENT_RETURN")


def _draw_status(header: Any, _context: bpy.types.Context) -> None:
    """Draws the status bar while a bake runs."""
    progress = bake_in_progress()
    row = header.layout.row(align=False)
    row.label(text="  Cancel Bake", icon="EVENT_ESC")
    row.label(text="Keep the Frames so far", icon="EVENT_RETURN")
    row.label(text="Rotate View", icon="MOUSE_MMB")
    if progress is not None:
        row.label(text=f"Verlet: {progress.text}")


def _redraw_sidebars(context: bpy.types.Context) -> None:
    """Redraws the sidebars and the properties editors of all windows, and the status bar."""
    for window in file_context(context).window_manager.windows:
        for area in window.screen.areas:
            for region in area.regions:
                if region.type == "UI" or area.type == "PROPERTIES":
                    region.tag_redraw()
