"""The Mesh Cache modifier that shows a live simulation on a body: the one thing that it adds."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import bpy

from ..scene.modifiers import LIVE_MODIFIER, is_carrier, is_live_modifier

_EARLY = 5e-5
"""Frames by which samples come early where frames are stretched. Within 1e-4 frames after a sample
Blender shows it unmixed, but stretched frames are rounded to either side."""


def add_cache_modifier(
    obj: bpy.types.Object, path: Path, frame_start: int, *, stretch: float = 1.0
) -> None:
    """Shows a point cache on a body, after the last carrier (Armature, Hook, …).

    Parameters
    ----------
    frame_start : frame of the scene that shows the first sample.
    stretch : frames on F-curves per frame of the scene.
    """
    active: Any = obj.modifiers.active
    modifier: Any = obj.modifiers.new(LIVE_MODIFIER, "MESH_CACHE")
    modifier.cache_format = "PC2"
    modifier.filepath = str(path)
    modifier.frame_start = frame_start if stretch == 1.0 else frame_start - _EARLY
    modifier.frame_scale = 1.0 / stretch
    modifier.show_in_editmode = False
    modifier.show_expanded = False
    carriers = [number for number, each in enumerate(obj.modifiers) if is_carrier(each)]
    obj.modifiers.move(len(obj.modifiers) - 1, carriers[-1] + 1 if carriers else 0)
    if active is not None:
        obj.modifiers.active = active


def cache_modifier(obj: bpy.types.Object) -> bpy.types.MeshCacheModifier | None:
    """The modifier that `add_cache_modifier` added; None without one."""
    found = next(filter(is_live_modifier, obj.modifiers), None)
    return cast(bpy.types.MeshCacheModifier | None, found)


def remove_cache_modifiers(objects: Iterable[bpy.types.Object]) -> None:
    """Removes what `add_cache_modifier` added, also from copies of bodies."""
    for obj in objects:
        active: Any = obj.modifiers.active
        name = active.name if active is not None else ""
        while (modifier := cache_modifier(obj)) is not None:
            obj.modifiers.remove(modifier)
        if name in obj.modifiers:
            obj.modifiers.active = obj.modifiers[name]
