"""Distance limits: pairs, particles and their pins, and particles and places that move."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..arrays import Booleans, Floats, Integers, inverse, norms, ranges, with_added_masses
from ..coloring import color_constraints
from ..geometry.graph import Graph, find_neighbours
from ..kernel import Struct


@dataclass(frozen=True, eq=False)
class DistanceLimitBatch:
    """The pairs of one colour."""

    particles: Integers
    """(2c,) all first ends, then all second ends."""
    rest_lengths: Floats
    """(c,) [m]"""
    first_masses: Floats
    """(c,) inverse masses of the first ends [1/kg]."""
    second_masses: Floats
    """(c,) inverse masses of the second ends [1/kg]."""
    gains: Floats
    """(c,) 1 / sum of inverse masses [kg]; 0 where nothing can move."""


def distance_limit_batches(
    pairs: Integers, rest_lengths: Floats, inverse_masses: Floats
) -> list[DistanceLimitBatch]:
    """Batches of pairs (m, 2) at most (m,) apart [m], for inverse masses (n,)."""
    order, starts = color_constraints(pairs)
    pairs, rest_lengths = pairs[order], rest_lengths[order]
    return [
        _batch(pairs[start:stop].T, rest_lengths[start:stop], inverse_masses[pairs[start:stop].T])
        for start, stop in pairwise(starts)
    ]


def _batch(ends: Integers, rest_lengths: Floats, masses: Floats) -> DistanceLimitBatch:
    """The batch of pairs with ends (2, c) and their inverse masses (2, c)."""
    first_masses, second_masses = masses
    mobility = first_masses + second_masses
    gains = inverse(mobility, mobility)
    return DistanceLimitBatch(ends.ravel(), rest_lengths, first_masses, second_masses, gains)


def heavier_limit_batches(
    batches: Sequence[DistanceLimitBatch], added: Floats
) -> list[DistanceLimitBatch]:
    """The batches of particles that weigh more, by so much each, (n,) [kg]."""
    return [
        _batch(
            batch.particles.reshape(2, -1),
            batch.rest_lengths,
            with_added_masses(
                np.stack([batch.first_masses, batch.second_masses]),
                added[batch.particles].reshape(2, -1),
            ),
        )
        for batch in batches
    ]


@dataclass(frozen=True, eq=False)
class Tethers:
    """Particles and the pins that they are tethered to."""

    particles: Integers
    """(t,) numbers of the tethered particles."""
    pins: Integers
    """(t,) the nearest pin of each, along the mesh."""
    lengths: Floats
    """(t,) largest distance of each particle from its pin [m]."""


def build_tethers(graph: Graph, pinned: Booleans) -> Tethers:
    """Finds for each particle the nearest pin along the mesh, and the distance to it.

    T.-Y. Kim, N. Chentanez, M. Müller-Fischer, *Long Range Attachments* (2012).
    """
    n = len(pinned)
    neighbours = find_neighbours(graph, n)
    pin, distance = np.where(pinned, np.arange(n), -1), np.where(pinned, 0.0, np.inf)
    pending = pinned & (neighbours.counts > 0)
    width = graph.lengths.sum() / max(len(graph.lengths), 1)
    while pending.any():
        # As in Dijkstra's algorithm, only the nearest are expanded, within one mean edge length.
        front = np.flatnonzero(pending)
        front = front[distance[front] <= distance[front].min() + width]
        pending[front] = False
        counts = neighbours.counts[front]
        entries = ranges(neighbours.starts[front], counts)
        others, source = neighbours.others[entries], np.repeat(pin[front], counts)
        lengths = np.repeat(distance[front], counts) + neighbours.lengths[entries]
        # Of equally near pins, the one with the lowest number is taken.
        order = np.lexsort((source, lengths, others))
        order = order[np.diff(others[order], prepend=-1) > 0]
        others, source, lengths = others[order], source[order], lengths[order]
        nearer = (lengths < distance[others]) | (
            (lengths == distance[others]) & (source < pin[others])
        )
        improved = others[nearer]
        pin[improved], distance[improved], pending[improved] = source[nearer], lengths[nearer], True
    tethered = np.flatnonzero((pin >= 0) & ~pinned)
    return Tethers(tethered, pin[tethered], distance[tethered])


@dataclass(frozen=True, eq=False)
class GoalRadii:
    """Particles that stay near their goals in one step."""

    particles: Integers
    """(k,) each of them once; none of them pinned."""
    goals: Floats
    """(3, k) their goals at the end of the step [m]."""
    radii: Floats
    """(k,) largest distances from them [m]."""


Struct(
    "goal_radii",
    GoalRadii,
    reads="particles radii",
    shares="goals",
    count=(int, lambda limits: len(limits.particles)),
)


def project_goal_radii(positions: Floats, limits: GoalRadii | None) -> None:
    """Projects C = r − |x − goal| ≥ 0 in positions (3, n) [m]: back to the sphere, straight on."""
    if limits is not None:
        pull_within(positions, limits.particles, limits.goals, limits.radii)


def pull_within(positions: Floats, particles: Integers, centres: Floats, radii: Floats) -> None:
    """Moves particles (k,), each of them once, into spheres about centres (3, k) [m]."""
    arms = positions.take(particles, axis=1, mode="clip") - centres
    reach = norms(arms)
    far = np.flatnonzero(reach > radii)
    positions[:, particles[far]] += arms[:, far] * (radii[far] / reach[far] - 1.0)
