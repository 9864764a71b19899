"""The buttons and lines of the Bake panel that concern caches."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import bpy

from ..bake.bake import bodies, frame_range, taking_part
from ..bake.bake_conversion import convertible
from ..bake.cache import Cache
from ..bake.cache_folder import find_cache, shown_folders
from ..bake.cache_handlers import problems
from ..bake.record import baked_objects
from ..scene.file_context import file_context
from ..settings.properties import scene_properties
from ..settings.scene_properties_group import BAKE_MODES
from ..translation.interface import translated
from .overlay.drawing_cache import Changes, kept
from .panel_base import draw_wrapped


def part_of_cache(context: bpy.types.Context) -> Cache | None:
    """The cache that a bake of the scene can go on with; None without one.

    It is looked for on the disk, and so only after changes.
    """
    here = file_context(context)
    objects = taking_part(bodies(here.scene), here.view_layer)
    names = tuple(obj.name for obj in objects)
    key = (Changes.updates, bpy.data.filepath, names)
    return kept("cache", here.scene, key, lambda: _newest(here.scene.name, names))


def _newest(scene: str, names: Sequence[str]) -> Cache | None:
    """The newest cache of these bodies beside the open file; None for a file never saved."""
    blend = bpy.data.filepath
    return find_cache(scene, names, Path(blend)) if blend and names else None


def draw_resume(column: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws the buttons that go on with a cache, where there is one."""
    scene = file_context(context).scene
    if scene_properties(scene).bake_mode != "CACHE" or (part := part_of_cache(context)) is None:
        return
    start, last = part.record.start, part.record.end
    if not part.record.states:
        return  # converted or a loop: no simulation is stored
    row = column.column(align=True)
    if last < frame_range(scene)[1]:
        _add(row, f"Resume at Frame {last + 1}", 0)
    elif part.folder not in shown_folders():
        _add(row, "Show Cache", 0)
    if start < scene.frame_current <= last:
        _add(row, "Resume from Current Frame", scene.frame_current)


def draw_conversion(column: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Draws the button that converts bakes to the chosen form, where some are in another one."""
    scene = file_context(context).scene
    mode = scene_properties(scene).bake_mode
    meshes = [obj for obj in baked_objects(scene) if obj.type == "MESH"]
    if convertible(meshes, mode, anew=False):
        forms = {item[0]: item[1] for item in BAKE_MODES}
        text = f"Convert Bake to {forms[mode]}"
        button: Any = column.operator(
            "verlet.convert_bake", text=translated(text), icon="FILE_REFRESH"
        )
        button.mode = mode


def _add(row: bpy.types.UILayout, text: str, frame: int) -> None:
    """Adds a button that goes on with the cache."""
    button = cast(Any, row.operator("verlet.bake", text=translated(text), icon="PLAY"))
    button.mode, button.resume, button.from_frame = "CACHE", True, frame


def draw_problems(column: bpy.types.UILayout) -> None:
    """Draws what is wrong with the caches that the file shows."""
    for problem in problems():
        draw_wrapped(column, problem, icon="ERROR", alert=True)
