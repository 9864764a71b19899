"""XPBD projections in NumPy (Macklin, Müller, Chentanez, *XPBD*, 2016, eq. 18).

Each walks its batches in the order given and moves `positions` (3, n) in place:
Δλ = −(C + α̃ λ) / (Σ w |∇C|² + α̃), x += w ∇C Δλ. Batches hold no particle twice.
"""

from collections.abc import Iterable

import numpy as np

from ..constraints import DistanceBatch, StencilBatch
from ..levels import Level
from ..mesh import Floats
from ..strips import StripBatch
from ..tethers import Tethers
from ..topology import sum_by
from ..volumes import Volumes

SHORTEST = 1e-12
"""Distances are not divided by less than this [m]; coincident particles have no direction."""
RESOLVED = 0.1
"""A rope's sideways vibration is resolved in time up to about this (h ω)²."""
BLUNT = 1e-2
"""A bend below this has no certain side; its target turns over smoothly instead of jumping."""


def project_at_most(positions: Floats, batches: Iterable[DistanceBatch]) -> None:
    """C = |x₂ − x₁| − L ≤ 0: acts on pairs further apart than their length."""
    for batch in batches:
        ends, along, lengths = _gather(positions, batch)
        excess = np.maximum(lengths - batch.rest_lengths, 0.0)
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


def project_rope_bends(positions: Floats, batches: Iterable[StencilBatch]) -> None:
    """C = |u + v| − r = 0 for the directions u, v from a rope's particle to both neighbours.

    ∇C at the end of u is (n − u (u · n)) / length with n = (u + v)/|u + v|: it is square to the
    rope, so that a bend neither stretches it nor minds that it is stretched.
    """
    for batch in batches:
        points = np.stack([row.take(batch.particles, mode="clip") for row in positions])
        points = points.reshape(3, 3, -1)
        arms = points[:, ::2] - points[:, 1:2]
        lengths = np.maximum(np.sqrt((arms * arms).sum(axis=0)), SHORTEST)
        arms /= lengths
        bend = arms.sum(axis=1)
        size = np.sqrt((bend * bend).sum(axis=0))
        bend /= np.maximum(size, SHORTEST)
        slopes = (bend[:, None] - arms * (arms * bend[:, None]).sum(axis=0)) / lengths
        slopes = np.stack([slopes[:, 0], -slopes.sum(axis=1), slopes[:, 1]], axis=1)
        pulls = batch.inverse_masses * slopes
        resistance = (pulls * slopes).sum(axis=(0, 1)) + batch.scaled_compliances
        steps = size - batch.rests + batch.scaled_compliances * batch.multipliers[0]
        steps /= np.where(resistance > 0.0, resistance, np.inf)
        batch.multipliers[0] -= steps
        points -= pulls * steps
        for row, point in zip(positions, points, strict=True):
            row[batch.particles] = point.ravel()


def project_flat_bends(positions: Floats, batches: Iterable[StencilBatch]) -> None:
    """C = g = 0: straight at rest, which makes the constraint linear, axis by axis."""
    for batch in batches:
        for row, multipliers in zip(positions, batch.multipliers, strict=True):
            members = row.take(batch.particles, mode="clip").reshape(batch.coefficients.shape)
            steps = np.einsum("kc,kc->c", members, batch.coefficients)
            steps += batch.scaled_compliances * multipliers
            steps *= batch.gains
            multipliers[...] -= steps
            members -= batch.responses * steps
            row[batch.particles] = members.ravel()


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


def project_strips(positions: Floats, batches: Iterable[StripBatch]) -> tuple[float, float]:
    """C = |xₖ₊₁ − xₖ| − Lₖ = 0 for all edges of a strip at once: one Newton step.

    Returns the most negative and the most positive violation (C + α̃ λ) / L that it found.

    (J M⁻¹ Jᵀ + α̃) Δλ = −(C + α̃ λ) is tridiagonal, since an edge shares a particle only with the
    next: wₖ + wₖ₊₁ + α̃ on the diagonal, −wₖ₊₁ dₖ · dₖ₊₁ beside it.
    """
    shortest = longest = 0.0
    for batch in batches:
        points = [row.take(batch.path, mode="clip") for row in positions]
        along = [row[1:] - row[:-1] for row in points]
        lengths = along[0] * along[0]
        lengths += along[1] * along[1]
        lengths += along[2] * along[2]
        np.sqrt(lengths, out=lengths)
        np.maximum(lengths, SHORTEST, out=lengths)
        violation = lengths - batch.rest_lengths
        for axis in range(3):
            along[axis] /= lengths
        turn = along[0][:-1] * along[0][1:]
        turn += along[1][:-1] * along[1][1:]
        turn += along[2][:-1] * along[2][1:]
        turn *= batch.joints
        np.negative(turn, out=turn)
        violation += batch.scaled_compliances * batch.multipliers
        violation[batch.mobilities == 0.0] = 0.0
        strain = violation / batch.measures
        shortest, longest = min(shortest, strain.min()), max(longest, strain.max())
        steps = solve_tridiagonal(batch.diagonal, turn, violation, batch.rounds)
        batch.multipliers[...] -= steps
        first, second = batch.inverse_masses[:-1] * steps, batch.inverse_masses[1:] * steps
        for row, point, component in zip(positions, points, along, strict=True):
            point[:-1] += first * component
            point[1:] -= second * component
            row[batch.path] = point
    return float(shortest), float(longest)


