"""Frames of a cache that are edited by hand: shape keys from which a bake goes on.

An edited frame is a shape key named by it. While it is there the cache is not shown, so that it can
be sculpted; a bake takes what the body then shows, and removes it. That of soft bones only marks
the frame: their pose is keyed in an action of its own.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import bpy

from ...core.arrays import Floats
from ...core.errors import MeshError
from ..scene.cache_modifiers import bake_modifier, update_tracks
from ..scene.cages import refuse_cages
from ..scene.mesh_access import blocks_named, keys_muted, shape_keys_of
from ..scene.mesh_io import read_positions
from ..scene.sampling import Stage
from ..settings.bone_properties import soft_bones
from ..settings.timing import animation_frame
from .bone_curves import rotation_name
from .bone_keys import bone_keys_shown, remove_bone_keys
from .edit_names import EDIT, MADE_BASIS, edited_frames, key_name


def check_edits(objects: Sequence[bpy.types.Object], frame: int) -> None:
    """Raises MeshError unless a bake can go on from an edited frame of some of the bodies."""
    found = {each for obj in objects for each in edited_frames(obj)}
    if frame not in found:
        there = f"edited frames are {', '.join(map(str, sorted(found)))}" if found else "none is"
        raise MeshError(
            f"No body of this bake has an edited frame {frame}, {there}; go to that frame, and "
            "press Edit Frame first"
        )
    refuse_cages([obj for obj in objects if frame in edited_frames(obj)], EDIT)


def keep_posed(scene: bpy.types.Scene, objects: Sequence[bpy.types.Object], frame: int) -> None:
    """Keys the poses of soft bones in which they are edited, which a frame change would take back.

    Does nothing at another frame, where they are not seen.
    """
    if scene.frame_current != frame:
        return
    for obj in objects:
        for bone in soft_bones(obj) if frame in edited_frames(obj) else ():
            bone.keyframe_insert(rotation_name(bone), frame=animation_frame(scene, frame))


@contextmanager
def edits_taken(stage: Stage, frame: int) -> Iterator[list[Floats | None]]:
    """Yields, per body, (n, 3) positions of its edited frame [m], and mutes all edited frames."""
    edited = [obj for obj in stage.bodies if frame in edited_frames(obj)]
    with bone_keys_shown(edited):
        depsgraph = stage.at(frame)
        shapes = [read_positions(obj, depsgraph) if obj in edited else None for obj in stage.bodies]
    with ExitStack() as muted:
        for obj in stage.bodies:
            muted.enter_context(keys_muted(obj, map(key_name, edited_frames(obj))))
        yield shapes


def remove_edits(objects: Sequence[bpy.types.Object]) -> None:
    """Removes the edited frames of objects, and a Basis that was made for them."""
    for obj in objects:
        if edited_frames(obj):
            remove_bone_keys(obj)
        for block in blocks_named(obj, map(key_name, edited_frames(obj))):
            obj.shape_key_remove(block)
        if (key := shape_keys_of(obj)) is not None and key.get(MADE_BASIS):
            if len(key.key_blocks) == 1:
                obj.shape_key_remove(key.reference_key)
            else:
                del key[MADE_BASIS]
        if (modifier := bake_modifier(obj)) is not None:
            modifier.show_viewport = True
            update_tracks(obj)
