"""Baked shape keys: one relative key per frame, and their removal."""

from collections.abc import Iterable, Sequence
from typing import cast

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.errors import MeshError
from ..scene.cache_modifiers import bake_modifier, remove_bake_modifiers, update_tracks
from ..scene.curve_lines import free_handles, restore_handles
from ..scene.curve_points import is_curve
from ..scene.mesh_access import (
    add_key,
    blocks_named,
    fits,
    read_key,
    shape_keys_of,
    write_shape,
)
from ..settings.properties import body_properties
from ..settings.timing import animation_frame
from . import curves
from .bone_keys import remove_bone_keys
from .cache_folder import folders_of, replace_folders
from .edit_names import edited_frames
from .edited_frame import remove_edits
from .record import forget_bake
from .unbaked_shape import forget_rest, has_lost_basis, remember_rest, restore_basis


def write_bake(
    obj: bpy.types.Object,
    frames: Sequence[int],
    coordinates: NDArray[np.float32],
    *,
    loop: int = 0,
) -> None:
    """Writes one relative shape key per frame and the curves that play them.

    An earlier bake of the object is replaced; all other keys stay unchanged.

    Parameters
    ----------
    frames
        Scene frames, ascending.
    coordinates
        (len(frames), n, 3) in the object's own space, as `key_points.way_to_key` gives them; of a
        curve its control points.
    loop
        Number of frames after which the motion repeats; 0 for motion that ends.
    """
    moments = moments_of(frames, loop)
    names = add_baked_keys(obj, frame_names(frames), coordinates, values_now(moments, loop))
    curves.write_curves(obj, names, moments[: len(frames)], moments[-1] if loop else None)


def add_baked_keys(
    obj: bpy.types.Object,
    names: Sequence[str],
    coordinates: Iterable[NDArray[np.float32]],
    values: Sequence[float],
) -> list[str]:
    """Adds relative shape keys without curves in place of an earlier bake; returns their names.

    Handles of a curve become free until the bake is removed.

    Parameters
    ----------
    coordinates : of each key, (n, 3) in the object's own space.
    values : of each key, from 0 to 1.
    """
    body = body_properties(obj)
    _remove_all_but_basis(obj)
    remember_rest(obj)
    if is_curve(obj):
        free_handles(obj)
    if shape_keys_of(obj) is None:
        obj.shape_key_add(name="Basis", from_mix=False)
        body.made_basis = True
    added = [
        add_key(obj, name, points, 0.0).name
        for name, points in zip(names, coordinates, strict=True)
    ]
    for name in added:
        body.baked_keys.add().name = name
    for block, value in zip(blocks_named(obj, added), values, strict=True):
        block.value = value
    update_tracks(obj)
    return added


def frame_names(frames: Sequence[int]) -> list[str]:
    """Names of baked keys at scene frames."""
    return [f"verlet_{frame:04d}" for frame in frames]


def moments_of(frames: Sequence[int], loop: int) -> list[float]:
    """Frames on F-curves of scene frames, and of the frame where a loop begins anew."""
    scene = cast(bpy.types.Scene, bpy.context.scene)
    ends = [frames[0] + loop] if loop else []
    return [animation_frame(scene, frame) for frame in (*frames, *ends)]


def now_within(moments: Sequence[float], loop: int) -> float:
    """The scene's current frame, or the one within a loop that shows the same."""
    now = cast(bpy.types.Scene, bpy.context.scene).frame_current_final
    if loop:
        now = moments[0] + (now - moments[0]) % (moments[-1] - moments[0])
    return now


def values_now(moments: Sequence[float], loop: int) -> list[float]:
    """Values of keys that follow each other, at the scene's current frame."""
    place = np.interp(now_within(moments, loop), moments, np.arange(len(moments)))
    count = len(moments) - 1 if loop else len(moments)
    away = np.abs(np.arange(count) - place)
    if loop:
        away = np.minimum(away, count - away)
    return [float(value) for value in np.maximum(0, 1 - away)]


