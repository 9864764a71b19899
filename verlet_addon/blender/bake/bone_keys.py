"""A bake of soft bones as keys of their rotations, in a new action or in the NLA, and its removal.

Rotations are read from what the constraints of a bake show, so both are the same. The body of the
bones stores what was there before.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import bpy

from ...core.errors import MeshError
from ..scene.action_channels import HAS_SLOTS, channels_of
from ..scene.bone_tracks import holding, is_track, mute_constraint, set_tracks
from ..scene.mesh_access import found_again
from ..settings.bone_properties import armature_of, soft_bones
from ..settings.properties import body_properties
from ..settings.timing import animation_frame, playhead
from .actions import new_slot, play, slot_named
from .bone_curves import is_rotation_path, write_rotations
from .bone_strips import TRACK, stack_strips

ROTATIONS = ("rotation_quaternion", "rotation_euler", "rotation_axis_angle")
"""Properties of a bone that hold its rotation, each in other modes."""


def turning_constraints(
    bone: bpy.types.PoseBone, bones: Sequence[bpy.types.PoseBone]
) -> list[bpy.types.Constraint]:
    """The user's constraints that would turn or move one of some soft bones on from its keys."""
    held = holding(bone, bones)
    return [
        each
        for each in bone.constraints
        if each in held
        or not (is_track(each) or each.mute or each.type.endswith(("SCALE", "VOLUME", "LOCATION")))
    ]


def check_bone_keys(objects: Iterable[bpy.types.Object]) -> None:
    """Raises MeshError where the rotations of soft bones cannot be keyed as their bodies say."""
    for obj in objects:
        armature, body = armature_of(obj), body_properties(obj)
        if armature is None or body.bones_to == "CONSTRAINTS":
            continue
        animation = armature.animation_data
        if animation is not None and animation.use_tweak_mode:
            raise MeshError(f"{armature.name} is in Tweak Mode; leave that mode in the NLA editor")


def key_bones(
    scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, objects: Sequence[bpy.types.Object]
) -> None:
    """Keys the rotations that baked bones show, where their bodies say so."""
    chosen = [obj for obj in objects if _wants_keys(obj)]
    if not chosen:
        return
    shown = _read_rotations(scene, view_layer, chosen)
    for obj, (frames, matrices) in zip(chosen, shown, strict=True):
        moments = [animation_frame(scene, frame) for frame in frames]
        _write_keys(obj, moments, matrices, body_properties(obj).bones_to)
    _go_to(scene, playhead(scene))


def key_pose(scene: bpy.types.Scene, obj: bpy.types.Object, pose: dict[str, Any]) -> None:
    """Keys a pose of soft bones at the current frame, in place of constraints and other keys.

    The keys are in a new action, and go as those of a bake do.

    Parameters
    ----------
    pose : by the names of all soft bones, their matrices in their own spaces.
    """
    remove_bone_keys(obj)
    matrices = [[pose[bone.name]] for bone in soft_bones(obj)]
    _write_keys(obj, [animation_frame(scene, scene.frame_current)], matrices, "ACTION")
    _go_to(scene, playhead(scene))


def _write_keys(
    obj: bpy.types.Object,
    moments: Sequence[float],
    matrices: Sequence[Sequence[Any]],
    mode: str,
) -> None:
    """Has the bones of a body show keys, per bone one at each moment, in place of constraints."""
    set_tracks(obj, False)
    _remember(obj, mode)
    channels = _new_channels(obj, moments)
    repeat = body_properties(obj).baked_loop > 0
    for bone, its in zip(soft_bones(obj), matrices, strict=True):
        write_rotations(channels, bone, moments, its, repeat=repeat)


def remove_bone_keys(obj: bpy.types.Object) -> None:
    """Removes the keys of a bake of soft bones, and restores what was there before."""
    body = body_properties(obj)
    if not body.keyed_bones:
        return
    armature, mark = armature_of(obj), json.loads(body.keyed_bones)
    keyed, former = body.keyed_action, body.former_action
    for name in ("keyed_bones", "keyed_action", "former_action"):
        body.property_unset(name)
    if armature is None:
        return
    animation: Any = armature.animation_data
    if animation is not None:
        for track in [each for each in animation.nla_tracks if each.name in mark["tracks"]]:
            animation.nla_tracks.remove(track)
        if mark["mode"] == "NLA" or animation.action == keyed:
            _give_back(animation, former, mark)
            animation.use_nla = mark.get("use_nla", True)
        if mark["made"] and not (animation.action or animation.drivers or animation.nla_tracks):
            armature.animation_data_clear()
    if keyed is not None and keyed.users == 0:
        _discard(keyed, former, mark)
    _show_own(armature, mark)


