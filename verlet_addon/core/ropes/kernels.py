"""Lengths of ropes without rings in NumPy: solved directly, from the branches to the root and back.

The branches at a junction respond to its displacement u with a force f − K u, so that in the path
through it the junction is a particle of inverse mass W = w (1 + w K)⁻¹, a 3 × 3 matrix (R.
Featherstone, *The Calculation of Robot Dynamics Using Articulated-Body Inertias*, 1983). Time is
linear in the number of particles.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers, cofactors, norms, sum_by
from ..kernel import Sized, Struct, kernel
from ..linear.tridiagonal import factorize, solve
from ..stretch.kernels import measure_strips, off_diagonal, project_strips, strain_range
from ..stretch.strip_batches import StripBatch
from .constraints import RopeBatches
from .rope_lengthening import PinSpans, span_lengths
from .rope_trees import Generation, TreeBatches

RESOLVED_VIBRATION = 0.1
"""(h ω)² up to which steps resolve a rope's lateral vibration. Half and twice as much pass the same
tests; with no limit 1,000 links with a heavy tip stretch."""


@dataclass(frozen=True, eq=False)
class _PathResponse:
    """Solution of a generation's paths for fixed junctions, and its sensitivity to their motion."""

    along: Floats
    """(3, c − 1) directions of the links."""
    steps: Floats
    """(c − 1,) −Δλ with the supporting junctions fixed."""
    response: Floats
    """(c − 1,) −Δλ per unit elongation of the first link."""
    mobility: Floats
    """(c, 3, 3) W of the junctions along the paths; 0 elsewhere."""


Struct(
    "generation",
    Generation,
    reads="batch supports junctions",
    is_hung=(int, lambda generation: bool((generation.supports >= 0).any())),
    scratch={
        "along": lambda generation: (len(generation.batch.path), 3),
        "steps response": lambda generation: len(generation.batch.path),
    },
)
Struct(
    "tree",
    TreeBatches,
    reads="generations inverse_masses",
    junctions=(int, lambda trees: len(trees.inverse_masses)),
    scratch={
        "stiffness mobility": lambda trees: (len(trees.inverse_masses), 3, 3),
        "force displacement": lambda trees: (len(trees.inverse_masses), 3),
    },
)

Struct(
    "pin_spans",
    PinSpans,
    reads="nodes ends links starts counts",
    count=(int, lambda spans: len(spans.starts)),
)
Struct(
    "ropes",
    RopeBatches,
    reads="strip_system search_directions trees rings strips spans",
    shares="rests lengthened",
    links=(int, lambda ropes: len(ropes.rests)),
    span_lengths=(Floats, lambda ropes: span_lengths(ropes.spans, ropes.rests)),
)


@kernel()
def project_trees(positions: Sized, trees: TreeBatches) -> None:
    """Projects C = |xₖ₊₁ − xₖ| − Lₖ = 0 for all links of trees at once: one Newton step."""
    _solve_trees(
        positions, trees, [_measure_links(positions, each.batch) for each in trees.generations]
    )


@kernel()
def remove_stretching(displacements: Floats, positions: Sized, trees: TreeBatches) -> None:
    """Removes from displacements (3, n) the part that stretches links, to first order.

    u' = u − M⁻¹ Jᵀ (J M⁻¹ Jᵀ + α̃)⁻¹ J u, at positions (3, n): a push on one particle moves the
    rope with it.
    """
    measured = [_measure_links(positions, each.batch) for each in trees.generations]
    for (along, violation), each in zip(measured, trees.generations, strict=True):
        elongations = np.diff(displacements.take(each.batch.path, axis=1), axis=1)
        violation[...] = np.einsum("xk,xk->k", along, elongations) * each.batch.movable
    _solve_trees(displacements, trees, measured)


LinkStrains = tuple[Floats, Floats]
"""(3, c − 1) directions of a generation's links, and (c − 1,) their excess lengths."""


