"""Length constraints: XPBD projections (Macklin, Müller, Chentanez, *XPBD*, 2016, eq. 18).

Each function projects its batches in the order given and moves `positions` (3, n) in place: Δλ =
−(C + α̃ λ) / (Σ w |∇C|² + α̃), x += w ∇C Δλ. No batch contains a particle twice.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from ..arrays import Floats, Integers, longest_run, norms, run_ends, sum_by
from ..kernel import Sized, Struct, kernel
from ..linear.tridiagonal import factorize, solve, solve_sequentially
from ..team.parts import PATH_PART, part_count
from .coarse_levels import Level
from .distance_limits import DistanceLimitBatch, Tethers, pull_within
from .strip_batches import MIN_LENGTH_SHARE, Diagonals, StripBatch

MIN_FACE_SCALE = 0.98
"""Faces compressed to less than this share of their size resist by their diagonals too: beyond it,
folds that the mesh resolves take over. With 0.97 silk hung over a rim still moves after three
seconds; without it, it crumples to two thirds."""
REST_TOLERANCE = 1e-9
"""Rounding: relative tolerance for a length at rest, since rounding must not decide whether an edge
yields."""
MIN_CHUNK = 128
"""Size: entries of short paths that C measures and moves at a time, at least."""


def _longest_strip(batch: StripBatch) -> int:
    """Number of entries of the longest strip."""
    return longest_run(run_ends(batch.labels))


def _scratch_size(batch: StripBatch) -> int:
    """Numbers of scratch memory for all strips that are solved together."""
    return 9 * (_longest_strip(batch) + MIN_CHUNK)


Struct(
    "strip_batch",
    StripBatch,
    reads="path inverse_masses reference_lengths scaled_compliances diagonal",
    shares="rest_lengths multipliers",
    paths=(int, lambda batch: len(run_ends(batch.labels))),
    ends=(Integers, lambda batch: run_ends(batch.labels)),
    scaled_compression=(Floats, lambda batch: _or_none(batch.scaled_compression)),
    start_stiffnesses=(Floats, lambda batch: _or_none(batch.start_stiffnesses)),
    entries=(int, lambda batch: len(batch.path)),
    reals=(int, _scratch_size),
    scratch={
        "work": _scratch_size,
        "largest": lambda batch: part_count(len(batch.path), PATH_PART),
    },
)
Struct(
    "face_diagonals",
    Diagonals,
    reads="pairs faces rests weights link_indices",
    shares="rest_lengths",
    count=(int, lambda diagonals: len(diagonals.faces)),
)
Struct(
    "distance_limit_batch",
    DistanceLimitBatch,
    reads="particles rest_lengths first_masses second_masses gains",
    count=(int, lambda batch: len(batch.rest_lengths)),
)
Struct(
    "coarse_level",
    Level,
    reads="particles limits children parents weights",
    count=(int, lambda level: len(level.particles)),
    child_count=(int, lambda level: len(level.children)),
    scratch={"points moved": lambda level: (3, len(level.particles))},
)
Struct(
    "tethers",
    Tethers,
    reads="particles pins lengths",
    count=(int, lambda tethers: len(tethers.particles)),
)


def _or_none(values: Floats) -> Floats | None:
    """The values; None if there are none."""
    return values if len(values) else None


@kernel()
def project_strips(positions: Sized, batches: Sequence[StripBatch]) -> float:
    """Projects C = |xₖ₊₁ − xₖ| − Lₖ = 0 for all edges of a strip at once: one Newton step.

    (J M⁻¹ Jᵀ + α̃) Δλ = −(C + α̃ λ) is tridiagonal, since an edge shares a particle only with the
    next: wₖ + wₖ₊₁ + α̃ on the diagonal, −wₖ₊₁ dₖ · dₖ₊₁ beside it.

    Returns the largest (C + α̃ λ) / L measured before the strips were solved.
    """
    largest = 0.0
    for batch in batches:
        points, along, violation = measure_strips(positions, batch)
        largest = max(largest, float((violation / batch.reference_lengths).max()))
        _solve_strips(positions, batch, points, along, violation)
    return largest


def _solve_strips(
    positions: Floats,
    batch: StripBatch,
    points: list[Floats],
    along: list[Floats],
    violation: Floats,
) -> None:
    """Moves the points of the path by the solution of its tridiagonal system."""
    diagonal = batch.diagonal
    if len(batch.scaled_compression):
        # Edges in compression, once their tension is removed, yield down to their least length.
        compliance, max_shortening = (
            batch.scaled_compression,
            (1.0 - MIN_LENGTH_SHARE) * batch.reference_lengths,
        )
        push = batch.multipliers * diagonal - violation
        pushed = push > REST_TOLERANCE * batch.reference_lengths
        crushed = pushed & ((push - max_shortening) * compliance > max_shortening * diagonal)
        yielding = np.where(pushed & ~crushed, compliance, 0.0)
        violation += crushed * max_shortening + yielding * batch.multipliers
        diagonal = diagonal + yielding
    beside = off_diagonal(batch, along)
    if batch.runs:
        steps = solve_sequentially(diagonal, beside, violation, batch.runs)
    else:
        steps = solve(factorize(diagonal, beside, batch.reduction_rounds), violation)
    batch.multipliers[...] -= steps
    padded = np.zeros(len(steps) + 2)
    for row, point, component in zip(positions, points, along, strict=True):
        np.multiply(component, steps, out=padded[1:-1])
        pulls = padded[1:] - padded[:-1]
        pulls *= batch.inverse_masses
        pulls += point
        row[batch.path] = pulls


@kernel()
def update_diagonal_rests(positions: Sized, diagonals: Diagonals) -> None:
    """Scales the rest lengths of diagonals by the mean stretch of the diagonals of their face.

    The energy is then Σ ½ k L² (l/L − mean)², the energy of shear: neither stretch along the edges
    nor compression of the face contributes. The mean is taken at the current positions.
    """
    first, second = diagonals.pairs.T
    lengths = norms(positions[:, second] - positions[:, first])
    faces = diagonals.faces
    means = sum_by(faces, lengths * diagonals.weights, int(faces.max(initial=-1)) + 1)
    diagonals.rest_lengths[diagonals.link_indices] = (
        diagonals.rests * np.maximum(means, MIN_FACE_SCALE)[faces]
    )


@kernel(result=lambda *_: np.zeros(2))
def strain_range(positions: Sized, batches: Sequence[StripBatch]) -> Floats:
    """(2,) the lowest and the highest (C + α̃ λ) / L, 0 included."""
    lowest, highest = 0.0, 0.0
    for batch in batches:
        strains = measure_strips(positions, batch)[2] / batch.reference_lengths
        lowest, highest = min(lowest, float(strains.min())), max(highest, float(strains.max()))
    return np.array([lowest, highest])


def measure_strips(
    positions: Floats, batch: StripBatch
) -> tuple[list[Floats], list[Floats], Floats]:
    """The points of the path by axis, unit vectors along it by axis, and C + α̃ λ."""
    # mode="clip" skips the bounds check: twice as fast, and the indices are known to be valid.
    points = [row.take(batch.path, mode="clip") for row in positions]
    along = [row[1:] - row[:-1] for row in points]
    violation = norms(along)
    shares = 1.0 / violation
    for axis in range(3):
        along[axis] *= shares
    violation -= batch.rest_lengths
    violation += batch.scaled_compliances * batch.multipliers
    violation *= batch.movable
    return points, along, violation


def off_diagonal(batch: StripBatch, along: Sequence[Floats] | Floats) -> Floats:
    """(c − 2,) the elements beside the diagonal of J M⁻¹ Jᵀ."""
    cosines = along[0][:-1] * along[0][1:]
    cosines += along[1][:-1] * along[1][1:]
    cosines += along[2][:-1] * along[2][1:]
    cosines *= batch.shared_inverse_masses
    return np.asarray(np.negative(cosines, out=cosines))


@kernel()
def project_levels(positions: Sized, levels: Sequence[Level]) -> None:
    """Projects each coarse level, and interpolates its corrections to the next finer one.

    Every child moves by the weighted mean of the corrections of its parents.
    """
    for level in levels:
        moved = positions.take(level.particles, axis=1)
        before = moved.copy()
        _project_distance_limits(moved, level.limits)
        moved -= before
        if moved.any():
            for row, along in zip(positions, moved, strict=True):
                row[level.children] += np.einsum(
                    "fp,fp->f", level.weights, along.take(level.parents, mode="clip")
                )


def _project_distance_limits(positions: Floats, batches: Iterable[DistanceLimitBatch]) -> None:
    """Projects C = |x₂ − x₁| − L ≤ 0: moves only pairs further apart than their length."""
    for batch in batches:
        count = len(batch.rest_lengths)
        ends = [row.take(batch.particles, mode="clip") for row in positions]
        along = [row[count:] - row[:count] for row in ends]
        lengths = norms(along)
        steps = np.maximum(lengths - batch.rest_lengths, 0.0)
        if not steps.any():
            continue
        steps *= batch.gains
        steps /= lengths
        first, second = batch.first_masses * steps, batch.second_masses * steps
        for row, end, component in zip(positions, ends, along, strict=True):
            end[:count] += first * component
            end[count:] -= second * component
            row[batch.particles] = end


@kernel()
def project_tethers(positions: Sized, tethers: Tethers) -> None:
    """Projects C = |x − pin| − L ≤ 0; pins do not move, so all tethers are projected at once."""
    pins = positions.take(tethers.pins, axis=1, mode="clip")
    pull_within(positions, tethers.particles, pins, tethers.lengths)
