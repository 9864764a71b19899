"""Constraints by which soft bones point at their joints, while these show a simulation."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import bpy

from ..settings.bone_properties import soft_bones
from .mesh_access import found_again

TRACK = "Verlet"
"""Name of the Damped Track constraint of a soft bone, after all others of it."""


def is_track(constraint: bpy.types.Constraint) -> bool:
    """Whether a constraint makes its bone point at a joint."""
    return constraint.type == "DAMPED_TRACK" and constraint.name.split(".")[0] == TRACK


def set_tracks(obj: bpy.types.Object, shown: bool) -> None:
    """Has the bones of a body point at its vertices or, unless `shown`, show their pose.

    Does nothing for other bodies. The active constraint of each bone stays active.
    """
    for bone in soft_bones(obj):
        tracks = [each for each in bone.constraints if is_track(each)]
        if shown and not tracks:
            _add_track(bone, obj)
        elif not shown and tracks:
            remove_tracks(bone)


def remove_tracks(bone: bpy.types.PoseBone) -> None:
    """Removes the constraint by which a bone points at its joint; the active one stays active."""
    constraints: Any = bone.constraints
    name = constraints.active.name if constraints.active is not None else ""
    for constraint in [each for each in constraints if is_track(each)]:
        constraints.remove(constraint)
    if name in constraints:
        constraints.active = constraints[name]


def _add_track(bone: bpy.types.PoseBone, obj: bpy.types.Object) -> None:
    """Has a bone point at the vertex of its name."""
    constraints: Any = bone.constraints
    active = constraints.active
    track: Any = constraints.new("DAMPED_TRACK")
    track.name, track.target, track.subtarget = TRACK, obj, bone.name
    track.track_axis, track.show_expanded = "TRACK_Y", False
    if active is not None:
        constraints.active = active


@contextmanager
def tracks_muted(objects: Iterable[bpy.types.Object]) -> Iterator[None]:
    """Shows the poses of bones without their simulations.

    Within the context the file may be undone or redone, and objects renamed.
    """
    muted = [
        (cast(bpy.types.ID, bone.id_data).session_uid, bone.name, each.name)
        for obj in objects
        for bone in soft_bones(obj)
        for each in bone.constraints
        if is_track(each) and not each.mute
    ]
    _mute(muted, True)
    try:
        yield
    finally:
        _mute(muted, False)


def _mute(tracks: Iterable[tuple[int, str, str]], mute: bool) -> None:
    """Mutes constraints that are still there, given by `session_uid` of the object and names."""
    armatures: dict[int, Any] = {}
    for uid, bone, name in tracks:
        if uid not in armatures:
            armatures[uid] = found_again(uid)
        pose = armatures[uid].pose if armatures[uid] is not None else None
        if pose is not None and bone in pose.bones and name in pose.bones[bone].constraints:
            pose.bones[bone].constraints[name].mute = mute
