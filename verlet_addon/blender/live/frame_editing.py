"""A frame of a cache made a shape key, to be sculpted, or a pose of soft bones."""

import bpy

from ...core.errors import MeshError
from ..bake.bone_keys import key_pose
from ..bake.bone_pose import read_pose
from ..bake.cache import read_cache
from ..bake.cache_checks import check_intact
from ..bake.edit_names import EDIT, MADE_BASIS, edited_frames, key_name
from ..scene.cache_modifiers import bake_modifier, cache_path
from ..scene.cages import refuse_cages
from ..scene.mesh_access import add_key, made_keys, read_coordinates, shape_keys_of
from ..scene.modifiers import read_mix
from .applied_shape import before_modifiers, check_shape


def edit_frame(
    obj: bpy.types.Object, scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer
) -> None:
    """Makes what a body shows of its cache at the current frame a shape key, and hides the cache.

    The joints of soft bones become their keyed pose besides.

    Raises
    ------
    MeshError, FileError
        The body shows no cache there, has an edited frame already, or cannot have another key.
    """
    frame = scene.frame_current
    modifier = bake_modifier(obj)
    if there := edited_frames(obj):
        raise MeshError(
            f"{obj.name} has an edited frame, {there[0]}, already; "
            "press Simulate from Edited Frame, or Discard Edited Frame"
        )
    if modifier is None:
        raise MeshError(
            f"{obj.name} shows no bake to a cache, and no other can be edited; bake it to a cache"
        )
    refuse_cages([obj], EDIT)
    check_intact(obj)
    record = read_cache(cache_path(obj, modifier).parent).record
    if not record.states:
        raise MeshError(
            f"The cache of {obj.name} was converted or is a loop, with which a simulation cannot "
            "go on from an edited frame; bake it anew as a cache, with Loop at 0"
        )
    if not record.start < frame <= record.end:
        raise MeshError(
            f"Frame {frame} of {obj.name} cannot be edited; go to one from {record.start + 1} to "
            f"{record.end}, the last of its cache"
        )
    check_shape(obj, "SHAPE_KEY")
    shape, pose = before_modifiers(obj, view_layer), read_pose(obj, view_layer)
    made = shape_keys_of(obj) is None
    mix, key = read_mix(obj), made_keys(obj)
    if made:
        key[MADE_BASIS] = True
    points = read_coordinates(key.reference_key.points) + (shape - mix)
    add_key(obj, key_name(frame), points, 1.0)
    obj.active_shape_key_index = len(key.key_blocks) - 1
    modifier.show_viewport = False
    if pose:
        key_pose(scene, obj, pose)
    view_layer.update()