def remove_bakes(objects: Sequence[bpy.types.Object]) -> None:
    """Removes the keys, curves and records that bakes made on objects, and shows no caches.

    Baked keys that the user has renamed are removed too, and edited frames of a cache. Other keys
    stay, and so does the Basis while there are any. The files of a cache that nothing shows any
    more go with the next save. Objects are cleared in reverse order, so that keys which shared an
    action share it again.
    """
    for obj in reversed(objects):
        _remove_all_but_basis(obj)
    made = [obj for obj in objects if body_properties(obj).made_basis]
    # All at once, since Blender looks through the whole file for the users of what it removes.
    bpy.data.batch_remove({cast(bpy.types.Key, shape_keys_of(obj)) for obj in made})
    for obj in made:
        body_properties(obj).made_basis = False
        cast(bpy.types.ID, obj.data).update_tag()


def _remove_all_but_basis(obj: bpy.types.Object) -> None:
    """Removes a bake from an object, except for a Basis that the bake made and that is left alone.

    `made_basis` says whether there is one; the mesh has its shape.
    """
    remove_bone_keys(obj)
    body = body_properties(obj)
    if bake_modifier(obj) is not None and edited_frames(obj):
        _require_object_mode(obj)
        remove_edits([obj])
    key = shape_keys_of(obj)
    made, body.made_basis = body.made_basis, False
    if key is not None and body.baked_keys:
        _require_object_mode(obj)
        names = baked_names(obj)
        curves.remove_curves(key, _remembered(obj))
        if body.baked_form == "ABSOLUTE":
            key.use_relative, key.eval_time = True, body.own_eval_time
        if has_lost_basis(obj, names):
            names.remove(key.reference_key.name)
            restore_basis(obj)
        _remove_keys(obj, names)
        body.made_basis = made and _shows_lone_basis(obj)
    body.baked_keys.clear()
    forget_rest(obj)
    if is_curve(obj):
        restore_handles(obj)
    forget_bake(obj)
    replace_folders(folders_of([obj]))
    remove_bake_modifiers([obj])


def _remembered(obj: bpy.types.Object) -> set[str]:
    """Names that the last bake gave to its keys."""
    return {item.name for item in body_properties(obj).baked_keys}


def baked_names(obj: bpy.types.Object) -> list[str]:
    """Names of the object's baked keys, in the order of its list."""
    key = shape_keys_of(obj)
    if key is None:
        return []
    remembered = _remembered(obj)
    animated = curves.animated_names(key, remembered)
    # A curve with a name that is not stored means that its key was renamed. A key with a stored
    # name but no curve may then be a new one of the user's, which must stay.
    names = remembered if animated <= remembered else animated
    return [block.name for block in key.key_blocks if block.name in names]


def _remove_keys(obj: bpy.types.Object, names: Sequence[str]) -> None:
    """Removes shape keys, the first one last; the active key stays active if it remains.

    On removing the first key, Blender gives the mesh the shape of the next one.
    """
    active = obj.active_shape_key.name if obj.active_shape_key is not None else ""
    for name in reversed(names):
        # Blender frees the Key with its last block, so it is looked up every time.
        key = shape_keys_of(obj)
        if key is not None and name in key.key_blocks:
            obj.shape_key_remove(key.key_blocks[name])
    key = shape_keys_of(obj)
    obj.active_shape_key_index = max(key.key_blocks.find(active), 0) if key is not None else 0


def _shows_lone_basis(obj: bpy.types.Object) -> bool:
    """Whether the Basis is the only key left; the mesh is set to its shape then.

    If the mesh was edited while another key was active, Blender leaves that key's shape in the
    mesh. A mesh with another number of vertices, which a script may have put there, is kept, and
    loses the Basis.
    """
    key = shape_keys_of(obj)
    if key is None or len(key.key_blocks) != 1:
        return False
    if not fits(key.reference_key, obj):
        obj.shape_key_remove(key.reference_key)
        return False
    write_shape(obj, read_key(key.reference_key))
    return True


def _require_object_mode(obj: bpy.types.Object) -> None:
    """Raises MeshError in Edit Mode, which has its own copy of the shape keys."""
    if obj.mode == "EDIT":
        raise MeshError(f"{obj.name} is in Edit Mode; switch to Object Mode")
