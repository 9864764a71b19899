"""Bends: XPBD projections (Macklin, Müller, Chentanez, *XPBD*, 2016, eq. 18).

Each function projects its batches in the order given and moves `positions` (3, n) in place: Δλ =
−(C + α̃ λ) / (Σ w |∇C|² + α̃), x += w ∇C Δλ. No batch contains a particle twice.
"""

from collections.abc import Sequence

import numpy as np

from ..arrays import Floats, Integers, longest_run, norms, run_ends, sum_rows
from ..kernel import Sized, Struct, kernel
from ..linear import nested_dissection, pentadiagonal
from .bend_paths import BendPathBatch
from .constraints import BendBatches
from .stencil_batches import StencilBatch, Stencils
from .stiff_bends import StiffBendBatch

MIN_SIDED_BEND = 1e-2
"""|g| below which a bend has no reliable direction: its target is turned smoothly to the normal.
With half and with twice, cloth with rest angles lies up to 3 mm elsewhere."""
BOTH_FOLDED_PRODUCT = 3.0
"""Product of |g| now and at rest above which a hinge counts as folded in both states: √3 each at
120°. With half and with twice, scans with tiny edges lie 5 mm elsewhere; cloth without such folds
does not move."""


def _path_ends(batch: BendPathBatch) -> Integers:
    """(p,) end of each path among the rungs."""
    bent = batch.coefficients.any(axis=0)
    linked = np.zeros(batch.rungs.shape[1] - 1, dtype=bool)  # each rung to the next
    for first in range(len(linked) - len(bent) + 1):
        linked[first : first + len(bent)] |= bent
    return run_ends(np.cumsum(np.append(False, ~linked)))


def _free_numbers(batch: StiffBendBatch) -> Integers:
    """(n,) number of each particle among the free ones; the number of these for pinned ones."""
    number = np.full(int(batch.particles.max()) + 1, len(batch.free))
    number[batch.free] = np.arange(len(batch.free))
    return number


def _scratch_size(batch: BendPathBatch) -> int:
    """Numbers of scratch memory for a path: its points and its steps."""
    return longest_run(_path_ends(batch)) * (len(batch.rungs) + 1) * 3


Struct(
    "stencil_batch",
    StencilBatch,
    reads="particles inverse_masses coefficients responses rests scaled_compliances gains",
    shares="multipliers",
    members=(int, lambda batch: len(batch.coefficients)),
    count=(int, lambda batch: len(batch.rests)),
)
Struct(
    "bend_path_batch",
    BendPathBatch,
    reads="scaled_compliances slots",
    shares="multipliers",
    count=(int, lambda batch: len(batch.slots)),
    multiplier_count=(int, lambda batch: batch.multipliers.shape[1]),
    members=(int, lambda batch: len(batch.coefficients)),
    paths=(int, lambda batch: len(_path_ends(batch))),
    ends=(Integers, _path_ends),
    rungs=(Integers, lambda batch: batch.rungs.T),
    coefficients=(Floats, lambda batch: batch.coefficients.T),
    responses=(Floats, lambda batch: batch.responses.T),
    factors=(Floats, lambda batch: batch.bands.factors),
    reals=(int, _scratch_size),
    scratch={"work": _scratch_size},
)
Struct(
    "stiff_bend_batch",
    StiffBendBatch,
    reads="particles coefficients stiffnesses rests free masses",
    shares="multipliers",
    count=(int, lambda batch: len(batch.stiffnesses)),
    free_count=(int, lambda batch: len(batch.free)),
    number=(Integers, _free_numbers),
    system=(
        nested_dissection.RightSides,
        lambda batch: nested_dissection.RightSides(
            batch.system, np.zeros((3, len(batch.free) + 1))
        ),
    ),
)


