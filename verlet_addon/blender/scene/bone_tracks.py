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
READING = "Verlet Reading"
"""Name of a muted constraint of a soft bone whose pose is read."""
SOLVERS = {"IK", "SPLINE_IK"}
"""Types of constraints that solve a chain of bones, after all others of each."""
_TURNING = {
    *("COPY_ROTATION", "LIMIT_ROTATION", "DAMPED_TRACK", "LOCKED_TRACK", "TRACK_TO"),
    *("COPY_SCALE", "LIMIT_SCALE", "MAINTAIN_VOLUME"),
}
"""Types of constraints that leave the head of a bone where the bone before it ends."""


def is_track(constraint: bpy.types.Constraint) -> bool:
    """Whether a constraint makes its bone point at a joint."""
    return constraint.type == "DAMPED_TRACK" and constraint.name.split(".")[0] == TRACK


def set_tracks(obj: bpy.types.Object, shown: bool) -> None:
    """Has the bones of a body point at its vertices or, unless `shown`, show their pose.

    Does nothing for other bodies. The active constraint of each bone stays active. Constraints that
    would hold bones where the pose has them are muted meanwhile.
    """
    bones = soft_bones(obj)
    for bone in bones:
        tracks = [each for each in bone.constraints if is_track(each)]
        if shown and not tracks:
            _add_track(bone, obj)
        elif not shown and tracks:
            remove_tracks(bone)
    body = body_properties(obj)
    if shown and bones and not body.muted_constraints:
        held = [[bone.name, each.name] for bone in bones for each in holding(bone, bones)]
        body.muted_constraints = json.dumps(held) if held else ""
        _mute(_muted(obj), True)
    elif not shown and body.muted_constraints:
        _mute(_muted(obj), False)
        body.property_unset("muted_constraints")


def holding(
    bone: bpy.types.PoseBone, bones: Sequence[bpy.types.PoseBone]
) -> list[bpy.types.Constraint]:
    """The constraints of a soft bone that would hold it, or those after it, where the pose has it.

    The first bone of a chain of soft `bones` keeps its place in any case.
    """
    first = bone.parent not in bones
    return [
        each
        for each in bone.constraints
        if not (each.mute or is_track(each))
        and (each.type in {*SOLVERS, "STRETCH_TO"} if first else each.type not in _TURNING)
    ]


def solvers_beyond(
    obj: bpy.types.Object,
) -> list[tuple[bpy.types.PoseBone, bpy.types.Constraint]]:
    """Constraints of a body's bones that solve chains with bones which are not soft."""
    bones, found = soft_bones(obj), []
    for bone in bones:
        for each in holding(bone, bones):
            if each.type not in SOLVERS:
                continue
            chain: list[Any] = [bone]
            count = cast(Any, each).chain_count
            while chain[-1].parent is not None and (count == 0 or len(chain) < count):
                chain.append(chain[-1].parent)
            if any(other not in bones for other in chain):
                found.append((bone, each))
    return found


def _muted(obj: bpy.types.Object) -> list[tuple[int, str, str]]:
    """The constraints that are muted while a body shows a simulation, as `_mute` takes them."""
    muted, armature = body_properties(obj).muted_constraints, armature_of(obj)
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
def tracks_muted(objects: Sequence[bpy.types.Object]) -> Iterator[bool]:
    """Shows the poses of bones without their simulations; yields whether any showed one.

    Within the context the file may be undone or redone, and objects renamed.
    """
    muted = [
        (cast(bpy.types.ID, bone.id_data).session_uid, bone.name, each.name)
        for obj in objects
        for bone in soft_bones(obj)
        for each in bone.constraints
        if is_track(each) and not each.mute
    ]
    held = [each for obj in objects for each in _muted(obj)]
    _mute(muted, True)
    _mute(held, False)
    try:
        yield bool(muted)
    finally:
        _mute(muted, False)
        _mute(held, True)


@contextmanager
def read_alike(objects: Sequence[bpy.types.Object]) -> Iterator[None]:
    """Gives soft bones without a constraint a muted one within the context.

    Blender takes the pose of bones with any constraint, also a muted one, to world space and back,
    which rounds it: a bake would differ from Live, and from the next bake, which have tracks.
    """
    added = []
    for bone in (bone for obj in objects for bone in soft_bones(obj)):
        constraints: Any = bone.constraints
        if not len(constraints):
            constraint = constraints.new("DAMPED_TRACK")
            constraint.name, constraint.mute = READING, True
            added.append((cast(bpy.types.ID, bone.id_data).session_uid, bone.name))
    try:
        yield
    finally:
        for uid, name in added:
            armature: Any = found_again(uid)
            if armature is not None and name in armature.pose.bones:
                constraints = armature.pose.bones[name].constraints
                if READING in constraints:
                    constraints.remove(constraints[READING])


def _mute(tracks: Iterable[tuple[int, str, str]], mute: bool) -> None:
    """Mutes constraints that are still there, given by `session_uid` of the object and names."""
    armatures: dict[int, Any] = {}
    for uid, bone, name in tracks:
        if uid not in armatures:
            armatures[uid] = found_again(uid)
        if armatures[uid] is not None:
            mute_constraint(armatures[uid], bone, name, mute)


def mute_constraint(armature: Any, bone: str, name: str, mute: bool) -> None:
    """Mutes a constraint of a bone, or has it act again, if it is still there."""
    pose = armature.pose
    if pose is not None and bone in pose.bones and name in pose.bones[bone].constraints:
        pose.bones[bone].constraints[name].mute = mute
