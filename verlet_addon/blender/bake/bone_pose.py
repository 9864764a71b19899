"""Poses of soft bones: read from what a simulation shows, and kept as rotations of their own."""

from typing import Any

import bpy

from ..scene.action_channels import channels
from ..scene.file_warnings import some
from ..settings.bone_properties import armature_of, soft_bones
from ..settings.timing import animation_frame
from .bone_curves import bone_path, rotation_name, turn_bone
from .bone_keys import local_matrices

Pose = dict[str, Any]
"""By the name of each soft bone, its matrix in its own space."""
AWAY = 0.01
"""Angle between a bone and the pose that it was given from which on it has not kept it [rad]."""


def read_pose(obj: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> Pose:
    """The pose that the soft bones of a body are shown in; empty for other bodies."""
    bones = soft_bones(obj)
    found = zip(bones, local_matrices(obj, view_layer), strict=True) if bones else ()
    return {bone.name: matrix.copy() for bone, matrix in found}


def keep_pose(
    scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, obj: bpy.types.Object, pose: Pose
) -> tuple[str, str]:
    """Gives soft bones a pose, and keys it where the frame would take it back.

    That is where a bone has keys of its rotation; with Auto Keying on, all are keyed.

    Returns
    -------
    tuple
        What has been done, in a sentence, and one that names bones which something else turns;
        empty without any.
    """
    bones = [bone for bone in soft_bones(obj) if bone.name in pose]
    for bone in bones:
        turn_bone(bone, pose[bone.name])
    keyed = sum(_key(scene, bone) for bone in bones)
    view_layer.update()
    armature: Any = armature_of(obj)
    text = f"{armature.name} has this pose at frame {scene.frame_current}"
    if keyed:
        text += f", keyed on {keyed} of {len(bones)} bones"
    else:
        text += ", without keys, for its soft bones had none; press I to key it"
    return text, _lost(obj, view_layer, pose)


def _key(scene: bpy.types.Scene, bone: bpy.types.PoseBone) -> bool:
    """Keys the rotation of a bone if it has keys, or Auto Keying is on; whether it did."""
    armature: Any = bone.id_data
    name, held = rotation_name(bone), channels(armature)
    path = f"{bone_path(bone.name)}.{name}"
    has_keys = held is not None and any(curve.data_path == path for curve in held.fcurves)
    action = armature.animation_data.action if armature.animation_data is not None else None
    if action is not None and (action.library or action.override_library):
        return False
    if has_keys or scene.tool_settings.use_keyframe_insert_auto:
        frame = animation_frame(scene, scene.frame_current)
        return bool(bone.keyframe_insert(name, frame=frame, group=bone.name))
    return False


def _lost(obj: bpy.types.Object, view_layer: bpy.types.ViewLayer, pose: Pose) -> str:
    """Sentence on bones that are turned away from their pose; empty without any."""
    shown = read_pose(obj, view_layer)
    names = [
        name
        for name, matrix in shown.items()
        if name in pose
        and matrix.to_quaternion().rotation_difference(pose[name].to_quaternion()).angle > AWAY
    ]
    if not names:
        return ""
    armature: Any = armature_of(obj)
    return (
        f"{some(names)} of {armature.name} cannot keep the pose, since constraints or drivers turn "
        "them; undo, and pose what these follow"
    )
