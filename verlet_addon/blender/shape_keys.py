"""Baked shape keys: one relative key per frame, and the way back to the mesh as it was."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.errors import MeshError
from . import animation
from .properties import body_properties


def write_bake(
    obj: bpy.types.Object, frames: Sequence[int], coordinates: NDArray[np.float32]
) -> None:
    """Writes one relative shape key per frame and the curves that play them.

    A former bake of the object is replaced; every other key stays as it is.

    Parameters
    ----------
    frames
        Scene frames, ascending.
    coordinates
        (len(frames), n, 3) in the object's own space, as `mesh_io.world_to_key` gives them.
    """
    remove_bake(obj)
    body = body_properties(obj)
    active = obj.active_shape_key_index
    if obj.data.shape_keys is None:
        obj.shape_key_add(name="Basis", from_mix=False)
        body.made_basis = True
    values = _values_now(frames)
    names = [
        _add_key(obj, f"verlet_{frame:04d}", points, value)
        for frame, points, value in zip(frames, coordinates, values, strict=True)
    ]
    for name in names:
        body.baked_keys.add().name = name
    animation.write_curves(obj.data.shape_keys, names, frames)
    obj.active_shape_key_index = active


def remove_bake(obj: bpy.types.Object) -> None:
    """Removes what `write_bake` made on this object, and nothing else.

    Baked keys that were renamed since go too; keys that are not of the bake stay, and with them
    the Basis.
    """
    body = body_properties(obj)
    key = obj.data.shape_keys if obj.type == "MESH" else None
    if key is not None:
        _require_object_mode(obj)
        names = _baked_names(obj)
        animation.remove_curves(key, _remembered(obj))
        _remove_keys(obj, names)
        if body.made_basis and len(key.key_blocks) == 1:
            obj.shape_key_remove(key.reference_key)
    body.baked_keys.clear()
    body.made_basis = False


def has_bake(obj: bpy.types.Object) -> bool:
    """Whether the object has keys of a bake."""
    return bool(_baked_names(obj))


@contextmanager
def former_bake_hidden(objects: Sequence[bpy.types.Object]) -> Iterator[None]:
    """Shows the animated mesh as it is beside a bake, but without the former one.

    Baked keys are muted. A key that is shown alone is so no longer, for a bake can only be seen
    when it is not. Objects and keys are kept by name: within, the file may be undone or redone.
    """
    soloists = [obj.name for obj in objects if obj.show_only_shape_key]
    muted = [
        (obj.name, name)
        for obj in objects
        for name in _baked_names(obj)
        if not obj.data.shape_keys.key_blocks[name].mute
    ]
    _solo(soloists, False)
    _mute(muted, True)
    try:
        yield
    finally:
        _mute(muted, False)
        _solo(soloists, True)


def _solo(names: Iterable[str], solo: bool) -> None:
    """Lets objects show their active key alone, or all keys; those that are gone are passed over."""
    for obj in filter(None, map(bpy.data.objects.get, names)):
        obj.show_only_shape_key = solo


def _mute(keys: Iterable[tuple[str, str]], mute: bool) -> None:
    """Mutes or unmutes (object name, key name) pairs; those that are gone are passed over."""
    for object_name, name in keys:
        obj = bpy.data.objects.get(object_name)
        key = obj.data.shape_keys if obj is not None else None
        if key is not None and name in key.key_blocks:
            key.key_blocks[name].mute = mute


def _remembered(obj: bpy.types.Object) -> set[str]:
    """Names that the last bake gave its keys."""
    return {item.name for item in body_properties(obj).baked_keys}


def _baked_names(obj: bpy.types.Object) -> list[str]:
    """Names of the object's baked keys, in the order in which they stand."""
    key = obj.data.shape_keys if obj.type == "MESH" else None
    if key is None:
        return []
    remembered = _remembered(obj)
    animated = animation.animated_names(key, remembered)
    # A curve whose name is not remembered tells of a renamed key. A remembered name without
    # a curve may then be a new key of the user's, which is not ours to take.
    names = remembered if animated <= remembered else animated
    return [block.name for block in key.key_blocks if block.name in names]


def _add_key(
    obj: bpy.types.Object, name: str, coordinates: NDArray[np.float32], value: float
) -> str:
    """Adds one shape key and returns the name it got, which differs where `name` is taken."""
    block = obj.shape_key_add(name=name, from_mix=False)
    block.points.foreach_set("co", np.ascontiguousarray(coordinates, np.float32).ravel())
    # A new key starts at 0 or at 1, by the version of Blender.
    block.value = value
    return str(block.name)


def _remove_keys(obj: bpy.types.Object, names: Iterable[str]) -> None:
    """Removes shape keys; the active key stays active if it is not among them."""
    blocks = obj.data.shape_keys.key_blocks
    active = obj.active_shape_key.name if obj.active_shape_key is not None else ""
    for name in names:
        obj.shape_key_remove(blocks[name])
    obj.active_shape_key_index = max(blocks.find(active), 0)


def _values_now(frames: Sequence[int]) -> list[float]:
    """The keys' values at the current frame of the scene."""
    now = bpy.context.scene.frame_current_final
    unit = np.eye(len(frames))
    return [float(np.interp(now, frames, pulse)) for pulse in unit]


def _require_object_mode(obj: bpy.types.Object) -> None:
    """Raises MeshError in Edit Mode, which holds shape keys of its own."""
    if obj.mode == "EDIT":
        raise MeshError(f"{obj.name} is in Edit Mode; switch to Object Mode")
