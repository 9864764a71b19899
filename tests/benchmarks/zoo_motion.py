"""Motion capture as turns of a figure's bones, from BVH files."""

from dataclasses import dataclass, field

import numpy as np

from tests.benchmarks.zoo_ingredients import read_motion
from verlet_addon.core.arrays import Floats

UPRIGHT = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""From Y upwards, as BVH files and MakeHuman have it, to Z upwards."""


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