@kernel()
def project_rope_bends(positions: Sized, batches: Sequence[StencilBatch]) -> None:
    """Projects C = |u + v| − r = 0, with directions u, v from a particle to both neighbours.

    ∇C at the end of u is (n − u (u · n)) / length with n = (u + v)/|u + v|: it is perpendicular to
    the rope, so that bends do not change lengths, nor lengths bends.
    """
    for batch in batches:
        points = np.stack([row.take(batch.particles, mode="clip") for row in positions])
        points = points.reshape(3, 3, -1)
        arms = points[:, ::2] - points[:, 1:2]
        lengths = norms(arms)
        arms /= lengths
        bend = arms.sum(axis=1)
        size = norms(bend)
        bend /= size
        slopes = (bend[:, None] - arms * (arms * bend[:, None]).sum(axis=0)) / lengths
        slopes = np.stack([slopes[:, 0], -slopes.sum(axis=1), slopes[:, 1]], axis=1)
        responses = batch.inverse_masses * slopes
        resistance = (responses * slopes).sum(axis=(0, 1)) + batch.scaled_compliances
        steps = size - batch.rests + batch.scaled_compliances * batch.multipliers[0]
        steps /= np.where(resistance > 0.0, resistance, np.inf)
        batch.multipliers[0] -= steps
        points -= responses * steps
        _scatter(positions, batch, points)


@kernel()
def project_surface_bends(positions: Sized, batches: Sequence[StencilBatch]) -> None:
    """Projects C = g − r n̂ = 0, linear where r = 0; n̂ keeps hinges on their side at rest."""
    for batch in batches:
        members, violations = bend_violations(positions, batch)
        violations += batch.scaled_compliances * batch.multipliers
        violations *= batch.gains
        batch.multipliers[...] -= violations
        for k, response in enumerate(batch.responses):
            members[:, k] -= response * violations
        _scatter(positions, batch, members)


def bend_violations(
    positions: Floats, batch: StencilBatch | StiffBendBatch
) -> tuple[Floats, Floats]:
    """(3, k, c) positions of the members, and (3, c) violations g − r n̂ of the bends."""
    members, violations = gather_bends(positions, batch.particles, batch.coefficients)
    bent = np.flatnonzero(batch.rests)
    if len(bent):
        rests = batch.rests[bent]
        violations[:, bent] -= rests * hinge_directions(
            members[:, :, bent], violations[:, bent], rests
        )
    return members, violations


def hinge_directions(members: Floats, bends: Floats, rests: Floats) -> Floats:
    """(3, c) n̂: g/|g|, turned to the side of the hinge's normal; for small |g| the normal itself.

    Parameters
    ----------
    members : (3, 4, c) positions of (p, q, a, b) [m].
    bends : (3, c) bends g.
    rests : (c,) rest lengths r of g, positive on the side of the normal.
    """
    normal = _hinge_normals(members)
    size = norms(bends)
    side = _sides(bends, size, normal, rests)
    normal *= np.maximum(MIN_SIDED_BEND - size, 0.0) / MIN_SIDED_BEND
    normal += bends * (side / np.maximum(size, MIN_SIDED_BEND))
    return normal


def _sides(bend: Floats, size: Floats, normal: Floats, rests: Floats) -> Floats:
    """(c,) 1 where hinges are bent to the side of their normals, −1 elsewhere."""
    side = np.sign((bend * normal).sum(axis=0))
    side[side == 0.0] = 1.0
    # Faces folded onto each other now and at rest may pass through: the hinge keeps its side.
    both_folded = size * np.abs(rests) > BOTH_FOLDED_PRODUCT
    side[both_folded] = np.sign(rests[both_folded])
    return np.asarray(side)


def signed_bends(positions: Floats, hinges: Stencils) -> Floats:
    """(m,) |g| of hinges, negative on the side opposite to their normals."""
    members, bend = gather_bends(positions, hinges.members.T.ravel(), hinges.coefficients.T)
    size = norms(bend)
    return _sides(bend, size, _hinge_normals(members), hinges.rests) * size


def rope_bends(positions: Floats, bends: Stencils) -> Floats:
    """(m,) |u + v| of ropes, with u and v the directions from a particle to both neighbours."""
    points = positions[:, bends.members]
    arms = points[:, :, ::2] - points[:, :, 1:2]
    return norms((arms / norms(arms)).sum(axis=2))


def _hinge_normals(members: Floats) -> Floats:
    """(3, c) unit normals of hinges: the normalized sum of both faces' normals."""
    edge, across = members[:, 1] - members[:, 0], members[:, 2] - members[:, 3]
    # The sum of the edge's cross products with both arms; np.cross would take twice as long.
    normal: Floats = edge[[1, 2, 0]] * across[[2, 0, 1]]
    normal -= edge[[2, 0, 1]] * across[[1, 2, 0]]
    normal *= 1.0 / norms(normal)
    return normal


