"""Coarse levels of the mesh graph: corrections reach across a body in one step.

M. Müller, *Hierarchical Position Based Dynamics* (2008): coarse particles are a subset of the fine
ones, joined by one-sided distance limits. Coarse levels are projected first, and their corrections
are interpolated to the next finer level. Here the subset is chosen in lattice order on any graph,
and a coarse distance is the length of the shortest path through the finer level.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import pairwise
from math import inf

import numpy as np

from ..arrays import Booleans, Floats, Integers, inverse, magnitudes, ranges, sum_by
from ..geometry.graph import Graph, Neighbours, edge_keys, find_neighbours
from ..kernel import Struct, kernel
from .distance_limits import DistanceLimitBatch, distance_limit_batches, heavier_limit_batches

MAX_PARENTS = 4
"""Maximum number of coarse particles that a fine one interpolates from; C has as many terms."""
MAX_STRAIGHT_DETOUR = 1.15
"""A path through the mesh up to this much longer than the straight path on its surface is replaced
by the straight one; paths round a slit are longer. With half of the excess, and with twice, real
meshes stretch alike: from 1.05 to 1.4."""
CURVATURE_FACTOR = 1.2
"""Factor on the extra length of a straight path on a curved surface over the chord between its
ends, because curvature is sampled at a few points only. With 1.1 corrugated cloth cannot unroll by
0.6 %."""


@dataclass(frozen=True, eq=False)
class Level:
    """One coarse level; particles are numbered 0 … k − 1."""

    particles: Integers
    """(k,) numbers of the particles in the model."""
    limits: list[DistanceLimitBatch]
    """Distance limits between particles, by their numbers in the level. Masses include the finer
    particles that each one moves."""
    children: Integers
    """(f,) particles of the next finer level, by their numbers in the model."""
    parents: Integers
    """(f, MAX_PARENTS) particles of this level that each child interpolates from."""
    weights: Floats
    """(f, MAX_PARENTS) interpolation weights; rows of pinned children are 0."""


@dataclass(frozen=True, eq=False)
class _Layer:
    """Particles at one coarseness while levels are built, numbered by their place here."""

    particles: Integers
    """(k,) numbers of the particles in the model."""
    graph: Graph
    straightened: Floats
    """(m,) path lengths of the pairs with zigzags removed [m]."""
    masses: Floats
    """(k,) masses, including the finer particles that each one moves [kg]."""
    positions: Floats
    """(k, 3) at rest [m]."""
    normals: Floats
    """(k, 3) of unit length, or 0."""


def build_levels(
    graph: Graph, positions: Floats, normals: Floats, masses: Floats, pinned: Booleans
) -> list[Level]:
    """Builds levels from coarse to fine.

    Parameters
    ----------
    graph : edges and diagonals of the mesh; particles without any are left out.
    positions : (n, 3) rest positions [m].
    normals : (n, 3) unit surface normals at rest, 0 on ropes.
    masses : (n,) [kg].
    pinned : (n,) bool, particles that follow their targets.
    """
    levels: list[Level] = []
    fine = _start(graph, positions, normals, masses)
    while len(fine.particles) > 40:  # 10 or 100 give the same stretch
        neighbours = find_neighbours(fine.graph, len(fine.particles))
        chosen = np.flatnonzero(choose_coarse(neighbours, pinned[fine.particles]))
        parents, weights = _parents(fine.graph, chosen, len(fine.particles))
        masses = sum_by(parents.ravel(), (weights * fine.masses[:, None]).ravel(), len(chosen))
        coarse = _coarsen(fine, chosen, masses)
        if not len(coarse.graph.pairs):
            break
        weights[pinned[fine.particles]] = 0.0
        inverse_masses = np.where(pinned[coarse.particles], 0.0, 1.0 / coarse.masses)
        limits = distance_limit_batches(coarse.graph.pairs, coarse.graph.lengths, inverse_masses)
        levels.append(Level(coarse.particles, limits, fine.particles, parents, weights))
        fine = coarse
    return levels[::-1]


def heavier_levels(levels: Sequence[Level], shares: Floats, added: Floats) -> list[Level]:
    """The levels of particles that weigh more.

    Parameters
    ----------
    shares, added : (n,) former mass over present mass, and added mass [kg].
    """
    return [
        replace(
            level,
            limits=heavier_limit_batches(level.limits, added[level.particles]),
            weights=level.weights * shares[level.children, None],
        )
        for level in levels
    ]


def _start(graph: Graph, positions: Floats, normals: Floats, masses: Floats) -> _Layer:
    """The finest layer: all particles that have neighbours."""
    particles, pairs = np.unique(graph.pairs, return_inverse=True)
    return _Layer(
        particles=particles,
        graph=Graph(pairs.reshape(-1, 2), graph.lengths),
        straightened=graph.lengths,
        masses=masses[particles],
        positions=positions[particles],
        normals=normals[particles],
    )


Struct(
    "neighbours",
    Neighbours,
    reads="starts others lengths",
    count=(int, lambda neighbours: len(neighbours.starts) - 1),
)


@kernel(
    result=lambda _, pinned: np.zeros(len(pinned), dtype=np.bool_),
    work=lambda _, pinned: np.empty((5, len(pinned))),
)
def choose_coarse(neighbours: Neighbours, pinned: Booleans) -> Booleans:
    """(n,) bool, a maximal independent set: on a lattice, every second row and column.

    The next particle is always the one with the most two-edge paths to particles already chosen,
    ties broken by distance; pinned particles come first.
    """
    others, lengths = neighbours.others.tolist(), neighbours.lengths.tolist()
    paths = [range(start, stop) for start, stop in pairwise(neighbours.starts.tolist())]
    covered = [False] * len(pinned)
    score = np.where(pinned, inf, 0.0).tolist()
    chosen: list[int] = []
    front = [(-inf, 0.0, pin) for pin in np.flatnonzero(pinned).tolist()]

    def two_steps(start: int) -> list[tuple[int, float]]:
        """Particles two edges away from a particle, and the lengths of those paths."""
        return [
            (others[onward], lengths[path] + lengths[onward])
            for path in paths[start]
            for onward in paths[others[path]]
            if not covered[others[onward]]
        ]

    for start in range(len(pinned)):
        if not covered[start]:
            heappush(front, (-score[start], 0.0, start))
        while front:
            best, _, particle = heappop(front)
            if covered[particle] or -best < score[particle]:
                continue
            chosen.append(particle)
            covered[particle] = True
            for path in paths[particle]:
                covered[others[path]] = True
            reached = two_steps(particle)
            for far, _ in reached:
                score[far] += 1
            for far, length in dict(reached).items():
                heappush(front, (-score[far], length, far))
    return np.isin(np.arange(len(pinned)), chosen)


def _parents(graph: Graph, chosen: Integers, count: int) -> tuple[Integers, Floats]:
    """The nearest chosen neighbours of each particle, weighted by 1 / distance²."""
    number = np.full(count, -1)
    number[chosen] = np.arange(len(chosen))
    towards = np.concatenate([graph.pairs, graph.pairs[:, ::-1]])
    lengths = np.concatenate([graph.lengths, graph.lengths])
    kept = (number[towards[:, 1]] >= 0) & (number[towards[:, 0]] < 0)
    towards, lengths = towards[kept], lengths[kept]
    order = np.lexsort((number[towards[:, 1]], lengths, towards[:, 0]))
    child, parent, lengths = towards[order, 0], number[towards[order, 1]], lengths[order]
    rank = np.arange(len(child)) - np.searchsorted(child, child)
    nearest = rank < MAX_PARENTS
    child, parent, rank, lengths = child[nearest], parent[nearest], rank[nearest], lengths[nearest]
    parents = np.zeros((count, MAX_PARENTS), dtype=np.int64)
    weights = np.zeros((count, MAX_PARENTS))
    parents[child, rank] = parent
    weights[child, rank] = 1.0 / lengths**2
    parents[chosen, 0] = np.arange(len(chosen))
    weights[chosen, 0] = 1.0
    return parents, weights / weights.sum(axis=1, keepdims=True)


def _coarsen(fine: _Layer, chosen: Integers, masses: Floats) -> _Layer:
    """The chosen particles of a layer, joined by the shortest paths through it."""
    paths, lengths = _shortest_paths(fine.graph, chosen, len(fine.particles))
    straightened = _straightened_lengths(fine, paths)
    nearly_straight = lengths < MAX_STRAIGHT_DETOUR * straightened
    number = np.full(len(fine.particles), -1)
    number[chosen] = np.arange(len(chosen))
    return _Layer(
        particles=fine.particles[chosen],
        graph=Graph(number[paths[[0, 3]].T], np.where(nearly_straight, straightened, lengths)),
        straightened=straightened,
        masses=masses,
        positions=fine.positions[chosen],
        normals=fine.normals[chosen],
    )


def _shortest_paths(graph: Graph, chosen: Integers, count: int) -> tuple[Integers, Floats]:
    """(4, k) particles on the shortest paths between chosen ones, and path lengths (k,) [m].

    A path has two edges, its middle particle then listed twice, or three.
    """
    is_chosen = np.zeros(count, dtype=bool)
    is_chosen[chosen] = True
    neighbours = find_neighbours(graph, count)
    roots = neighbours.select(is_chosen[neighbours.others])
    inner = ~is_chosen[graph.pairs].any(axis=1)
    paths = [
        _two_edge_paths(roots),
        _three_edge_paths(roots, graph.pairs[inner], graph.lengths[inner]),
    ]
    first, second, lengths = map(np.concatenate, zip(*paths, strict=True))
    keys = edge_keys((roots.others[first], roots.others[second]), count)
    keys[roots.others[first] == roots.others[second]] = -1
    order = np.argsort(keys, kind="stable")[np.count_nonzero(keys < 0) :]
    firsts = np.unique(keys[order], return_index=True)[1]
    least = np.minimum.reduceat(lengths[order], firsts) if len(firsts) else lengths[:0]
    as_short = lengths[order] == np.repeat(least, np.diff(firsts, append=len(order)))
    order = order[as_short]
    shortest = order[np.unique(keys[order], return_index=True)[1]]
    owners = np.repeat(np.arange(count), roots.counts)
    first, second = first[shortest], second[shortest]
    path = [roots.others[first], owners[first], owners[second], roots.others[second]]
    return np.stack(path), lengths[shortest]


def _straightened_lengths(fine: _Layer, paths: Integers) -> Floats:
    """(k,) lengths of paths (4, k) through a layer if they ran straight on its surface [m].

    Deviations within the surface from the chord between the ends are zigzags and are removed;
    deviations along the normal follow the surface and are kept.
    """
    start = fine.positions[paths[0]]
    across = fine.positions[paths[3]] - start
    direct = magnitudes(across.T)
    across *= inverse(direct, direct)[:, None]
    length, onward, above = np.zeros((3, len(direct)))
    for there, factor in zip(paths[1:], _detour_factors(fine, paths), strict=True):
        step = fine.positions[there] - start
        further = (step * across).sum(axis=1)
        step -= further[:, None] * across
        up = fine.normals[there]
        up = up - (up * across).sum(axis=1)[:, None] * across
        steepness = magnitudes(up.T)
        upward = (step * up).sum(axis=1) * inverse(steepness, steepness)
        # Without a normal, no part of the step can be taken as a zigzag within the surface.
        higher = np.where(steepness > 0.0, upward, magnitudes(step.T))
        length += factor * np.sqrt((further - onward) ** 2 + (higher - above) ** 2)
        onward, above = further, higher
    return np.asarray(direct + CURVATURE_FACTOR * np.maximum(length - direct, 0.0))


def _detour_factors(fine: _Layer, paths: Integers) -> Floats:
    """(3, k) ratios of straightened length to chord for the steps of paths (4, k)."""
    keys = edge_keys(fine.graph.pairs.T, len(fine.particles))
    order = np.argsort(keys, kind="stable")
    wanted = edge_keys((paths[:-1], paths[1:]), len(fine.particles))
    pairs = order[np.searchsorted(keys[order], wanted) % len(keys)]
    line = magnitudes(np.moveaxis(fine.positions[paths[1:]] - fine.positions[paths[:-1]], -1, 0))
    return np.asarray(fine.straightened[pairs] * inverse(line, line))


EndPairs = tuple[Integers, Integers, Floats]
"""Indices of both end edges in the neighbour lists, and path lengths."""


def _two_edge_paths(roots: Neighbours) -> EndPairs:
    """Paths from root to root through one particle."""
    entries = np.arange(len(roots.others))
    later = np.repeat(roots.starts[1:], roots.counts) - entries - 1
    first, second = np.repeat(entries, later), ranges(entries + 1, later)
    return first, second, roots.lengths[first] + roots.lengths[second]


def _three_edge_paths(roots: Neighbours, pairs: Integers, lengths: Floats) -> EndPairs:
    """Paths from the roots of a pair's first particle to the roots of its second."""
    low, high = np.sort(pairs, axis=1).T
    begins = ranges(roots.starts[low], roots.counts[low])
    pair = np.repeat(np.arange(len(pairs)), roots.counts[low])
    often = roots.counts[high[pair]]
    first, second = np.repeat(begins, often), ranges(roots.starts[high[pair]], often)
    middle = np.repeat(lengths[pair], often)
    return first, second, roots.lengths[first] + middle + roots.lengths[second]
