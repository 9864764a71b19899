"""XPBD projections in NumPy (Macklin, Müller, Chentanez, *XPBD*, 2016, eq. 18).

Each walks its batches in the order given and moves `positions` (3, n) in place:
Δλ = −(C + α̃ λ) / (Σ w |∇C|² + α̃), x += w ∇C Δλ. Batches hold no particle twice.
"""

from collections.abc import Iterable

import numpy as np

from ..constraints import DistanceBatch, StencilBatch
from ..levels import Level
from ..mesh import Floats, Integers

SHORTEST = 1e-12
"""Distances are not divided by less than this [m]; coincident particles have no direction."""
BLUNT = 1e-2
"""A bend below this has no certain side; its target turns over smoothly instead of jumping."""


def project_distances(positions: Floats, batches: Iterable[DistanceBatch]) -> None:
    """C = |x₂ − x₁| − L = 0."""
    for batch in batches:
        ends, along, lengths = _gather(positions, batch)
        steps = _distance_steps(batch, lengths - batch.rest_lengths)
        _scatter(positions, batch, ends, along, steps / lengths)


def project_at_most(positions: Floats, batches: Iterable[DistanceBatch]) -> None:
    """C = |x₂ − x₁| − L ≤ 0: acts on pairs further apart than their length."""
    for batch in batches:
        ends, along, lengths = _gather(positions, batch)
        excess = np.maximum(lengths - batch.rest_lengths, 0.0)
        if excess.any():
            _scatter(positions, batch, ends, along, _distance_steps(batch, excess) / lengths)


def project_at_least(positions: Floats, batches: Iterable[DistanceBatch]) -> None:
    """C = |x₂ − x₁| − L ≥ 0: acts on pairs closer than their length."""
    for batch in batches:
        ends, along, lengths = _gather(positions, batch)
        excess = np.minimum(lengths - batch.rest_lengths, 0.0)
        if excess.any():
            _scatter(positions, batch, ends, along, _distance_steps(batch, excess) / lengths)


def _gather(positions: Floats, batch: DistanceBatch) -> tuple[list[Floats], list[Floats], Floats]:
    """Both ends of each pair by axis, the vectors between them by axis, and their lengths."""
    count = len(batch.rest_lengths)
    # mode="clip" skips the bounds check: twice as fast, and the indices are ours.
    ends = [row.take(batch.particles, mode="clip") for row in positions]
    along = [row[count:] - row[:count] for row in ends]
    squares = along[0] * along[0]
    squares += along[1] * along[1]
    squares += along[2] * along[2]
    np.sqrt(squares, out=squares)
    return ends, along, np.maximum(squares, SHORTEST, out=squares)


def _distance_steps(batch: DistanceBatch, violation: Floats) -> Floats:
    """−Δλ, also taken off the multipliers."""
    steps = violation + batch.scaled_compliances * batch.multipliers
    steps *= batch.gains
    batch.multipliers[...] -= steps
    return steps


def _scatter(
    positions: Floats,
    batch: DistanceBatch,
    ends: list[Floats],
    along: list[Floats],
    steps: Floats,
) -> None:
    """Draws both ends together along the pair, by their inverse masses."""
    count = len(steps)
    first, second = batch.first_masses * steps, batch.second_masses * steps
    for row, end, component in zip(positions, ends, along, strict=True):
        end[:count] += first * component
        end[count:] -= second * component
        row[batch.particles] = end


def project_bends(positions: Floats, batches: Iterable[StencilBatch]) -> None:
    """C = g − r ĝ = 0: the bend g keeps its size r, on whichever side it lies."""
    for batch in batches:
        members, bend = _gather_bend(positions, batch)
        size = np.sqrt(bend[0] * bend[0] + bend[1] * bend[1] + bend[2] * bend[2])
        bend *= 1.0 - batch.rests / np.maximum(size, BLUNT)
        _scatter_bend(positions, batch, members, bend)


def project_flat_bends(positions: Floats, batches: Iterable[StencilBatch]) -> None:
    """C = g = 0: straight at rest, which makes the constraint linear."""
    for batch in batches:
        members, bend = _gather_bend(positions, batch)
        _scatter_bend(positions, batch, members, bend)


def project_signed_bends(positions: Floats, batches: Iterable[StencilBatch]) -> None:
    """C = g − r n̂ = 0: a hinge (p, q, a, b) keeps its bend, and the side of its faces it lies on.

    n̂ is the direction of g on the side of the faces' normals, or the normal where g is too blunt.
    """
    for batch in batches:
        members, bend = _gather_bend(positions, batch)
        normal = _hinge_normals(members)
        size = np.sqrt((bend * bend).sum(axis=0))
        side = np.sign((bend * normal).sum(axis=0))
        side[side == 0.0] = 1.0
        normal *= np.maximum(BLUNT - size, 0.0) / BLUNT
        normal += bend * (side / np.maximum(size, BLUNT))
        bend -= batch.rests * normal
        _scatter_bend(positions, batch, members, bend)


def _hinge_normals(members: Floats) -> Floats:
    """(3, c) unit normals between the two faces of each hinge."""
    p, q, a, b = (members[:, k] for k in range(4))
    edge = q - p
    normal = np.cross(edge, a - p, axis=0) - np.cross(edge, b - p, axis=0)
    return np.asarray(normal / np.maximum(np.sqrt((normal * normal).sum(axis=0)), SHORTEST))


def _gather_bend(positions: Floats, batch: StencilBatch) -> tuple[Floats, Floats]:
    """(3, k, c) the members' positions and (3, c) the bend g = Σ coefficient · x."""
    shape = batch.coefficients.shape
    members = np.stack([row.take(batch.particles, mode="clip").reshape(shape) for row in positions])
    return members, np.einsum("akc,kc->ac", members, batch.coefficients)


def _scatter_bend(
    positions: Floats, batch: StencilBatch, members: Floats, violation: Floats
) -> None:
    """Moves the members against the violation (3, c), by their inverse masses."""
    violation += batch.scaled_compliances * batch.multipliers
    violation *= batch.gains
    batch.multipliers[...] -= violation
    for row, old, step in zip(positions, members, violation, strict=True):
        row[batch.particles] = (old - batch.responses * step).ravel()


def project_tethers(
    positions: Floats, particles: Integers, pins: Integers, lengths: Floats
) -> None:
    """C = |x − pin| − L ≤ 0; pins do not move, so all are solved at once."""
    arms = [row[particles] - row[pins] for row in positions]
    reach = np.sqrt(arms[0] * arms[0] + arms[1] * arms[1] + arms[2] * arms[2])
    far = np.flatnonzero(reach > lengths)
    if len(far):
        excess = lengths[far] / reach[far] - 1.0
        for row, arm in zip(positions, arms, strict=True):
            row[particles[far]] += arm[far] * excess


def add_interpolated(positions: Floats, level: Level, corrections: Floats) -> None:
    """Every child moves by the weighted mean of its parents' corrections (3, k)."""
    for row, correction in zip(positions, corrections, strict=True):
        row[level.children] += np.einsum(
            "fp,fp->f", level.weights, correction.take(level.parents, mode="clip")
        )
