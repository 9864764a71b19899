"""A person of MakeHuman's topology, who moves as motion capture says.

The body is MakeHuman's base mesh, halfway between its young man and woman: 13,380 vertices, a
closed surface. It starts as it was modelled, arms aslant, and takes over the motion within BLEND.
"""

import json
from functools import cache
from typing import Any

import bpy as blender
import numpy as np
from mathutils import Matrix

from tests.benchmarks.zoo_ingredients import read_makehuman
from tests.benchmarks.zoo_motion import UPRIGHT, Motion, about, between, capture
from tests.blender.scenes import mesh_object
from verlet_addon.core.arrays import Floats

bpy: Any = blender

DECIMETRE = 0.1
"""MakeHuman's unit [m]."""
BODY = 13_380
"""The first vertices are those of the body."""
BLEND = 0.5
"""Time in which the person goes over to the motion [s]."""
FILE, BEGIN = "01_01.bvh", 6.0
"""The motion: jumps and a turn; and where it begins [s]."""
SECONDS = 5.0
"""How long it moves."""
ARMS_OUT = {"cleaned": 35.0, "raw": 0.0}
"""By how much upper arms are turned away from the body [°]."""
TURNED = ("UpLeg", "Leg", "Arm", "ForeArm", "Hand")
"""Bones, of either side, that are put into the direction that the file gives them; others have
the file's turns from where they were modelled."""
Bones = dict[str, dict[str, Any]]


@cache
def places() -> Floats:
    """(v, 3) of MakeHuman's vertices, helpers included, standing on the floor [m]."""
    lines = read_makehuman("3dobjs/base.obj").splitlines()
    found = np.array([line.split()[1:4] for line in lines if line.startswith("v ")], float)
    for kind in ("male", "female"):
        name = f"targets/macrodetails/caucasian-{kind}-young.target.gz"
        rows = [line.split() for line in read_makehuman(name).splitlines() if line[:1].isdigit()]
        found[[int(row[0]) for row in rows]] += 0.5 * np.array([row[1:4] for row in rows], float)
    found[:, 1] -= found[:BODY, 1].min()
    return np.asarray(found @ UPRIGHT.T * DECIMETRE)


def faces(group: str) -> list[list[int]]:
    """Faces of a group of MakeHuman's base mesh."""
    own, found = False, []
    for line in read_makehuman("3dobjs/base.obj").splitlines():
        if line.startswith("g "):
            own = line.split()[1] == group
        elif own and line.startswith("f "):
            found.append([int(corner.split("/")[0]) - 1 for corner in line.split()[1:]])
    return found


@cache
def weights() -> dict[str, list[tuple[int, float]]]:
    """Vertices of the body and their weights for each bone."""
    found = json.loads(read_makehuman("rigs/standard/weights.cmu_mb.json"))["weights"]
    return {bone: [(v, w) for v, w in pairs if v < BODY] for bone, pairs in found.items()}


def make_person(fps: float, motion: str) -> Any:
    """The body, which an armature moves."""
    bones = _bones()
    armature = _armature(bones)
    body = mesh_object("Person", places()[:BODY].tolist(), [], faces("body"))
    for bone, pairs in weights().items():
        group = body.vertex_groups.new(name=bone)
        for vertex, weight in pairs:
            group.add([vertex], weight, "REPLACE")
    body.modifiers.new("Armature", "ARMATURE").object = armature
    _animate(armature, bones, capture(FILE), fps, ARMS_OUT[motion])
    return body


