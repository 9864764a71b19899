"""Edges as a graph: lengths, keys, neighbours, components, and a matching of pairs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Booleans, Floats, Integers, magnitudes

NO_EDGES = np.empty((2, 0), dtype=np.int64)
"""(2, 0) edges of surfaces that consist of triangles alone."""


@dataclass(frozen=True, eq=False)
class Graph:
    """Connected pairs of particles, and their largest distances."""

    pairs: Integers
    """(m, 2)"""
    lengths: Floats
    """(m,) largest distance of the two particles [m]."""


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Adjacency lists of n particles: k entries, grouped by particle."""

    starts: Integers
    """(n + 1,) start of each particle's entries."""
    others: Integers
    """(k,) the neighbour."""
    lengths: Floats
    """(k,) length of the pair [m]."""

    @property
    def counts(self) -> Integers:
        """(n,) number of neighbours of each particle."""
        return np.diff(self.starts)

    def select(self, kept: Booleans) -> "Neighbours":
        """Only some entries, (k,) bool."""
        starts = np.concatenate([[0], np.cumsum(kept)])[self.starts]
        return Neighbours(starts, self.others[kept], self.lengths[kept])


def find_neighbours(graph: Graph, count: int) -> Neighbours:
    """Neighbours of `count` particles; each particle's are in the order of the graph's pairs."""
    ends = graph.pairs.ravel()
    order = np.argsort(ends, kind="stable")
    starts = np.searchsorted(ends[order], np.arange(count + 1))
    return Neighbours(starts, ends[order ^ 1], graph.lengths[order // 2])


def edge_lengths(positions: Floats, edges: Integers) -> Floats:
    """(m,) lengths of edges (m, 2) at positions (n, 3) [m]."""
    arms = positions.take(edges[:, 1], axis=0)
    arms -= positions.take(edges[:, 0], axis=0)
    return magnitudes(arms.T)


def edge_keys(ends: Sequence[Integers] | Integers, particle_count: int) -> Integers:
    """(m,) one number for each pair of vertices (2, m), the same in either order."""
    a, b = ends
    return np.asarray(np.minimum(a, b) * particle_count + np.maximum(a, b))


def label_free(components: Integers, held: Booleans | Integers) -> Integers:
    """(n,) labels, from 0, of the components (n,) without a `held` particle; −1 elsewhere.

    Particles of component −1 count as held.
    """
    grounded = np.zeros(components.max(initial=-1) + 2, dtype=bool)
    grounded[-1] = grounded[components[held]] = True
    return np.where(grounded, -1, np.cumsum(~grounded) - 1)[components]


def find_components(particle_count: int, edges: Integers) -> Integers:
    """(n,) a label for each vertex, equal within a connected component, counted from 0."""
    label = np.arange(particle_count)
    while len(edges):
        lowest = label.copy()
        np.minimum.at(lowest, edges[:, 0], label[edges[:, 1]])
        np.minimum.at(lowest, edges[:, 1], label[edges[:, 0]])
        lowest = lowest[lowest]
        if np.array_equal(lowest, label):
            return np.asarray(np.unique(label, return_inverse=True)[1].reshape(-1))
        label = lowest
    return label


def match_greedily(candidates: Integers, count: int) -> Integers:
    """(k,) rows of the candidates (c, 2) whose numbers are in no better chosen row.

    Parameters
    ----------
    candidates : pairs of numbers 0 … count − 1, the best first.
    count : number of different numbers.
    """
    rows, matched = np.arange(len(candidates)), [np.zeros(0, dtype=np.int64)]
    while len(rows):
        left, ranks = candidates[rows], np.arange(len(rows))
        foremost = np.full(count, len(rows))
        np.minimum.at(foremost, left, ranks[:, None])
        first = (foremost[left] == ranks[:, None]).all(axis=1)
        matched.append(rows[first])
        used = np.zeros(count, dtype=bool)
        used[left[first]] = True
        rows = rows[~used[left].any(axis=1)]
    return np.concatenate(matched)
