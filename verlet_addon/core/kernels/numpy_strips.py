"""Strips in NumPy: each is a tridiagonal system, solved directly."""

from collections.abc import Iterable, Sequence

import numpy as np

from ..mesh import Floats, Integers
from ..strips import StripBatch
from ..topology import sum_by
from .numpy_kernels import SHORTEST, meet
from .tridiagonal import factorize, solve

EXACT = 1e-9
"""Lengths are at rest within this share: rounding must not decide what yields."""
LEAST = 0.5
"""What yields does so down to this share of its length, and keeps at least that."""
RESOLVED = 0.1
"""A rope's sideways vibration is resolved in time up to about this (h ω)²."""


def project_strips(positions: Floats, batches: Iterable[StripBatch]) -> float:
    """C = |xₖ₊₁ − xₖ| − Lₖ = 0 for all edges of a strip at once: one Newton step.

    (J M⁻¹ Jᵀ + α̃) Δλ = −(C + α̃ λ) is tridiagonal, since an edge shares a particle only with the
    next: wₖ + wₖ₊₁ + α̃ on the diagonal, −wₖ₊₁ dₖ · dₖ₊₁ beside it.

    Returns the largest (C + α̃ λ) / L that it came upon.
    """
    largest = 0.0
    for batch in batches:
        points, along, violation = _violation(positions, batch)
        largest = max(largest, float((violation / batch.measures).max()))
        _solve(positions, batch, points, along, violation)
    return largest


def _solve(
    positions: Floats,
    batch: StripBatch,
    points: list[Floats],
    along: list[Floats],
    violation: Floats,
) -> None:
    """Moves the points of the path by the solution of its tridiagonal system."""
    diagonal = batch.diagonal
    if len(batch.scaled_yielding):
        # What is not under tension, and not stretched either, yields.
        pushed = (violation < -EXACT * batch.measures) & (batch.multipliers >= 0.0)
        crushed = pushed & (violation < (LEAST - 1.0) * batch.measures)
        violation += (1.0 - LEAST) * crushed * batch.measures
        yielding = np.where(pushed & ~crushed, batch.scaled_yielding, 0.0)
        violation += yielding * batch.multipliers
        diagonal = diagonal + yielding
    steps = solve(factorize(diagonal, beside_diagonal(batch, along), batch.rounds), violation)
    batch.multipliers[...] -= steps
    first, second = batch.inverse_masses[:-1] * steps, batch.inverse_masses[1:] * steps
    for row, point, component in zip(positions, points, along, strict=True):
        point[:-1] += first * component
        point[1:] -= second * component
        meet(point, batch.copies)
        row[batch.path] = point


def add_pulls_from_start(moved: Floats, positions: Floats, batches: Iterable[StripBatch]) -> None:
    """Adds to displacements what soft links pull by their stretch at the start of a step."""
    for batch in batches:
        if len(batch.start_gains):
            along, lengths = measure_links(positions, batch.path)
            along *= batch.start_gains * (1.0 - batch.rest_lengths / lengths)
            _add_along(moved, batch, along)


def strain_range(positions: Floats, batches: Iterable[StripBatch]) -> tuple[float, float]:
    """The lowest and the highest (C + α̃ λ) / L, 0 included."""
    lowest, highest = 0.0, 0.0
    for batch in batches:
        strains = _violation(positions, batch)[2] / batch.measures
        lowest, highest = min(lowest, float(strains.min())), max(highest, float(strains.max()))
    return lowest, highest


def _violation(positions: Floats, batch: StripBatch) -> tuple[list[Floats], list[Floats], Floats]:
    """The points of the path by axis, unit vectors along it by axis, and C + α̃ λ."""
    # mode="clip" skips the bounds check: twice as fast, and the indices are ours.
    points = [row.take(batch.path, mode="clip") for row in positions]
    along = [row[1:] - row[:-1] for row in points]
    lengths = along[0] * along[0]
    lengths += along[1] * along[1]
    lengths += along[2] * along[2]
    np.sqrt(lengths, out=lengths)
    np.maximum(lengths, SHORTEST, out=lengths)
    for axis in range(3):
        along[axis] /= lengths
    violation = lengths
    violation -= batch.rest_lengths
    violation += batch.scaled_compliances * batch.multipliers
    violation *= batch.movable
    return points, along, violation


def violation_along(positions: Floats, batch: StripBatch) -> tuple[Floats, Floats]:
    """(3, c − 1) unit vectors along the path, and (c − 1,) C + α̃ λ."""
    _, along, violation = _violation(positions, batch)
    return np.stack(along), violation


def beside_diagonal(batch: StripBatch, along: Sequence[Floats] | Floats) -> Floats:
    """(c − 2,) the elements beside the diagonal of J M⁻¹ Jᵀ."""
    turn = along[0][:-1] * along[0][1:]
    turn += along[1][:-1] * along[1][1:]
    turn += along[2][:-1] * along[2][1:]
    turn *= batch.joints
    return np.asarray(np.negative(turn, out=turn))


def undo_implicit_damping(
    previous_positions: Floats, start: Floats, positions: Floats, batches: Iterable[StripBatch]
) -> None:
    """Gives back the speed that projecting along the new directions of edges has cost.

    Tension T at the step's end points along d', not along d as at its start; the difference
    w h² T (d' − d) brakes every turn, a pendulum's by ω³h per second. It also steadies stiff ropes,
    whose sideways vibration, of (h ω)² = r, explicit steps do not resolve: there it stays.
    """
    for batch in batches:
        tension = np.maximum(-batch.multipliers, 0.0)
        stiffness = tension * batch.mobilities / batch.measures
        tension = tension / (1.0 + (stiffness / RESOLVED) ** 2)
        turns = _directions(batch, positions) - _directions(batch, start)
        turns *= tension
        _add_along(previous_positions, batch, turns)


def _add_along(displacements: Floats, batch: StripBatch, pulls: Floats) -> None:
    """Adds what pulls (3, c − 1) between the particles of a path move them."""
    count = displacements.shape[1]
    for axis, pull in enumerate(pulls):
        # A tree's paths may begin at the same particle.
        moved = sum_by(batch.path[:-1], batch.inverse_masses[:-1] * pull, count)
        moved -= sum_by(batch.path[1:], batch.inverse_masses[1:] * pull, count)
        displacements[axis] += moved


def _directions(batch: StripBatch, positions: Floats) -> Floats:
    """(3, c − 1) unit vectors along the path."""
    along, lengths = measure_links(positions, batch.path)
    return along / lengths


def measure_links(positions: Floats, path: Integers) -> tuple[Floats, Floats]:
    """(3, c − 1) vectors along a path, and their lengths."""
    along = np.diff(positions.take(path, axis=1, mode="clip"), axis=1)
    return along, np.maximum(np.sqrt((along * along).sum(axis=0)), SHORTEST)