def _measure_links(positions: Floats, batch: StripBatch) -> LinkStrains:
    """(3, c − 1) directions of the links, and (c − 1,) C + α̃ λ [m]."""
    _, along, violation = measure_strips(positions, batch)
    return np.stack(along), violation


def _solve_trees(moved: Floats, trees: TreeBatches, measured: Sequence[LinkStrains]) -> None:
    """Adds to `moved` (3, n) the displacements that remove the excess lengths of links."""
    count = len(trees.inverse_masses)
    stiffness, force, displacements = (np.zeros((count, *shape)) for shape in ((3, 3), (3,), (3,)))
    solved = []
    for generation, links in zip(reversed(trees.generations), reversed(measured), strict=True):
        responses = _solve_generation(links, trees, generation, stiffness, force)
        hung, first = _hung_paths(generation)
        directions = responses.along[:, first].T
        squares = directions[:, :, None] * directions[:, None, :]
        np.add.at(stiffness, hung, responses.response[first, None, None] * squares)
        np.add.at(force, hung, responses.steps[first, None] * directions)
        solved.append(responses)
    for generation, responses in zip(trees.generations, reversed(solved), strict=True):
        _move_generation(moved, generation, responses, force, displacements)


def _hung_paths(generation: Generation) -> tuple[Integers, Integers]:
    """The junctions that paths hang on, and the first entries of these paths."""
    firsts = np.flatnonzero(np.diff(generation.batch.labels, prepend=-1))
    hangs = generation.supports >= 0
    return generation.supports[hangs], firsts[hangs]


def _solve_generation(
    links: LinkStrains, trees: TreeBatches, generation: Generation, stiffness: Floats, force: Floats
) -> _PathResponse:
    """The response of a generation's paths, given the branches at the junctions along them."""
    batch, (along, violation), (_, first) = generation.batch, links, _hung_paths(generation)
    diagonal, beside = batch.diagonal.copy(), off_diagonal(batch, along)
    diagonal[first] -= batch.inverse_masses[first]
    at = np.flatnonzero(generation.junctions >= 0)
    numbers = generation.junctions[at]
    mobility, stiffer = np.zeros((2, len(batch.path), 3, 3))
    if len(at):
        w = trees.inverse_masses[numbers, None, None]
        adjugates, determinants = cofactors(np.eye(3) + w * stiffness[numbers])
        mobility[at] = adjugates.transpose(0, 2, 1) * (w / determinants[:, None, None])
        stiffer[at] = mobility[at] - w * np.eye(3)
        shift = np.zeros((len(batch.path), 3))
        shift[at] = np.einsum("qij,qj->qi", mobility[at], force[numbers])
        linked = batch.labels[1:] == batch.labels[:-1]
        for sign, end in ((1.0, slice(1, None)), (-1.0, slice(None, -1))):
            violation += linked * sign * np.einsum("ik,ki->k", along, shift[end])
            diagonal += linked * np.einsum("ik,kij,jk->k", along, stiffer[end], along)
        passed = at[(at > 0) & (at < len(linked))]
        passed = passed[linked[passed - 1] & linked[passed]]
        beside[passed - 1] = -np.einsum(
            "iq,qij,jq->q", along[:, passed - 1], mobility[passed], along[:, passed]
        )
    factors = factorize(diagonal, beside, batch.reduction_rounds)
    response = np.zeros(len(violation))
    if len(first):
        response[first] = 1.0
        response = solve(factors, response)
    return _PathResponse(along, solve(factors, violation), response, mobility)


def _move_generation(
    positions: Floats,
    generation: Generation,
    responses: _PathResponse,
    force: Floats,
    displacements: Floats,
) -> None:
    """Moves a generation's particles, given the displacements of its supporting junctions."""
    batch, (hung, first) = generation.batch, _hung_paths(generation)
    pulled = np.zeros(len(generation.supports))
    pulled[batch.labels[first]] = np.einsum(
        "ip,pi->p", responses.along[:, first], displacements[hung]
    )
    steps = responses.steps - responses.response * pulled[batch.labels[:-1]]
    batch.multipliers[...] -= steps
    total = _force_of_links(responses.along * steps)
    moved, at = total * batch.inverse_masses, np.flatnonzero(generation.junctions >= 0)
    numbers = generation.junctions[at]
    shifts = np.einsum("qij,qj->qi", responses.mobility[at], total[:, at].T + force[numbers])
    moved[:, at], displacements[numbers] = shifts.T, shifts
    own = np.setdiff1d(np.arange(len(batch.path)), first)
    positions[:, batch.path[own]] += moved[:, own]