@kernel()
def project_bend_paths(positions: Sized, batches: Sequence[BendPathBatch]) -> None:
    """Projects C = g = 0 for all bends of a path at once, linear in the positions.

    (C M⁻¹ Cᵀ + α̃) Δλ = −(g + α̃ λ) is solved directly, with one matrix for all three axes. Batches
    may share their multipliers λ.
    """
    for batch in batches:
        multipliers = batch.multipliers.take(batch.slots, axis=1, mode="clip")
        steps = batch.scaled_compliances * multipliers
        points, members, steps = path_bends(positions, batch, steps)
        steps = pentadiagonal.solve(batch.bands, steps)
        for row, moved in zip(batch.multipliers, multipliers - steps, strict=True):
            row[batch.slots] = moved
        for responses, member in reversed([*zip(batch.responses, members, strict=True)]):
            np.subtract(member, responses * steps, out=member)
        for row, moved in zip(positions, points, strict=True):
            row[batch.rungs] = moved


def path_bends(
    positions: Floats, batch: BendPathBatch, more: Floats | float = 0.0
) -> tuple[Floats, list[Floats], Floats]:
    """(3, s, c) positions of rungs, views (3, l) of bends' members, and (3, l) g plus `more`."""
    points, size = positions.take(batch.rungs, axis=1, mode="clip"), len(batch.slots)
    spans = range(points.shape[2] - size + 1)
    members = [point for k in spans for point in points[..., k : k + size].swapaxes(0, 1)]
    parts = (c * member for c, member in zip(batch.coefficients, members, strict=True))
    return points, members, np.asarray(sum(parts, start=more))


@kernel()
def project_stiff_bends(positions: Sized, batches: Sequence[StiffBendBatch]) -> None:
    """Projects C = g − r n̂ = 0 for all bends at once, by the d of M d + Σ c C(x + d)/α̃ = −λ.

    λ are the multipliers: M times the displacements by bends earlier in the step. n̂ is that of x,
    for the constant matrix M + Σ c cᵀ/α̃ takes it as fixed. So rotation of hinges with a rest angle
    is resisted within a step, except in free flight; the state at rest is exact.
    """
    for batch in batches:
        moved = nested_dissection.solve(
            batch.system, -stiff_bend_forces(positions, batch, batch.multipliers)
        )
        batch.multipliers[...] += batch.masses * moved
        positions[:, batch.free] += moved


def stiff_bend_forces(positions: Floats, batch: StiffBendBatch, before: Floats) -> Floats:
    """(3, f) `before` + Σ c (g − r n̂)/α̃: h² times the force of stiff bends, negated [kg m]."""
    moments = bend_violations(positions, batch)[1] * batch.stiffnesses
    each = (batch.coefficients[:, None] * moments).transpose(1, 2, 0).reshape(3, -1)
    order = batch.particles.reshape(batch.coefficients.shape).T.ravel()
    particles = np.concatenate([batch.free, order])
    rows = np.concatenate([before, each], axis=1)
    return sum_rows(particles, rows, positions.shape[1])[:, batch.free]


def gather_bends(
    positions: Floats, particles: Integers, coefficients: Floats
) -> tuple[Floats, Floats]:
    """(3, k, c) positions of the members, and (3, c) the bends g = Σ coefficient · x."""
    members = positions.take(particles, axis=1, mode="clip").reshape(3, *coefficients.shape)
    bends = members[:, 0] * coefficients[0]
    for k in range(1, len(coefficients)):
        bends += members[:, k] * coefficients[k]
    return members, bends


def _scatter(positions: Floats, batch: StencilBatch, members: Floats) -> None:
    """Writes the new positions (3, k, c) of the members."""
    for row, moved in zip(positions, members.reshape(3, -1), strict=True):
        row[batch.particles] = moved


def project_bends(positions: Floats, bends: BendBatches, *, backwards: bool) -> None:
    """Projects all bends of ropes and surfaces, at positions (3, n).

    Ropes alone go `backwards`. The order of surfaces is constant, because damping compares their
    bends from step to step.
    """
    project_rope_bends(positions, bends.ropes[:: -1 if backwards else 1])
    project_stiff_bends(positions, bends.stiff)
    project_bend_paths(positions, bends.paths)
    project_surface_bends(positions, bends.soft)