def bone_keys_hidden(objects: Iterable[bpy.types.Object]) -> AbstractContextManager[None]:
    """Shows the poses of soft bones without the keys of their bakes.

    Within the context the file may be undone or redone, and objects renamed.
    """
    return _while_hidden(objects, True)


def bone_keys_shown(objects: Iterable[bpy.types.Object]) -> AbstractContextManager[None]:
    """Shows the keys of soft bones again within `bone_keys_hidden`."""
    return _while_hidden(objects, False)


@contextmanager
def _while_hidden(objects: Iterable[bpy.types.Object], hidden: bool) -> Iterator[None]:
    """Hides the keys of bakes within the context, or shows them."""
    keyed = [obj.session_uid for obj in objects if body_properties(obj).keyed_bones]
    _hide(keyed, hidden)
    try:
        yield
    finally:
        _hide(keyed, not hidden)


def _hide(uids: Iterable[int], hidden: bool) -> None:
    """Hides the keys of bakes, given by `session_uid` of their bodies, or shows them again."""
    for obj in filter(None, map(found_again, uids)):
        body, armature = body_properties(obj), armature_of(obj)
        if armature is None or armature.animation_data is None or not body.keyed_bones:
            continue
        mark, animation = json.loads(body.keyed_bones), armature.animation_data
        for track in animation.nla_tracks:
            if track.name in mark["tracks"] and track.name.startswith(TRACK):
                track.mute = hidden
        if hidden:
            if mark["mode"] == "ACTION" and animation.action == body.keyed_action:
                _give_back(animation, body.former_action, mark)
            _show_own(armature, mark)
            continue
        if mark["mode"] == "ACTION":
            play(animation, body.keyed_action, slot_named(body.keyed_action, mark["keyed_slot"]))
        _mute(armature, mark, True)


def _wants_keys(obj: bpy.types.Object) -> bool:
    """Whether the bake of a body is to be keys of bones."""
    return armature_of(obj) is not None and body_properties(obj).bones_to != "CONSTRAINTS"


def _go_to(scene: bpy.types.Scene, moment: tuple[int, float]) -> None:
    """Sets the scene to a frame and subframe."""
    scene.frame_set(moment[0], subframe=moment[1])


def _read_rotations(
    scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, objects: Sequence[bpy.types.Object]
) -> list[tuple[list[int], list[list[Any]]]]:
    """Per body, its baked frames, and per bone and frame the rotation that its constraint shows."""
    now, every = playhead(scene), list[tuple[list[int], list[list[Any]]]]()
    for obj in objects:
        body = body_properties(obj)
        last = body.baked_start + body.baked_loop if body.baked_loop else body.baked_end
        frames = list(range(body.baked_start, last + 1))
        every.append((frames, [[] for _ in soft_bones(obj)]))
    for frame in sorted({frame for frames, _ in every for frame in frames}):
        scene.frame_set(frame)
        for obj, (frames, found) in zip(objects, every, strict=True):
            if frames[0] <= frame <= frames[-1]:
                for its, matrix in zip(found, local_matrices(obj, view_layer), strict=True):
                    its.append(matrix)
    _go_to(scene, now)
    return every


