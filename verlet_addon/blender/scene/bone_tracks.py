"""Constraints by which soft bones point at their joints, while these show a simulation."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import bpy

from ..settings.bone_properties import armature_of, soft_bones
from ..settings.properties import body_properties
from .mesh_access import found_again

TRACK = "Verlet"
"""Name of the Damped Track constraint of a soft bone, after all others of it."""


_SOLVERS = {"IK", "SPLINE_IK"}
"""Types of constraints that solve a chain of bones, after all others of each."""


def is_track(constraint: bpy.types.Constraint) -> bool:
    """Whether a constraint makes its bone point at a joint."""
    return constraint.type == "DAMPED_TRACK" and constraint.name.split(".")[0] == TRACK


def set_tracks(obj: bpy.types.Object, shown: bool) -> None:
    """Has the bones of a body point at its vertices or, unless `shown`, show their pose.

    Does nothing for other bodies. The active constraint of each bone stays active. Constraints that
    solve chains are muted while bones point at joints, for Blender lets these decide.
    """
    bones = soft_bones(obj)
    for bone in bones:
        tracks = [each for each in bone.constraints if is_track(each)]
        if shown and not tracks:
            _add_track(bone, obj)
        elif not shown and tracks:
            remove_tracks(bone)
    body = body_properties(obj)
    if shown and bones and not body.muted_solvers:
        solvers = [[bone.name, each.name] for bone in bones for each in _solvers(bone)]
        body.muted_solvers = json.dumps(solvers) if solvers else ""
        _mute(_solvers_of(obj), True)
    elif not shown and body.muted_solvers:
        _mute(_solvers_of(obj), False)
        body.property_unset("muted_solvers")


def _solvers(bone: bpy.types.PoseBone) -> list[bpy.types.Constraint]:
    """The constraints of a bone that solve a chain and are on."""
    return [each for each in bone.constraints if each.type in _SOLVERS and not each.mute]


def solvers_beyond(
    obj: bpy.types.Object,
) -> list[tuple[bpy.types.PoseBone, bpy.types.Constraint]]:
    """Constraints of a body's bones that solve chains with bones which are not soft."""
    bones, found = soft_bones(obj), []
    for bone in bones:
        for each in _solvers(bone):
            chain: list[Any] = [bone]
            count = cast(Any, each).chain_count
            while chain[-1].parent is not None and (count == 0 or len(chain) < count):
                chain.append(chain[-1].parent)
            if any(other not in bones for other in chain):
                found.append((bone, each))
    return found


def _solvers_of(obj: bpy.types.Object) -> list[tuple[int, str, str]]:
    """The constraints that are muted while a body shows a simulation, as `_mute` takes them."""
    muted, armature = body_properties(obj).muted_solvers, armature_of(obj)
    if not muted or armature is None:
        return []
    return [(armature.session_uid, bone, name) for bone, name in json.loads(muted)]


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
def tracks_muted(objects: Sequence[bpy.types.Object]) -> Iterator[None]:
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
    solvers = [each for obj in objects for each in _solvers_of(obj)]
    _mute(muted, True)
    _mute(solvers, False)
    try:
        yield
    finally:
        _mute(muted, False)
        _mute(solvers, True)


def _mute(tracks: Iterable[tuple[int, str, str]], mute: bool) -> None:
    """Mutes constraints that are still there, given by `session_uid` of the object and names."""
    armatures: dict[int, Any] = {}
    for uid, bone, name in tracks:
        if uid not in armatures:
            armatures[uid] = found_again(uid)
        pose = armatures[uid].pose if armatures[uid] is not None else None
        if pose is not None and bone in pose.bones and name in pose.bones[bone].constraints:
            pose.bones[bone].constraints[name].mute = mute
