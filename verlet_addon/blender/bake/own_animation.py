"""The animation of an object as it is without the keys of a bake of its soft bones."""

import json
from typing import Any

import bpy

from ..scene.action_channels import channels, channels_of
from ..scene.cache_modifiers import drivers_of
from ..scene.soft_bones import body_of_bones
from ..settings.properties import body_properties
from .actions import slot_named
from .bone_keys import ROTATIONS


def own_curves(obj: bpy.types.Object) -> list[tuple[Any, bool]]:
    """F-curves and drivers that animate an object, each with whether it is muted."""
    mark, held = _mark(obj), channels(obj)
    played = [] if mark and mark["mode"] == "ACTION" else [held]
    if mark and (former := _former_action(obj)) is not None:
        played.append(channels_of(former, slot_named(former, mark.get("slot", ""))))
    acting = [tuple(each) for each in mark["drivers"]] if mark else []
    return [
        *((curve, curve.mute) for each in filter(None, played) for curve in each.fcurves),
        *(
            (driver, driver.mute and (driver.data_path, driver.array_index) not in acting)
            for driver in drivers_of(obj)
        ),
    ]


def own_tracks(obj: bpy.types.Object) -> list[bpy.types.NlaTrack]:
    """NLA tracks of an object."""
    animation: Any = obj.animation_data
    names = mark["tracks"] if (mark := _mark(obj)) is not None else ()
    return [track for track in animation.nla_tracks if track.name not in names]


def own_pose(obj: bpy.types.Object) -> list[Any]:
    """Names, places, rotations and scales of the bones of an object."""
    pose: Any = obj.pose
    mark = _mark(obj)
    turns = dict(zip(mark["bones"], mark["turns"], strict=True)) if mark else {}
    return [
        [
            bone.name,
            tuple(bone.location),
            turns.get(bone.name) or _rotations(bone),
            tuple(bone.scale),
        ]
        for bone in (pose.bones if pose is not None else ())
    ]


def _rotations(bone: Any) -> list[list[float]]:
    """The rotation of a bone in all modes, as the mark of a bake has it."""
    return [list(getattr(bone, name)) for name in ROTATIONS]


def _mark(obj: bpy.types.Object) -> dict[str, Any] | None:
    """What the keys of a bake have replaced on an object; None without such keys."""
    body = body_of_bones(obj) if obj.type == "ARMATURE" else None
    keyed = body_properties(body).keyed_bones if body is not None else ""
    return json.loads(keyed) if keyed else None


def _former_action(obj: bpy.types.Object) -> bpy.types.Action | None:
    """The action that an object played before the keys of a bake."""
    body = body_of_bones(obj)
    return None if body is None else body_properties(body).former_action