def local_matrices(obj: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> Iterator[Any]:
    """The matrices of a body's bones in their own spaces, as the viewport shows them."""
    armature: Any = armature_of(obj)
    evaluated = armature.evaluated_get(view_layer.depsgraph)
    for bone in soft_bones(obj):
        shown = evaluated.pose.bones[bone.name]
        yield evaluated.convert_space(
            pose_bone=shown, matrix=shown.matrix, from_space="POSE", to_space="LOCAL"
        )


def _remember(obj: bpy.types.Object, mode: str) -> None:
    """Stores what keys replace: the action, and rotations, constraints and drivers of bones."""
    armature: Any = armature_of(obj)
    body, animation = body_properties(obj), armature.animation_data
    bones = soft_bones(obj)
    mark: dict[str, Any] = {
        "mode": mode,
        "made": animation is None,
        "tracks": [],
        "bones": [bone.name for bone in bones],
        "turns": [[list(getattr(bone, name)) for name in ROTATIONS] for bone in bones],
        "constraints": [
            [b.name, each.name] for b in bones for each in turning_constraints(b, bones)
        ],
        "drivers": [],
    }
    if animation is not None:
        mark["drivers"] = [
            [curve.data_path, curve.array_index]
            for curve in animation.drivers
            if not curve.mute and is_rotation_path(curve.data_path, mark["bones"])
        ]
        body.former_action, mark["use_nla"] = animation.action, animation.use_nla
        if HAS_SLOTS:
            mark["slot"] = animation.action_slot.identifier if animation.action_slot else ""
            mark["last_slot"] = animation.last_slot_identifier
    body.keyed_bones = json.dumps(mark)
    _mute(armature, mark, True)


def _new_channels(obj: bpy.types.Object, moments: Sequence[float]) -> Any:
    """Container of the curves of a new action, which the armature plays."""
    armature: Any = armature_of(obj)
    body, animation = body_properties(obj), armature.animation_data_create()
    mark, former = json.loads(body.keyed_bones), body.former_action
    copied = mark["mode"] == "ACTION" and former is not None
    action = former.copy() if copied else bpy.data.actions.new(f"{armature.name} Soft Bones")
    identifier = mark.get("slot", "")
    slot = slot_named(action, identifier) if copied else None
    if slot is None:
        slot = new_slot(action, armature.name, "OBJECT")
    if copied:
        action.name = f"{former.name} Soft Bones"
        held = channels_of(action, slot)
        for curve in list(held.fcurves if held is not None else ()):
            if is_rotation_path(curve.data_path, mark["bones"]):
                held.fcurves.remove(curve)
    mark["keyed_slot"] = slot.identifier if slot is not None else ""
    body.keyed_action = action
    if mark["mode"] == "ACTION":
        play(animation, action, slot)
    else:
        mark["tracks"] = stack_strips(animation, action, slot, moments, repeat=body.baked_loop > 0)
        animation.use_nla = True
    body.keyed_bones = json.dumps(mark)
    if HAS_SLOTS:
        layer = action.layers[0] if action.layers else action.layers.new("Layer")
        strip: Any = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
        return strip.channelbag(slot, ensure=True)
    return action


def _give_back(animation: Any, former: Any, mark: dict[str, Any]) -> None:
    """Has an animation play its own action again."""
    play(animation, former, slot_named(former, mark.get("slot", "")))
    if HAS_SLOTS and "last_slot" in mark:
        animation.last_slot_identifier = mark["last_slot"]


def _show_own(armature: Any, mark: dict[str, Any]) -> None:
    """Gives bones the rotations of before, for those without keys, and their own constraints."""
    for name, turns in zip(mark["bones"], mark["turns"], strict=True):
        if (bone := armature.pose.bones.get(name)) is not None:
            for rotation, values in zip(ROTATIONS, turns, strict=True):
                setattr(bone, rotation, values)
    _mute(armature, mark, False)


def _mute(armature: Any, mark: dict[str, Any], mute: bool) -> None:
    """Mutes constraints and drivers that would turn bones on from their keys, or shows them."""
    for bone, name in mark["constraints"]:
        mute_constraint(armature, bone, name, mute)
    for path, index in mark["drivers"] if armature.animation_data is not None else ():
        if (curve := armature.animation_data.drivers.find(path, index=index)) is not None:
            curve.mute = mute


def _discard(keyed: Any, former: Any, mark: dict[str, Any]) -> None:
    """Removes the action of a bake, or keeps it where the user has keyed other things in it."""
    own = _others(keyed, mark["keyed_slot"], mark["bones"])
    known = _others(former, mark.get("slot", ""), mark["bones"]) if mark["mode"] == "ACTION" else []
    if own == known:
        bpy.data.actions.remove(keyed)
    else:
        keyed.use_fake_user = True


def _others(action: Any, slot: str, bones: Sequence[str]) -> list[Any]:
    """Keyframes of an action's curves but for rotations of bones."""
    held = channels_of(action, slot_named(action, slot)) if action is not None else None
    return [
        (curve.data_path, curve.array_index, [tuple(point.co) for point in curve.keyframe_points])
        for curve in (held.fcurves if held is not None else ())
        if not is_rotation_path(curve.data_path, bones)
    ]
