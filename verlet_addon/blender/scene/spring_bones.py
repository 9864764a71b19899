"""Spring bones as other programs describe them, in the terms of soft bones."""

from cmath import log, sqrt
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from math import pi
from typing import Any

import bmesh
import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...core.arrays import Floats

LEAST_ROOT = 1e-6
"""Least size of a root: what is overdamped to the utmost has its faster root at zero, whose
logarithm is infinite."""
SIDES, RINGS = 24, 13
"""Segments of spheres; an odd number of rings has no vertices on the equator, where capsules are
cut in half."""


Moments = Callable[[Floats, Floats], Floats]
"""Moments at the heads of bones `before`, by the acceleration of bones `bone`: their numbers in a
chain from 1 on, that can be broadcast. In units that cancel out."""


@dataclass(frozen=True, kw_only=True)
class SpringBone:
    """One bone that follows through; its first four values are those of `BONE_SETTINGS`."""

    frequency: float
    """[Hz]"""
    damping_ratio: float
    radius: float | None = None
    """[m]; None if nothing is said about it, or zero."""
    angle_limit: float = pi
    """[rad]"""
    gravity: float = 0.0
    """Acceleration downward [m/s²]."""
    air_damping: float | None = None
    """[1/s]; None if nothing is said about it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ColliderShape:
    """A collider that goes with a bone, or with the armature."""

    name: str
    bone: str
    """Empty for the armature."""
    points: Floats
    """(v, 3) in the space of the bone at its head, else of the armature."""
    faces: list[tuple[int, ...]]


@dataclass(frozen=True, kw_only=True)
class RigSprings:
    """All that a format says about the bones of an armature that follow through."""

    source: str
    """The format, as a noun in the plural."""
    bones: dict[str, SpringBone]
    """By name; bones that stand on one of these, and have none, move as that does."""
    colliders: list[ColliderShape] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    """Sentences on what has no counterpart here."""


def swing(total: float, product: float, step: float) -> tuple[float, float]:
    """Frequency [Hz] and damping ratio of x'' = total x' - product x, stepwise.

    The roots z of z² - total z + product turn x by exp(s step) in each step, so s = log(z) / step
    are the roots of the oscillator s² + 2 ζ ω s + ω² = 0.

    Parameters
    ----------
    total, product : sum and product of the roots z.
    step : time between steps [s].
    """
    spread = sqrt(total * total - 4.0 * product)
    roots = [(total + spread) / 2.0, (total - spread) / 2.0]
    slow, fast = (log(max(z, LEAST_ROOT, key=abs)) / step for z in roots)
    angular = (abs(slow) * abs(fast)) ** 0.5
    if angular * step < LEAST_ROOT:
        return 0.0, 0.0
    return angular / (2.0 * pi), max(-(slow + fast).real / (2.0 * angular), 0.0)


def pulled_swing(pull: float, drag: float, step: float) -> tuple[float, float]:
    """Frequency [Hz] and damping ratio of a point that is moved to its rest by a share in a step.

    The step is x'' = (1 - pull) (x' + (1 - drag) (x' - x)), as VRM, Wiggle 2 and Jiggle Physics
    have it for small angles.
    """
    kept = 1.0 - min(max(pull, 0.0), 1.0)
    inert = 1.0 - min(max(drag, 0.0), 1.0)
    return swing(kept * (1.0 + inert), kept * inert, step)


def dragged_swing(pull: float, drag: float, step: float) -> tuple[float, float, float]:
    """Frequency [Hz], damping ratio without air, and damping of air [1/s], of a point in a world.

    The step is that of `pulled_swing`; its drag acts on the motion in the world, as air does, and
    its pull, which is implicit, also damps the motion relative to the rest.
    """
    frequency, ratio = pulled_swing(pull, drag, step)
    inner = pull / max(1.0 - pull, LEAST_ROOT)
    share = inner / (inner + drag) if inner + drag > 0.0 else 0.0
    return frequency, ratio * share, 4.0 * pi * frequency * ratio * (1.0 - share)


def in_chains(
    armature: bpy.types.Object, bones: dict[str, SpringBone], moments: Moments
) -> dict[str, SpringBone]:
    """Bones with the frequencies of their chains in place of those of a single bone.

    When the first bone turns slowly, a chain's tip is then left behind as far as in the other
    program. The damping ratio of bends is less by as much as the frequency.
    """
    data: Any = armature.data
    counts: dict[str, int] = {}
    for name in bones:
        above = sum(each.name in bones for each in data.bones[name].parent_recursive)
        for each in (data.bones[name], *data.bones[name].parent_recursive):
            counts[each.name] = max(counts.get(each.name, 0), above + 1)
    shares = {count: _chain_share(count, moments) for count in set(counts.values())}
    return {
        name: replace(
            bone,
            frequency=bone.frequency * shares[counts[name]],
            damping_ratio=bone.damping_ratio * shares[counts[name]],
        )
        for name, bone in bones.items()
    }


def own_moments(bone: Floats, before: Floats) -> Floats:
    """Moments of bones that do not feel those behind them, as those of VRM."""
    return np.where(bone == before, bone, 0.0)


def shared_moments(bone: Floats, before: Floats) -> Floats:
    """Moments of Wiggle 2 with its default quality of two iterations.

    In the first each bone alone gets its half of the pull, in the second the bone before gets half
    of that: three quarters act on a bone, which passes a third of that on. The first bone has all.
    """
    passed = np.where(bone >= before, bone / 3.0 ** (bone - before), 0.0)
    felt: Floats = passed * np.where(before > 1.0, 4.0 / 3.0, 1.0)
    return felt


def rod_moments(bone: Floats, before: Floats) -> Floats:
    """Moments of rigid rods on each other, as those of MMD."""
    lever = (bone - 0.5) * (bone - before + 0.5) + 1.0 / 12.0
    return np.where(bone >= before, lever, 0.0)


def _chain_share(count: int, moments: Moments) -> float:
    """Frequency of a chain over that of a single bone of it.

    A chain of length n L whose root turns with the acceleration a has its tip left behind by
    n L a / ω². In the other program, bone i turns by its moment over ω₀², and takes all behind it
    along.
    """
    numbers = np.arange(1.0, count + 1.0)
    acting = moments(numbers[None, :], numbers[:, None]).sum(axis=1)
    alone = moments(np.ones((1, 1)), np.ones((1, 1)))[0, 0]
    return float(np.sqrt(count * alone / (acting @ numbers[::-1])))


def capsule(start: Vector, end: Vector, radius: float) -> tuple[Floats, list[tuple[int, ...]]]:
    """Vertices (v, 3) and faces of a capsule between two points; of a sphere, if they are one."""
    ball = bmesh.new()
    try:
        bmesh.ops.create_uvsphere(ball, u_segments=SIDES, v_segments=RINGS, radius=radius)
        points = np.array([vertex.co for vertex in ball.verts], np.float64)
        faces = [tuple(vertex.index for vertex in face.verts) for face in ball.faces]
    finally:
        ball.free()
    way = end - start
    points[points[:, 2] > 0.0, 2] += way.length
    turn = way.to_track_quat("Z", "Y").to_matrix() if way.length else Matrix.Identity(3)
    return points @ np.array(turn).T + np.array(start), faces


def moved(points: Iterable[Vector], matrix: Matrix) -> Floats:
    """Points (v, 3) under a matrix."""
    return np.array([matrix @ point for point in points], np.float64).reshape(-1, 3)
