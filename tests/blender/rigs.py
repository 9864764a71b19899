"""Armatures with tails, keyed as an animator would, and where their bones are."""

from collections.abc import Iterable, Sequence
from typing import Any

import bpy
import numpy as np

LENGTH = 0.3
"""Length of a tail [m]."""


def armature(bones: Iterable[tuple[str, str, Sequence[float], Sequence[float]]]) -> Any:
    """An armature, in Pose Mode, of bones by name: the parent's name, head and tail.

    A head at the parent's tail is connected.
    """
    data = bpy.data.armatures.new("Fox")
    obj = bpy.data.objects.new("Fox", data)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    for name, parent, head, tail in bones:
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = head, tail
        if parent:
            bone.parent = data.edit_bones[parent]
            bone.use_connect = (bone.head - bone.parent.tail).length < 1e-6 and parent != "hips"
    bpy.ops.object.mode_set(mode="POSE")
    return obj


def chain(
    name: str, parent: str, start: Sequence[float], way: Sequence[float], count: int
) -> list[tuple[str, str, Sequence[float], Sequence[float]]]:
    """Bones one after the other, from a place on, all along `way`."""
    places = np.array(start) + np.outer(np.arange(count + 1) / count, way)
    names = [f"{name}.{number}" for number in range(count)]
    parents = [parent, *names[:-1]]
    ends = zip(places[:-1].tolist(), places[1:].tolist(), strict=True)
    return [(n, p, *pair) for n, p, pair in zip(names, parents, ends, strict=True)]


def fox(count: int = 8) -> Any:
    """Hips with a tail behind them."""
    hips = ("hips", "", (0.0, 0.0, 1.0), (0.0, 0.0, 1.2))
    return armature([hips, *chain("tail", "hips", (0, 0, 1), (0, -LENGTH, 0), count)])


def swing(obj: Any, seconds: float = 2.0, *, bone: str = "hips") -> None:
    """Keys the hips to swing at 1.5 Hz, from rest on, and the scene's range to that."""
    scene = bpy.context.scene
    fps = scene.render.fps
    scene.frame_start, scene.frame_end = 0, round(seconds * fps)
    hips = obj.pose.bones[bone]
    hips.rotation_mode = "XYZ"
    for frame in range(scene.frame_end + 1):
        time = frame / fps
        share = min(time / 0.3, 1.0) ** 2 * np.sin(3.0 * np.pi * time)
        hips.location = 0.08 * share, 0.0, 0.04 * share
        hips.rotation_euler = 0.0, 0.3 * share, 0.2 * share
        for path in ("location", "rotation_euler"):
            hips.keyframe_insert(path, frame=frame)


def select(obj: Any, *names: str) -> None:
    """Selects these bones alone, in Pose Mode, the last one active."""
    bpy.context.view_layer.objects.active = obj
    if obj.mode != "POSE":
        bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="DESELECT")
    for name in names:
        bone = obj.pose.bones[name]
        (bone if hasattr(bone, "select") else bone.bone).select = True
        obj.data.bones.active = bone.bone


def pose_at(obj: Any, frame: int) -> Any:
    """(b, 4, 4) world matrices of all bones at a frame."""
    bpy.context.scene.frame_set(frame)
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    world = np.array(evaluated.matrix_world)
    return np.array([world @ np.array(bone.matrix) for bone in evaluated.pose.bones])


def poses(obj: Any) -> Any:
    """(frames, b, 4, 4) world matrices of all bones over the scene's range."""
    scene = bpy.context.scene
    return np.array([pose_at(obj, f) for f in range(scene.frame_start, scene.frame_end + 1)])


def tips(obj: Any, matrices: Any) -> Any:
    """(frames, b, 3) tails of all bones, given their matrices."""
    lengths = np.array([bone.length for bone in obj.data.bones])
    return matrices[..., :3, 3] + matrices[..., :3, 1] * lengths[:, None]
