"""The Mesh Cache modifier that shows a live simulation on a body: the one thing that it adds."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy

from ...core.errors import MeshError
from ..bake.cautions import why_nothing
from ..scene.modifiers import LIVE_MODIFIER, is_carrier, is_finishing
from .inputs import acting_bodies

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
    # Not always the last one: Blender keeps modifiers with Pin to Last behind it.
    own = obj.modifiers.find(modifier.name)
    obj.modifiers.move(own, carriers[-1] + 1 if carriers else 0)
    if active is not None:
        obj.modifiers.active = active


def checked_bodies(
    scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer
) -> Sequence[bpy.types.Object]:
    """Lists the bodies that a bake of the whole scene simulates, all able to show a point cache.

    Raises
    ------
    MeshError
        There are none, or the modifiers of a body cannot show a point cache.
    """
    objects = acting_bodies(scene, view_layer)
    if not objects:
        raise MeshError(why_nothing(scene, view_layer))
    for obj in objects:
        _check_order(obj)
    return objects


def _check_order(obj: bpy.types.Object) -> None:
    """Raises MeshError where a carrier comes after a modifier that finishes the mesh.

    A bake precedes both; a point cache can only follow the carrier, where the mesh may have other
    vertices.
    """
    shown = [item for item in obj.modifiers if item.show_viewport]
    carriers = [number for number, item in enumerate(shown) if is_carrier(item)]
    before = shown[: carriers[-1]] if carriers else []
    if finishing := [item.name for item in before if is_finishing(item)]:
        carrier = shown[carriers[-1]].name
        raise MeshError(
            f"{finishing[0]} comes before {carrier} among the modifiers of {obj.name}, so that "
            f"live simulation cannot be shown; move {carrier} up, or bake"
        )
