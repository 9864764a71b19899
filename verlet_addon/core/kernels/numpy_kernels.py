"""XPBD projections in NumPy (Macklin, Müller, Chentanez, *XPBD*, 2016, eq. 18).

Each walks its batches in the order given and moves `positions` (3, n) in place:
Δλ = −(C + α̃ λ) / (Σ w |∇C|² + α̃), x += w ∇C Δλ; bends of surfaces take `bend_gains` instead of
that quotient. Batches hold no particle twice but hubs.
"""

from collections.abc import Iterable

import numpy as np

from ..coloring import Copies
from ..constraints import DistanceBatch, StencilBatch
from ..levels import Level
from ..mesh import Floats, Integers
from ..tethers import Tethers
from ..topology import sum_by
from ..volumes import Volumes

SHORTEST = 1e-12
"""Distances are not divided by less than this [m]; coincident particles have no direction."""
BLUNT = 1e-2
"""A bend below this has no certain side; its target turns over smoothly instead of jumping."""
CLOSED = 3.0
"""Bends |g| whose product with the bend at rest is more are both past 120°."""


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
        meet(end, batch.copies)
        row[batch.particles] = end


def meet(values: Floats, copies: Copies | None) -> None:
    """Puts all copies of each hub among the values (c,) at their mean."""
    if copies is not None:
        means = np.bincount(copies.labels, values[copies.entries] * copies.shares)
        values[copies.entries] = means[copies.labels]


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
        _put_back(positions, batch, points)


def project_flat_bends(positions: Floats, batches: Iterable[StencilBatch]) -> None:
    """C = g = 0: straight at rest, which makes the constraint linear, axis by axis."""
    for batch in batches:
        members, bend = gather_bends(positions, batch.particles, batch.coefficients)
        _scatter_bend(positions, batch, members, bend)


def project_signed_bends(positions: Floats, batches: Iterable[StencilBatch]) -> None:
    """C = g − r n̂ = 0: a hinge (p, q, a, b) keeps its bend, and the side of its faces it lies on.

    n̂ is the direction of g on the side of the faces' normals, or the normal where g is too blunt.
    """
    for batch in batches:
        members, bend = gather_bends(positions, batch.particles, batch.coefficients)
        normal = _hinge_normals(members)
        size = np.sqrt((bend * bend).sum(axis=0))
        side = np.sign((bend * normal).sum(axis=0))
        side[side == 0.0] = 1.0
        # Faces that are to lie on each other may pass through, and are not turned inside out.
        closed = size * np.abs(batch.rests) > CLOSED
        side[closed] = np.sign(batch.rests[closed])
        normal *= np.maximum(BLUNT - size, 0.0) / BLUNT
        normal += bend * (side / np.maximum(size, BLUNT))
        bend -= batch.rests * normal
        _scatter_bend(positions, batch, members, bend)


def _hinge_normals(members: Floats) -> Floats:
    """(3, c) unit normals between the two faces of each hinge."""
    edge, across = members[:, 1] - members[:, 0], members[:, 2] - members[:, 3]
    # The cross products of the edge with both arms, added up; np.cross would take twice as long.
    normal: Floats = edge[[1, 2, 0]] * across[[2, 0, 1]]
    normal -= edge[[2, 0, 1]] * across[[1, 2, 0]]
    normal /= np.maximum(np.sqrt((normal * normal).sum(axis=0)), SHORTEST)
    return normal


def gather_bends(
    positions: Floats, particles: Integers, coefficients: Floats
) -> tuple[Floats, Floats]:
    """(3, k, c) the members' positions and (3, c) the bends g = Σ coefficient · x."""
    members = positions.take(particles, axis=1, mode="clip").reshape(3, *coefficients.shape)
    bends = members[:, 0] * coefficients[0]
    for k in range(1, len(coefficients)):
        bends += members[:, k] * coefficients[k]
    return members, bends


def _scatter_bend(
    positions: Floats, batch: StencilBatch, members: Floats, violation: Floats
) -> None:
    """Moves the members against the violation (3, c), by their inverse masses."""
    violation += batch.scaled_compliances * batch.multipliers
    violation *= batch.gains
    batch.multipliers[...] -= violation
    for k, response in enumerate(batch.responses):
        members[:, k] -= response * violation
    _put_back(positions, batch, members)


def _put_back(positions: Floats, batch: StencilBatch, members: Floats) -> None:
    """Writes the members' new positions (3, k, c)."""
    for row, moved in zip(positions, members.reshape(3, -1), strict=True):
        meet(moved, batch.copies)
        row[batch.particles] = moved


def project_tethers(positions: Floats, tethers: Tethers, pins: Floats) -> None:
    """C = |x − pin| − L ≤ 0; pins (3, t) do not move, so all are solved at once."""
    arms = positions.take(tethers.particles, axis=1, mode="clip")
    arms -= pins
    squares = arms[0] * arms[0]
    squares += arms[1] * arms[1]
    squares += arms[2] * arms[2]
    far = np.flatnonzero(squares > tethers.lengths**2)
    if len(far):
        excess = tethers.lengths[far] / np.sqrt(squares[far]) - 1.0
        particles = tethers.particles[far]
        for row, arm in zip(positions, arms, strict=True):
            row[particles] += arm[far] * excess


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
