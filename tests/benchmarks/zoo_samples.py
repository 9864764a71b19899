"""Clothed people of the sample files, and the same person and clothes in other motions."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import bpy as blender
import numpy as np

from sample_blends.outfits import clothe
from sample_blends.person import BONES, Turns, make_person, pose
from tests.benchmarks.zoo_motion import Limb, capture, follow_motion
from verlet_addon.blender.scene.colliders import make_collider

bpy: Any = blender

FOLDER = Path(__file__).parents[2] / "sample_blends"
SAMPLES = {"dancer": 108, "sitter": 84}
"""Samples, and the last frame of each."""


class Clothed(NamedTuple):
    """Objects of a scene of clothed people."""

    bodies: list[Any]
    colliders: list[Any]


def make_clothed(motion: str) -> Clothed:
    """Opens a sample, or makes its person in clothes and in another motion.

    The bodies are ours already.
    """
    if motion in SAMPLES:
        bpy.ops.wm.open_mainfile(filepath=str(FOLDER / f"{motion}.blend"))
    else:
        _make(motion)
    bpy.context.scene.verlet.use_ground = False
    objects = bpy.context.scene.objects
    bodies = [obj for obj in objects if obj.verlet.enabled]
    return Clothed(bodies, [obj for obj in objects if obj.collision is not None])


def _make(motion: str) -> None:
    """Makes the person of the samples in their clothes, in a motion that they were not made for."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.context.scene.render.fps = 24
    person = make_person("Person", (0.50, 0.32, 0.22))
    make_collider(person)
    OTHERS[motion].move(person.parent)
    clothe(person)
    bpy.context.scene.frame_set(1)


def hold_by_hooks(obj: Any) -> str:
    """Replaces attachments of a body by Hook modifiers; returns the vertex group that they hold."""
    groups = set()
    for item in obj.verlet.attachments:
        hook = obj.modifiers.new("Hook", "HOOK")
        hook.object, hook.subtarget, hook.vertex_group = item.target, item.bone, item.vertex_group
        at = item.target.matrix_world
        if item.bone:
            at = at @ item.target.pose.bones[item.bone].matrix
        hook.matrix_inverse = at.inverted() @ obj.matrix_world
        groups.add(item.vertex_group)
    obj.verlet.enabled = False
    (held,) = groups
    return str(held)


def walks(rig: Any) -> None:
    """Six steps on the spot, with swinging arms."""
    for step in range(7):
        side = 1.0 if step % 2 else -1.0
        far = 0.0 if step == 0 else side
        turns: Turns = {
            "Thigh.L": (-30.0 * far, 0.0, 0.0),
            "Thigh.R": (30.0 * far, 0.0, 0.0),
            "Shin.L": (10.0 + 20.0 * max(0.0, -far), 0.0, 0.0) if far else (0.0, 0.0, 0.0),
            "Shin.R": (10.0 + 20.0 * max(0.0, far), 0.0, 0.0) if far else (0.0, 0.0, 0.0),
            "Arm.L": (25.0 * far, 8.0, 0.0),
            "Arm.R": (-25.0 * far, -8.0, 0.0),
            "Spine": (0.0, 0.0, 5.0 * far),
        }
        pose(rig, 1 + 13 * step, turns, at=(0.0, 0.0, -0.03 if far else 0.0))


def crosses_arms(rig: Any) -> None:
    """Both arms are crossed before the chest, and hang again."""
    crossed: Turns = {"Arm.L": (-28.0, 28.0, 0.0), "ForeArm.L": (-50.0, 0.0, -65.0)}
    for frame, turns in ((1, {}), (6, {}), (30, crossed), (48, crossed), (68, {}), (79, {})):
        pose(rig, frame, turns)


def jumps(rig: Any) -> None:
    """A squat, a jump by 40 cm with raised arms, a landing, and a straight stand."""
    squat: Turns = {
        "Thigh.L": (-60.0, 0.0, 0.0),
        "Shin.L": (65.0, 0.0, 0.0),
        "Spine": (25.0, 0.0, 0.0),
        "Arm.L": (35.0, 0.0, 0.0),
    }
    flight: Turns = {"Arm.L": (0.0, -60.0, 0.0), "Foot.L": (35.0, 0.0, 0.0)}
    for frame, turns, height in (
        (1, {}, 0.0),
        (6, {}, 0.0),
        (18, squat, -0.26),
        (26, flight, 0.40),
        (34, squat, -0.26),
        (50, {}, 0.0),
        (66, {}, 0.0),
    ):
        pose(rig, frame, turns, at=(0.0, 0.0, height))


JOINTS = {
    "Hips": "Hips",
    "Spine": "LowerBack",
    "Chest": "Spine1",
    "Head": "Head",
    "Arm": "Arm",
    "ForeArm": "ForeArm",
    "Hand": "Hand",
    "Thigh": "UpLeg",
    "Shin": "Leg",
    "Foot": "Foot",
}
"""The joint of motion capture that each bone follows, without its side."""


def captured(file: str, begin: float, seconds: float) -> Callable[[Any], None]:
    """A function that moves a rig as a part of a file of motion capture does [s]."""

    def move(rig: Any) -> None:
        leg = float(np.linalg.norm(np.subtract(BONES["Foot.L"][1], BONES["Thigh.L"][1])))
        motion, fps = capture(file), bpy.context.scene.render.fps
        follow_motion(rig, _limbs(), motion, leg, fps, begin=begin, seconds=seconds, arms_out=20.0)

    return move


def _limbs() -> dict[str, Limb]:
    """The bones of the samples' person, with the joints that they follow."""
    found = {}
    for name, (parent, head, tail) in BONES.items():
        kind, sides = name.partition(".")[0], ("L", "R") if name.endswith(".L") else ("",)
        for side in sides:
            mirror = np.array((-1.0 if side == "R" else 1.0, 1.0, 1.0))
            word = {"L": "Left", "R": "Right", "": ""}[side]
            found[f"{kind}.{side}" if side else kind] = Limb(
                parent.replace(".L", f".{side}"),
                np.array(head) * mirror,
                np.array(tail) * mirror,
                word + JOINTS[kind],
            )
    return found


class Other(NamedTuple):
    """A motion, and its last frame."""

    move: Callable[[Any], None]
    frame_end: int


OTHERS = {
    "walks": Other(walks, 79),
    "crosses its arms": Other(crosses_arms, 79),
    "jumps": Other(jumps, 66),
    "swings on a bar": Other(captured("01_03.bvh", 13.0, 4.0), 97),
}
"""Motions that the clothes were not made for."""
CAPTURED = ("swings on a bar",)
"""Those of motion capture, which has to be fetched."""
FRAME_ENDS = SAMPLES | {name: other.frame_end for name, other in OTHERS.items()}
"""By motion, the last frame."""
