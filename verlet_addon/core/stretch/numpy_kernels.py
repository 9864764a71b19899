"""Length constraints in NumPy: XPBD projections (Macklin, Müller, Chentanez, *XPBD*, 2016, eq. 18).

Each function projects its batches in the order given and moves `positions` (3, n) in place: Δλ =
−(C + α̃ λ) / (Σ w |∇C|² + α̃), x += w ∇C Δλ. No batch contains a particle twice.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from ..arrays import Floats, Integers, norms, sum_by, unique_in_order
from ..coloring import sequential_batches
from ..linear.tridiagonal import factorize, solve, solve_sequentially
from .coarse_levels import Level
from .distance_limits import DistanceLimitBatch
from .shear_diagonals import Diagonals
from .strip_batches import MIN_LENGTH_SHARE, StripBatch
from .strip_links import StripLinks
from .tethers import Tethers

MIN_FACE_SCALE = 0.98
"""Faces compressed to less than this share of their size resist by their diagonals too: beyond it,
folds that the mesh resolves take over. With 0.97 silk hung over a rim still moves after three
seconds; without it, it crumples to two thirds."""
REST_TOLERANCE = 1e-9
"""Relative tolerance for a length at rest: rounding must not decide whether an edge yields."""
STRAIN_LIMITING_ROUNDS = 160
"""Rounds of strain limiting at most, each over fewer edges than the one before. With 40, a dress
needs three times as many sweeps, a sheet of 10,201 vertices on two corners takes a fifth longer,
and one of 90,601 stretches by 12 % instead of 6 %."""
OVER_RELAXATION = 1.5
"""Factor on the correction of each edge in strain limiting, because its neighbours pull it back.
With 1, a dress takes a fifth more sweeps, and an irregular sheet of 22,500 vertices stretches by
2.7 % instead of 1.2 %; with 1.7, that sheet takes a sixth longer."""


def project_strips(positions: Floats, batches: Iterable[StripBatch]) -> float:
    """C = |xₖ₊₁ − xₖ| − Lₖ = 0 for all edges of a strip at once: one Newton step.

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
    for row, point, component in zip(positions, points, along, strict=True):
        pulls = np.diff(component * steps, prepend=0.0, append=0.0)
        row[batch.path] = point + batch.inverse_masses * pulls


def update_diagonal_rests(positions: Floats, diagonals: Diagonals) -> None:
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


def strain_range(positions: Floats, batches: Iterable[StripBatch]) -> tuple[float, float]:
    """The lowest and the highest (C + α̃ λ) / L, 0 included."""
    lowest, highest = 0.0, 0.0
    for batch in batches:
        strains = measure_strips(positions, batch)[2] / batch.reference_lengths
        lowest, highest = min(lowest, float(strains.min())), max(highest, float(strains.max()))
    return lowest, highest


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


def project_levels(positions: Floats, levels: Iterable[Level]) -> None:
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
    """C = |x₂ − x₁| − L ≤ 0: moves only pairs further apart than their length."""
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


def project_tethers(positions: Floats, tethers: Tethers) -> None:
    """C = |x − pin| − L ≤ 0; pins do not move, so all tethers are projected at once."""
    arms = positions.take(tethers.particles, axis=1, mode="clip")
    arms -= positions.take(tethers.pins, axis=1, mode="clip")
    reach = norms(arms)
    far = np.flatnonzero(reach > tethers.lengths)
    if len(far):
        excess = tethers.lengths[far] / reach[far] - 1.0
        particles = tethers.particles[far]
        for row, arm in zip(positions, arms, strict=True):
            row[particles] += arm[far] * excess


def limit_strain(positions: Floats, links: StripLinks, *, max_strain: float) -> bool:
    """Strain limiting: shortens overstretched edges one after the other, by Gauss–Seidel.

    Each correction stretches the neighbouring edges a little, which spreads strain peaks that
    sweeps over whole strips would move to and fro (successive over-relaxation; D. Young, *Iterative
    Methods for Solving Partial Difference Equations of Elliptic Type*, 1954). Edges shorter than
    their least length are lengthened likewise.

    Returns whether any edge is still stretched by more than `max_strain`.
    """
    candidates = np.arange(len(links.first))
    for _ in range(STRAIN_LIMITING_ROUNDS):
        overstretched = _overstretched_links(positions, links, links.tolerance, candidates)
        if not len(overstretched):
            return False
        candidates = links.at(_project_links(positions, links, overstretched))
    return len(_overstretched_links(positions, links, max_strain, candidates)) > 0


def _overstretched_links(
    positions: Floats, links: StripLinks, tolerance: float, candidates: Integers
) -> Integers:
    """The candidate links stretched by more than this share, or too short."""
    first, second = links.first[candidates], links.second[candidates]
    squares = np.zeros(len(first))
    for row in positions:
        across = row.take(second, mode="clip")
        across -= row.take(first, mode="clip")
        across *= across
        squares += across
    limits = (1.0 + tolerance) * links.rest_lengths[candidates]
    limits -= links.scaled_compliances[candidates] * links.multipliers[candidates]
    min_lengths = links.min_lengths[candidates]
    return candidates[(squares > limits * limits) | (squares < min_lengths * min_lengths)]


def _project_links(positions: Floats, links: StripLinks, overstretched: Integers) -> Integers:
    """Projects the links found; returns their particles, in the order of first correction."""
    ends = np.stack([links.first[overstretched], links.second[overstretched]])
    masses = links.inverse_masses[:, overstretched]
    for turn in sequential_batches(ends, masses > 0.0):
        link, (first, second), (to, fro) = overstretched[turn], ends[:, turn], masses[:, turn]
        compliances = links.scaled_compliances[link]
        along = positions.take(second, axis=1) - positions.take(first, axis=1)
        lengths = norms(along)
        excess = lengths - links.rest_lengths[link] + compliances * links.multipliers[link]
        shortfall = np.minimum(lengths - links.min_lengths[link], 0.0)
        # Elastic links are not over-relaxed: no later correction would undo it.
        relaxation = np.where(compliances > 0.0, 1.0, OVER_RELAXATION)
        steps = relaxation * (np.maximum(excess, 0.0) + shortfall) * links.gains[link]
        links.multipliers[link] -= steps
        pulls = steps / lengths
        # A fixed particle may be in several links, so only moving ones are written.
        positions[:, first[to > 0.0]] += (to * pulls * along)[:, to > 0.0]
        positions[:, second[fro > 0.0]] -= (fro * pulls * along)[:, fro > 0.0]
    return unique_in_order(ends.T.ravel())
