"""The Mesh Cache modifier that shows a live simulation on a body: the one thing that it adds."""

from collections.abc import Callable, Sequence
from pathlib import Path

import bpy

from ...core.errors import MeshError
from ..bake.cautions import why_nothing
from ..bake.edit_names import refuse_edits
from ..scene.cache_modifiers import (
    LIVE_MODIFIER,
    add_cache_modifier,
    live_modifier,
    remove_live_modifiers,
)
from ..scene.modifiers import check_order, place_after_carriers
from .inputs import acting_bodies


def show_live(obj: bpy.types.Object, path: Path, frame_start: int, *, stretch: float = 1.0) -> None:
    """Shows the point cache of a live simulation on a body, after the last carrier.

    Parameters as for `add_cache_modifier`.
    """
    place = place_after_carriers(obj)
    add_cache_modifier(obj, LIVE_MODIFIER, str(path), frame_start, place, stretch=stretch)


def show_instead(obj: bpy.types.Object, path: Path, frame_start: int) -> Callable[[], None]:
    """Shows a point cache on a body in place of its live simulation, if it shows one.

    Returns a function that shows again what was shown before.
    """
    modifier = live_modifier(obj)
    if modifier is None:
        show_live(obj, path, frame_start)
        return lambda: remove_live_modifiers([obj])
    former = modifier.filepath, modifier.frame_start, modifier.frame_scale
    own = str(path), float(frame_start), 1.0

    def play(values: tuple[str, float, float]) -> None:
        modifier.filepath, modifier.frame_start, modifier.frame_scale = values

    play(own)
    return lambda: play(former)


def checked_bodies(
    scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer
) -> Sequence[bpy.types.Object]:
    """Lists the bodies that a bake of the whole scene simulates, all able to show a point cache.

    Raises
    ------
    MeshError
        There are none, one has an edited frame, or its modifiers cannot show a point cache.
    """
    objects = acting_bodies(scene, view_layer)
    if not objects:
        raise MeshError(why_nothing(scene, view_layer))
    refuse_edits(objects)
    for obj in objects:
        check_order(obj, "live simulation", "bake it")
    return objects