def project_former_tension(positions: Floats, batches: Iterable[StripBatch]) -> None:
    """Starts ropes from the tension T of the step before, acting along their new directions.

    (m/h² + T/l between neighbours) x' = m x/h² is tridiagonal in the particles of a strip. A light
    rope under a heavy load turns by more than Newton's steps can follow, unless the pull that it
    has anyway is solved for implicitly; what they still have to find is its change.
    """
    for batch in batches:
        np.minimum(batch.multipliers, 0.0, out=batch.multipliers)
        points = positions[:, batch.path]
        pull = -batch.multipliers / _lengths(points)
        fixed = batch.inverse_masses == 0.0
        masses = 1.0 / np.where(fixed, 1.0, batch.inverse_masses)
        right = points * masses
        right[:, 1:] += np.where(fixed[:-1], pull, 0.0) * points[:, :-1]
        right[:, :-1] += np.where(fixed[1:], pull, 0.0) * points[:, 1:]
        masses[1:] += pull
        masses[:-1] += pull
        apart = fixed[1:] | fixed[:-1]
        solved = solve_tridiagonal(masses, np.where(apart, 0.0, -pull), right, batch.rounds + 1)
        points = np.where(fixed, points, solved)
        positions[:, batch.path] = points
        batch.multipliers[...] = -pull * _lengths(points)


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
        for row, turn in zip(previous_positions, turns, strict=True):
            row[batch.path[:-1]] += batch.inverse_masses[:-1] * turn
            row[batch.path[1:]] -= batch.inverse_masses[1:] * turn


def _directions(batch: StripBatch, positions: Floats) -> Floats:
    """(3, c − 1) unit vectors along the path."""
    points = positions[:, batch.path]
    return np.asarray(np.diff(points, axis=1) / _lengths(points))


def _lengths(points: Floats) -> Floats:
    """(c − 1,) distances along a path of points (3, c)."""
    along = np.diff(points, axis=1)
    return np.asarray(np.maximum(np.sqrt((along * along).sum(axis=0)), SHORTEST))


def solve_tridiagonal(diagonal: Floats, beside: Floats, right: Floats, rounds: int) -> Floats:
    """Solves a symmetric tridiagonal system by cyclic reduction.

    Each round eliminates every second unknown (R. W. Hockney, *A Fast Direct Solution of Poisson's
    Equation*, 1965). After `rounds` rounds no unknown is coupled to another.

    Parameters
    ----------
    diagonal : (n,) above 0.
    beside : (n − 1,) element between an unknown and the next.
    right : (…, n) right-hand sides.
    rounds : so many that runs of coupled unknowns are shorter than 2^rounds.
    """
    if rounds == 0 or len(diagonal) == 1:
        return np.asarray(right / diagonal)
    kept = diagonal[::2].copy()
    value = right[..., ::2].copy()
    left, middle = beside[::2], diagonal[1::2]
    onward = beside[1::2]
    share = left / middle
    kept[: len(middle)] -= share * left
    value[..., : len(middle)] -= share * right[..., 1::2]
    share = onward / middle[: len(onward)]
    kept[1:] -= share * onward
    value[..., 1:] -= share * right[..., 1::2][..., : len(onward)]
    share *= left[: len(onward)]
    even = solve_tridiagonal(kept, -share, value, rounds - 1)
    odd = right[..., 1::2] - left * even[..., : len(middle)]
    odd[..., : len(onward)] -= onward * even[..., 1:]
    odd /= middle
    result = np.empty_like(right)
    result[..., ::2], result[..., 1::2] = even, odd
    return result


def project_tethers(positions: Floats, tethers: Tethers) -> None:
    """C = |x − pin| − L ≤ 0; pins do not move, so all are solved at once."""
    particles, pins = tethers.particles, tethers.pins
    arms = [row.take(particles) - row.take(pins) for row in positions]
    reach = np.sqrt(arms[0] * arms[0] + arms[1] * arms[1] + arms[2] * arms[2])
    far = np.flatnonzero(reach > tethers.lengths)
    if len(far):
        excess = tethers.lengths[far] / reach[far] - 1.0
        for row, arm in zip(positions, arms, strict=True):
            row[particles[far]] += arm[far] * excess


def project_volumes(positions: Floats, volumes: Volumes, inverse_masses: Floats) -> None:
    """C = V − V₀ = 0 with 6 V = Σ a · (b × c), so ∇ₐV = (b × c)/6 for every corner."""
    corners = positions[:, volumes.triangles]
    slopes = np.stack(
        [
            np.cross(corners[:, 1], corners[:, 2], axis=0),
            np.cross(corners[:, 2], corners[:, 0], axis=0),
            np.cross(corners[:, 0], corners[:, 1], axis=0),
        ],
        axis=1,
    )
    slopes /= 6.0
    count = len(volumes.rest_volumes)
    volume = np.bincount(volumes.labels, (corners[:, 0] * slopes[:, 0]).sum(axis=0), count)
    particles = volumes.triangles.ravel()
    gradient = np.stack([sum_by(particles, row.ravel(), positions.shape[1]) for row in slopes])
    surface = np.full(positions.shape[1], -1)
    surface[volumes.triangles] = volumes.labels
    inside = np.flatnonzero(surface >= 0)
    mobility = inverse_masses[inside] * (gradient[:, inside] ** 2).sum(axis=0)
    mobility = np.bincount(surface[inside], mobility, count)
    steps = (volumes.rest_volumes - volume) / np.where(mobility > 0.0, mobility, np.inf)
    gradient *= inverse_masses
    positions[:, inside] += gradient[:, inside] * steps[surface[inside]]


def add_interpolated(positions: Floats, level: Level, corrections: Floats) -> None:
    """Every child moves by the weighted mean of its parents' corrections (3, k)."""
    for row, correction in zip(positions, corrections, strict=True):
        row[level.children] += np.einsum(
            "fp,fp->f", level.weights, correction.take(level.parents, mode="clip")
        )
