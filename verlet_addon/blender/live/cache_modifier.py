"""The Mesh Cache modifier that shows a live simulation on a body: the one thing that it adds."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats
from ..scene.modifiers import LIVE_MODIFIER, is_carrier, is_live_modifier


def add_cache_modifier(obj: bpy.types.Object, path: Path, frame_start: int) -> None:
    """Lets a body show a point cache, after the last modifier that carries its vertices along."""
    active: Any = obj.modifiers.active
    modifier: Any = obj.modifiers.new(LIVE_MODIFIER, "MESH_CACHE")
    modifier.cache_format = "PC2"
    modifier.filepath = str(path)
    modifier.frame_start = frame_start
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


def cache_coordinates(
    obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, positions: Floats
) -> NDArray[np.float32]:
    """(n, 3) in the object's space at the current frame, of world positions (n, 3) [m]."""
    matrix = np.array(obj.evaluated_get(depsgraph).matrix_world, np.float64)
    inverse = np.linalg.inv(matrix[:3, :3])
    local: NDArray[np.float32] = np.einsum("xy,ny->nx", inverse, positions - matrix[:3, 3]).astype(
        np.float32
    )
    return local
