"""Angle limits of rods: springs that act on one side only, and what they are measured by."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Booleans, Floats, Integers, cross, dot, magnitudes, norms
from ..linear.quaternions import LEAST_SWING, multiply_quaternions, quaternions_by, rotate
from .rod_batches import NO_LIMIT, RodBatch


def turned_rotations(rods: RodBatch, moves: Floats) -> Floats:
    """(m, 4) rotations after displacements (m, 6)."""
    return multiply_quaternions(quaternions_by(moves[:, 3:].T), rods.rotations.T).T


@dataclass(frozen=True, eq=False)
class Limits:
    """Angle limits in one round."""

    acting: Booleans
    """(m,) bool, joints that they act on."""
    pressures: Floats
    """(m,) their moments × h² [kg m²]."""


def limits_at(rods: RodBatch, chords: Floats, slopes: Floats) -> Limits:
    """The limits that act where joints have these chords (m,), of these slopes."""
    excess = chords - rods.limits
    return Limits(excess > 0.0, np.maximum(rods.limit_stiffnesses * slopes * excess, 0.0))


def limits_after(rest: Floats, rods: RodBatch, limits: Limits, moves: Floats) -> Limits:
    """The limits that act after displacements (m, 6).

    Where they acted before, they let go of joints that their springs would pull.
    """
    chords, axes = find_chords(rest, rods, rods.rotations)
    slopes = find_slopes(chords)
    turns = moves[:, 3:] - moves[rods.parents, 3:]
    after, _ = find_chords(rest, rods, turned_rotations(rods, moves))
    chords = np.where(limits.acting, chords + slopes * dot(axes, turns.T), after)
    return limits_at(rods, chords, np.where(limits.acting, slopes, find_slopes(after)))


def find_chords(rest: Floats, rods: RodBatch, rotations: Floats) -> tuple[Floats, Floats]:
    """(m,) chords from segments as their parents turn them to those as they turn themselves.

    0 without limit. Also the (3, m) unit axes from the ones to the others.
    """
    ends = rest[:, rods.particles]
    along = units(ends - ends[:, rods.parents]) * (rods.limits < NO_LIMIT)
    before, now = rotate(rotations[rods.parents].T, along), rotate(rotations.T, along)
    return magnitudes(now - before), units(cross(before, now))


def limited_strains(positions: Floats, rods: RodBatch) -> Floats:
    """(m,) strains of inextensible segments; 0 of others.

    Segments that turn by an angle φ in a Newton step are stretched by φ²/2. Lengths, which are
    projected afterwards, would turn them beyond their limits.
    """
    stiff = (rods.parents >= 0) & ~rods.clamped & (rods.axials >= rods.shears)
    ends = positions[:, rods.particles]
    lengths = magnitudes(ends - ends[:, rods.parents])
    return np.where(stiff, np.abs(lengths / rods.lengths - 1.0), 0.0)


def find_slopes(chords: Floats) -> Floats:
    """(j,) derivatives of chords by their angles."""
    return np.asarray(np.sqrt(np.maximum(1.0 - chords**2 / 4.0, 0.0)))


def add_limits(
    rest: Floats,
    rods: RodBatch,
    nodes: Integers,
    limits: Limits,
    moments: Floats,
    stiffness: Floats,
) -> None:
    """Adds moments (j, 3) and stiffnesses (j, 3, 3) of the joints at their angle limits.

    Without the second stiffness, across the axis, steps along a narrow cone would leave it.
    """
    chosen = limits.acting[nodes]
    which = nodes[chosen]
    if not len(which):
        return
    chords, axes = (rows[..., which] for rows in find_chords(rest, rods, rods.rotations))
    slopes = find_slopes(chords)
    pulls = rods.limit_stiffnesses[which] * slopes
    cotangents = (1.0 - chords**2 / 2.0) / np.maximum(chords * slopes, LEAST_SWING)
    turned = np.maximum(limits.pressures[which] * cotangents, 0.0)
    starts, ends = rods.particles[rods.parents[which]], rods.particles[which]
    along = units(rest[:, ends] - rest[:, starts])
    beside = cross(axes, rotate(rods.rotations[which].T, along))
    squares = pulls * slopes * axes[:, None] * axes + turned * beside[:, None] * beside
    moments[chosen] += (pulls * (chords - rods.limits[which]) * axes).T
    stiffness[chosen] += squares.transpose(2, 0, 1)


def units(vectors: Floats) -> Floats:
    """(3, k) unit vectors along others."""
    return np.asarray(vectors / norms(vectors))
