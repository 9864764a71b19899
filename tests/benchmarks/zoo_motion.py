"""Motion capture as turns of a figure's bones, from BVH files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from mathutils import Matrix

from tests.benchmarks.zoo_ingredients import read_motion
from verlet_addon.core.arrays import Floats

UPRIGHT = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""From Y upwards, as BVH files and MakeHuman have it, to Z upwards."""


BLEND = 0.5
"""Time in which a figure goes over to the motion from where it was modelled [s]."""
TURNED = ("UpLeg", "Leg", "Arm", "ForeArm", "Hand")
"""Joints, of either side, whose bones are put into the direction that the file gives them; others
have the file's turns from where they were modelled."""


class Limb(NamedTuple):
    """A bone as it was modelled."""

    parent: str
    head: Floats
    tail: Floats
    joint: str
    """The joint that it follows; without one it keeps to its parent."""


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint of a BVH file."""

    name: str
    before: int
    """The number of the joint before; −1 for the first one."""
    offset: Floats
    """(3,) from the joint before, without turns."""
    channels: list[str] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Motion:
    """World turns of joints at frames."""

    joints: list[Joint]
    turns: dict[str, Floats]
    """(f, 3, 3) of each joint, from where nothing is turned."""
    hips: Floats
    """(f, 3) where the first joint is, in units of the file."""
    seconds: float
    """Between frames [s]."""

    def direction(self, name: str) -> Floats:
        """(3,) unit vector from a joint to the next one, or from that before, without turns."""
        number = next(k for k, joint in enumerate(self.joints) if joint.name == name)
        after = [joint.offset for joint in self.joints if joint.before == number]
        offset = next((offset for offset in after if offset.any()), self.joints[number].offset)
        found: Floats = offset / np.linalg.norm(offset)
        return found

    def leg(self) -> float:
        """From the first joint to a foot, in units of the file."""
        names = ("LeftUpLeg", "LeftLeg", "LeftFoot")
        return float(sum(np.linalg.norm(j.offset) for j in self.joints if j.name in names))


def capture(name: str) -> Motion:
    """The motion of a file, Z upwards."""
    head, _, tail = read_motion(name).partition("MOTION")
    joints = _joints(head.split())
    lines = tail.strip().splitlines()
    seconds = float(lines[1].split()[-1])
    values = iter(np.array([line.split() for line in lines[2:]], dtype=float).T)
    turns: list[Floats] = []
    hips = np.zeros((len(lines) - 2, 3))
    for joint in joints:
        turn = np.eye(3) if joint.before < 0 else turns[joint.before]
        for channel in joint.channels:
            axis = "XYZ".index(channel[0])
            if channel.endswith("position"):
                hips[:, axis] = next(values)
            else:
                turn = turn @ about(np.eye(3)[axis], np.radians(next(values)))
        turns.append(np.broadcast_to(turn, (len(hips), 3, 3)))
    world = {
        joint.name: UPRIGHT @ turn @ UPRIGHT.T for joint, turn in zip(joints, turns, strict=True)
    }
    return Motion(joints, world, hips @ UPRIGHT.T, seconds)


def _joints(words: list[str]) -> list[Joint]:
    """The joints of a file's first part, Z upwards; ends count as joints without a name."""
    joints: list[Joint] = []
    path = [-1]
    for at, word in enumerate(words):
        if word in ("ROOT", "JOINT", "End"):
            offset = np.array(words[at + 4 : at + 7], dtype=float) @ UPRIGHT.T
            joints.append(Joint("" if word == "End" else words[at + 1], path[-1], offset))
            path.append(len(joints) - 1)
        elif word == "CHANNELS":
            joints[path[-1]].channels.extend(words[at + 2 : at + 2 + int(words[at + 1])])
        elif word == "}":
            path.pop()
    return joints


def about(axis: Floats, angles: Floats) -> Floats:
    """(f, 3, 3) turns about an axis (3,) by angles (f,) [rad]."""
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    sine, cosine = np.sin(angles)[:, None, None], np.cos(angles)[:, None, None]
    found: Floats = np.eye(3) + sine * cross + (1.0 - cosine) * (cross @ cross)
    return found


def between(start: Floats, end: Floats) -> Floats:
    """(3, 3) the least turn from a unit vector (3,) to another."""
    axis = np.cross(start, end)
    sine = float(np.linalg.norm(axis))
    if sine < 1e-9:
        return np.eye(3)
    angle = np.arctan2(sine, float(start @ end))
    found: Floats = about(axis / sine, np.array([angle]))[0]
    return found


def follow_motion(
    armature: Any,
    limbs: Mapping[str, Limb],
    motion: Motion,
    leg: float,
    fps: float,
    *,
    begin: float,
    seconds: float,
    arms_out: float,
) -> None:
    """Sets a key of each bone of an armature at each frame.

    Parameters
    ----------
    limbs : by the name of a bone, parents first.
    leg : length of a leg, by which the way of the hips is scaled [m].
    begin, seconds : the part of the motion [s].
    arms_out : by how much upper arms that hang are turned away from the body [°].
    """
    times = np.arange(round(seconds * fps) + 1) / fps
    frames = np.round((begin + times) / motion.seconds).astype(int)
    share = np.clip(times / BLEND, 0.0, 1.0)
    share = share * share * (3.0 - 2.0 * share)
    root = next(limb for limb in limbs.values() if not limb.parent)
    hips = motion.hips[frames] * leg / motion.leg()
    hips[:, :2] -= hips[0, :2]
    hips[:, 2] -= root.head[2]
    turns: dict[str, Floats] = {"": np.broadcast_to(np.eye(3), (len(times), 3, 3))}
    for name, limb in limbs.items():
        before = turns[limb.parent]
        turns[name] = _turns(limb, motion, frames, arms_out) if limb.joint else before
        posed = armature.pose.bones[name]
        posed.rotation_mode = "QUATERNION"
        rest = np.array(posed.bone.matrix_local)[:3, :3]
        local = rest.T @ before.transpose(0, 2, 1) @ turns[name] @ rest
        for frame, (turn, weight) in enumerate(zip(local, share, strict=True), start=1):
            whole = Matrix(turn.tolist()).to_quaternion()
            posed.rotation_quaternion = Matrix.Identity(3).to_quaternion().slerp(whole, weight)
            posed.keyframe_insert("rotation_quaternion", frame=frame)
            if not limb.parent:
                posed.location = (rest.T @ hips[frame - 1] * weight).tolist()
                posed.keyframe_insert("location", frame=frame)


def _turns(limb: Limb, motion: Motion, frames: Any, arms_out: float) -> Floats:
    """(f, 3, 3) world turns of a bone from where it was modelled."""
    joint = limb.joint
    side = "Left" if joint.startswith("Left") else "Right"
    found = motion.turns[joint][frames]
    if any(joint == side + part for part in TURNED):
        way = limb.tail - limb.head
        found = found @ between(way / np.linalg.norm(way), motion.direction(joint))
    if "Arm" in joint or "Hand" in joint:
        chest, arm = motion.turns["Spine1"][frames], motion.turns[f"{side}Arm"][frames]
        down = -(arm @ motion.direction(f"{side}Arm"))[:, 2].clip(max=0.0)
        angles = np.radians(arms_out if side == "Right" else -arms_out) * down
        out = about(np.array([0.0, 1.0, 0.0]), angles)
        found = chest @ out @ chest.transpose(0, 2, 1) @ found
    return np.asarray(found)