def _bones() -> Bones:
    """Bones by name, those before others first: "head" and "tail" [m], and "parent"."""
    found = json.loads(read_makehuman("rigs/standard/rig.cmu_mb.json"))
    corners: dict[str, set[int]] = {}
    for line in read_makehuman("3dobjs/base.obj").splitlines():
        if line.startswith("g "):
            group = corners.setdefault(line.split()[1], set())
        elif line.startswith("f "):
            group.update(int(corner.split("/")[0]) - 1 for corner in line.split()[1:])

    def place(end: dict[str, Any]) -> Floats:
        own = corners[end["cube_name"]] if end["strategy"] == "CUBE" else end["vertex_indices"]
        return np.asarray(places()[sorted(own)].mean(axis=0))

    order: Bones = {}
    while len(order) < len(found):
        for name, bone in found.items():
            if name not in order and bone["parent"] in ("", *order):
                ends = {end: place(bone[end]) for end in ("head", "tail")}
                order[name] = {"parent": bone["parent"], **ends}
    return order


def _armature(bones: Bones) -> Any:
    """MakeHuman's rig for this motion capture."""
    bpy.ops.object.armature_add()
    armature = bpy.context.object
    bpy.ops.object.mode_set(mode="EDIT")
    made = armature.data.edit_bones
    made.remove(made[0])
    for name, bone in bones.items():
        new = made.new(name)
        new.head, new.tail = bone["head"].tolist(), bone["tail"].tolist()
        new.parent = made.get(bone["parent"])
    bpy.ops.object.mode_set(mode="OBJECT")
    return armature


def _animate(armature: Any, bones: Bones, motion: Motion, fps: float, arms_out: float) -> None:
    """A key of each bone at each frame."""
    times = np.arange(round(SECONDS * fps) + 1) / fps
    frames = np.round((BEGIN + times) / motion.seconds).astype(int)
    share = np.clip(times / BLEND, 0.0, 1.0)
    share = share * share * (3.0 - 2.0 * share)
    turns = {name: _turns(name, bones, motion, frames, arms_out) for name in bones}
    size = bones["LeftFoot"]["head"] - bones["LHipJoint"]["head"]
    hips = motion.hips[frames] * float(np.linalg.norm(size)) / motion.leg()
    hips[:, :2] -= hips[0, :2]
    hips[:, 2] -= bones["Hips"]["head"][2]
    for name, bone in bones.items():
        posed = armature.pose.bones[name]
        posed.rotation_mode = "QUATERNION"
        rest = np.array(posed.bone.matrix_local)[:3, :3]
        before = turns.get(bone["parent"], np.broadcast_to(np.eye(3), turns[name].shape))
        local = rest.T @ before.transpose(0, 2, 1) @ turns[name] @ rest
        for frame, (turn, weight) in enumerate(zip(local, share, strict=True), start=1):
            whole = Matrix(turn.tolist()).to_quaternion()
            posed.rotation_quaternion = Matrix.Identity(3).to_quaternion().slerp(whole, weight)
            posed.keyframe_insert("rotation_quaternion", frame=frame)
            if not bone["parent"]:
                posed.location = (rest.T @ hips[frame - 1] * weight).tolist()
                posed.keyframe_insert("location", frame=frame)


def _turns(name: str, bones: Bones, motion: Motion, frames: Any, arms_out: float) -> Floats:
    """(f, 3, 3) world turns of a bone from where it was modelled; fingers keep to their hands."""
    while name not in motion.turns or "Finger" in name or "Thumb" in name:
        name = bones[name]["parent"]
    side = "Left" if name.startswith("Left") else "Right"
    found = motion.turns[name][frames]
    if any(name == side + part for part in TURNED):
        bone = bones[name]
        way = bone["tail"] - bone["head"]
        found = found @ between(way / np.linalg.norm(way), motion.direction(name))
    if "Arm" in name or "Hand" in name:
        chest, arm = motion.turns["Spine1"][frames], motion.turns[f"{side}Arm"][frames]
        down = -(arm @ motion.direction(f"{side}Arm"))[:, 2].clip(max=0.0)
        angles = np.radians(arms_out if side == "Right" else -arms_out) * down
        out = about(np.array([0.0, 1.0, 0.0]), angles)
        found = chest @ out @ chest.transpose(0, 2, 1) @ found
    return np.asarray(found)
