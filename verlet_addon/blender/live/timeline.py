"""The frames of a live simulation, drawn in the timeline as Blender draws its caches."""

from typing import Any

import bpy
import gpu
from gpu_extras.batch import batch_for_shader

from ..bake.bake import frame_range
from ..scene.file_context import file_context
from .control import session_of

_COLOR = (0.95, 0.55, 0.15)
_RANGE, _SIMULATED, _STALE = 0.1, 0.4, 0.15
"""Opacity of the range to simulate, of simulated frames, and of outdated frames."""
_HEIGHT = 4.0
"""Height of the bar, in pixels at an interface scale of 1."""

_handlers: list[Any] = []


def register_timeline() -> None:
    """Adds the draw handlers of the bar in timelines and dope sheets."""
    if not bpy.app.background:
        space: Any = bpy.types.SpaceDopeSheetEditor
        _handlers.append(space.draw_handler_add(_draw, (), "WINDOW", "POST_PIXEL"))


def unregister_timeline() -> None:
    """Removes the draw handlers of the bar."""
    while _handlers:
        bpy.types.SpaceDopeSheetEditor.draw_handler_remove(_handlers.pop(), "WINDOW")


def bars(first: int, last: int, start: int, end: int, *, stale: bool) -> list[tuple[float, ...]]:
    """(from, to, strength) of each bar along frames, for frames `first` to `last` simulated.

    Parameters
    ----------
    start, end : of the range that the scene plays.
    """
    strength = _STALE if stale else _SIMULATED
    return [(start, end + 1, _RANGE), (first, last + 1, strength)]


def _draw() -> None:
    """Draws in one editor; Blender calls this."""
    context = bpy.context
    scene = file_context(context).scene
    session = session_of(scene)
    if session is None or context.region is None:
        return
    view: Any = context.region.view2d
    height = _HEIGHT * file_context(context).preferences.system.ui_scale
    found = bars(session.start, session.last, *frame_range(scene), stale=bool(session.stale))
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    gpu.state.blend_set("ALPHA")
    for begin, end, strength in found:
        left, right = (view.view_to_region(frame, 0, clip=False)[0] for frame in (begin, end))
        corners = [(left, 0), (right, 0), (right, height), (left, height)]
        batch = batch_for_shader(shader, "TRI_FAN", {"pos": corners})
        shader.uniform_float("color", (*_COLOR, strength))
        batch.draw(shader)
    gpu.state.blend_set("NONE")