def _force_of_links(pull: Floats) -> Floats:
    """(3, c) sums of the forces of links on each particle of a path.

    Each link exerts its pull (3, c − 1) on its first particle, and the opposite on its second.
    """
    total = np.zeros((3, pull.shape[1] + 1))
    total[:, :-1] += pull
    total[:, 1:] -= pull
    return total


@kernel()
def add_start_spring_forces(moved: Floats, positions: Sized, batches: Sequence[StripBatch]) -> None:
    """Adds displacements (3, n) by the forces of soft links at `positions`, a step's start.

    See `constraints.with_start_spring_forces`.
    """
    for batch in batches:
        if len(batch.start_stiffnesses):
            along, lengths = _measure(positions, batch)
            _add_along(
                moved, batch, along * batch.start_stiffnesses * (lengths - batch.rest_lengths)
            )


@kernel()
def undo_implicit_damping(
    previous_positions: Floats, start: Floats, positions: Sized, batches: Sequence[StripBatch]
) -> None:
    """Restores the speed lost by projecting along the new directions of edges.

    Tension T points along d', the direction of an edge at the step's end, not along d at its start;
    the difference w h² T (d' − d) damps every rotation, that of a pendulum by ω³h per second. It
    also stabilizes lateral vibration that the steps do not resolve: above (h ω)² =
    RESOLVED_VIBRATION most of the damping is kept.
    """
    for batch in batches:
        tension = np.maximum(-batch.multipliers, 0.0)
        tautness = tension * batch.mobilities / (batch.reference_lengths * RESOLVED_VIBRATION)
        tension = tension / (1.0 + tautness**2)
        turns = _measure(positions, batch)[0] - _measure(start, batch)[0]
        turns *= tension
        _add_along(previous_positions, batch, turns)


def _add_along(displacements: Floats, batch: StripBatch, pulls: Floats) -> None:
    """Adds the displacements (3, n) by pulls (3, c − 1) between the particles of a path."""
    count = displacements.shape[1]
    for axis, pull in enumerate(pulls):
        # A tree's paths may begin at the same particle.
        moved = sum_by(batch.path[:-1], batch.inverse_masses[:-1] * pull, count)
        moved -= sum_by(batch.path[1:], batch.inverse_masses[1:] * pull, count)
        displacements[axis] += moved


def _measure(positions: Floats, batch: StripBatch) -> tuple[Floats, Floats]:
    """(3, c − 1) unit vectors along the path, and (c − 1,) distances between its entries [m]."""
    along = np.diff(positions.take(batch.path, axis=1, mode="clip"), axis=1)
    lengths = norms(along)
    return along / lengths, lengths


ROPE_STRAIN_TOLERANCE = 1e-7
"""Largest relative error of an edge's length after a sweep. 1e-6 and 1e-8 pass the same tests; 1e-5
is more than ropes may stretch."""
MAX_ROPE_ROUNDS = 30
"""Rounds of a sweep at most, for a rope pulled from both ends cannot keep its length; half or twice
as many do as well."""


def project_ropes(positions: Floats, batches: RopeBatches) -> None:
    """Projects the lengths of ropes until all of them hold to ROPE_STRAIN_TOLERANCE.

    One Newton step is not enough where a rope turns sharply within a time step.
    """
    for _ in range(MAX_ROPE_ROUNDS if batches.strips else 0):
        project_trees(positions, batches.trees)
        project_strips(positions, batches.rings)
        lowest, highest = strain_range(positions, batches.strips)
        if max(-lowest, highest) < ROPE_STRAIN_TOLERANCE:
            break
