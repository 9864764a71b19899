"""A figure with bones for scenes of contact: skin around sticks, which walks, sits, folds arms."""

from typing import Any

import bpy as blender
import numpy as np
from mathutils import Matrix, Vector

from tests.benchmarks import meshes
from verlet_addon.core.arrays import Floats

bpy: Any = blender

JOINTS = {
    "head": ((0, 0, 1.72), 0.07),
    "neck": ((0, 0, 1.56), 0.035),
    "chest": ((0, 0, 1.42), 0.09),
    "hips": ((0, 0, 1.0), 0.11),
    "elbow.L": ((0.38, 0, 1.47), 0.04),
    "hand.L": ((0.85, 0, 1.5), 0.035),
    "elbow.R": ((-0.38, 0, 1.47), 0.04),
    "hand.R": ((-0.85, 0, 1.5), 0.035),
    "thigh.L": ((0.12, 0, 0.9), 0.07),
    "knee.L": ((0.13, 0, 0.5), 0.06),
    "foot.L": ((0.13, 0, 0.08), 0.05),
    "thigh.R": ((-0.12, 0, 0.9), 0.07),
    "knee.R": ((-0.13, 0, 0.5), 0.06),
    "foot.R": ((-0.13, 0, 0.08), 0.05),
}
"""Where each is, and how thick the figure is there [m]."""
BONES = [
    ("hips", "chest", ""),
    ("chest", "neck", "hips"),
    ("neck", "head", "chest"),
    *(("chest", f"elbow.{side}", "hips") for side in "LR"),
    *((f"elbow.{side}", f"hand.{side}", f"elbow.{side}") for side in "LR"),
    *(("hips", f"thigh.{side}", "hips") for side in "LR"),
    *((f"thigh.{side}", f"knee.{side}", f"thigh.{side}") for side in "LR"),
    *((f"knee.{side}", f"foot.{side}", f"knee.{side}") for side in "LR"),
]
"""From joint to joint, and the joint at the end of the bone before; a bone is named by its end."""
TURN = 2 * np.pi / 360
MOTIONS: dict[str, list[tuple[str, str, list[float]]]] = {
    "walks": [
        ("knee.L", "X", [0, -30, 30, -30, 30, -30, 30]),
        ("knee.R", "X", [0, 30, -30, 30, -30, 30, -30]),
        ("foot.L", "X", [0, 10, 30, 10, 30, 10, 30]),
        ("foot.R", "X", [0, 30, 10, 30, 10, 30, 10]),
        ("elbow.L", "Y", [0, 40, 50, 40, 50, 40, 50]),
        ("elbow.R", "Y", [0, -40, -50, -40, -50, -40, -50]),
    ],
    "sits": [
        ("knee.L", "X", [0, -40, -80, -80]),
        ("knee.R", "X", [0, -40, -80, -80]),
        ("foot.L", "X", [0, 40, 80, 80]),
        ("foot.R", "X", [0, 40, 80, 80]),
    ],
    "folds its arms": [
        ("elbow.L", "Z", [0, -35, -60, -60]),
        ("elbow.R", "Z", [0, 35, 60, 60]),
        ("hand.L", "Z", [0, -40, -75, -75]),
        ("hand.R", "Z", [0, 40, 80, 80]),
    ],
}
"""Turns of bones about an axis of the world at each half second [°]; the last one lasts."""


def make_figure(fps: float, motion: str = "") -> Any:
    """The skin, which an armature moves; it stands at the origin, arms to the sides."""
    skin = _skin()
    armature = _armature()
    _weigh(skin)
    skin.modifiers.new("Armature", "ARMATURE").object = armature
    for bone, axis, turns in MOTIONS.get(motion, []):
        _turn(armature.pose.bones[bone], axis, turns, fps)
    return skin


def _skin() -> Any:
    """A closed surface around the sticks."""
    names = list(JOINTS)
    edges = [(names.index(start), names.index(end)) for start, end, _ in BONES]
    mesh = bpy.data.meshes.new("Figure")
    mesh.from_pydata([place for place, _ in JOINTS.values()], edges, [])
    figure = bpy.data.objects.new("Figure", mesh)
    bpy.context.collection.objects.link(figure)
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.view_layer.objects.active = figure
    figure.select_set(True)
    skin = figure.modifiers.new("Skin", "SKIN")
    for vertex, (_, radius) in zip(mesh.skin_vertices[0].data, JOINTS.values(), strict=True):
        vertex.radius = (radius, radius)
    mesh.skin_vertices[0].data[names.index("hips")].use_root = True
    bpy.ops.object.modifier_apply(modifier=skin.name)
    meshes.apply("SUBSURF", levels=2)
    return figure


def _armature() -> Any:
    """Bones along the sticks."""
    bpy.ops.object.armature_add()
    armature = bpy.context.object
    bpy.ops.object.mode_set(mode="EDIT")
    bones = armature.data.edit_bones
    bones.remove(bones[0])
    for start, end, before in BONES:
        bone = bones.new(end)
        bone.head, bone.tail = JOINTS[start][0], JOINTS[end][0]
        bone.parent = bones.get(before)
    bpy.ops.object.mode_set(mode="OBJECT")
    return armature


def _weigh(skin: Any) -> None:
    """Weights of each vertex for the bones near it."""
    points = meshes.coordinates(skin.data)
    away = np.stack([_distances(points, start, end) for start, end, _ in BONES])
    shares = 1.0 / (away + 0.02) ** 6
    shares /= shares.sum(axis=0)
    shares[shares < 0.02] = 0.0
    for (_, end, _), row in zip(BONES, shares, strict=True):
        group = skin.vertex_groups.new(name=end)
        for vertex in np.flatnonzero(row).tolist():
            group.add([vertex], float(row[vertex]), "REPLACE")


def _distances(points: Floats, start: str, end: str) -> Floats:
    """(n,) from a stick [m]."""
    head, tail = (np.array(JOINTS[joint][0], float) for joint in (start, end))
    along = np.clip((points - head) @ (tail - head) / ((tail - head) @ (tail - head)), 0, 1)
    found: Floats = np.linalg.norm(points - head - along[:, None] * (tail - head), axis=1)
    return found


def _turn(bone: Any, axis: str, turns: list[float], fps: float) -> None:
    """Keys that turn a bone about an axis of the world, relative to the bone before it."""
    world = Vector([float(name == axis) for name in "XYZ"])
    own = bone.bone.matrix_local.to_3x3().inverted() @ world
    bone.rotation_mode = "QUATERNION"
    for number, turn in enumerate(turns):
        bone.rotation_quaternion = Matrix.Rotation(turn * TURN, 3, own).to_quaternion()
        bone.keyframe_insert("rotation_quaternion", frame=1 + number * fps / 2)
