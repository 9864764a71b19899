"""A person of MakeHuman's topology, who moves as motion capture says.

The body is MakeHuman's base mesh, halfway between its young man and woman: 13,380 vertices, a
closed surface. It starts as it was modelled, arms aslant, and takes over the motion within BLEND.
"""

import json
from functools import cache
from typing import Any

import bpy as blender
import numpy as np

from tests.benchmarks.zoo_ingredients import read_makehuman
from tests.benchmarks.zoo_motion import UPRIGHT, Limb, Motion, capture, follow_motion
from tests.blender.scenes import mesh_object
from verlet_addon.core.arrays import Floats

bpy: Any = blender

DECIMETRE = 0.1
"""MakeHuman's unit [m]."""
BODY = 13_380
"""The first vertices are those of the body."""
FILE, BEGIN = "01_01.bvh", 6.0
"""The motion: jumps and a turn; and where it begins [s]."""
SECONDS = 5.0
"""How long it moves."""
ARMS_OUT = {"cleaned": 35.0, "raw": 0.0}
"""By how much upper arms are turned away from the body [°]."""
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
    """A key of each bone at each frame; fingers keep to their hands."""
    limbs = {}
    for name, bone in bones.items():
        joint = "" if "Finger" in name or "Thumb" in name or name not in motion.turns else name
        limbs[name] = Limb(bone["parent"], bone["head"], bone["tail"], joint)
    leg = float(np.linalg.norm(bones["LeftFoot"]["head"] - bones["LHipJoint"]["head"]))
    follow_motion(
        armature, limbs, motion, leg, fps, begin=BEGIN, seconds=SECONDS, arms_out=arms_out
    )
