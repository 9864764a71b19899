"""Edges as a graph: lengths, keys, neighbours and components."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Booleans, Floats, Integers, magnitudes

NO_EDGES = np.empty((2, 0), dtype=np.int64)
"""(2, 0) of surfaces that are all triangles."""


@dataclass(frozen=True, eq=False)
class Graph:
    """Pairs of particles that are joined, and how far apart they can get."""

    pairs: Integers
    """(m, 2)"""
    lengths: Floats
    """(m,) how far apart the two can get [m]."""


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The ways from each of n particles to those around it, particle by particle."""

    starts: Integers
    """(n + 1,) where the ways of each particle begin."""
    others: Integers
    """(k,) where each way leads."""
    lengths: Floats
    """(k,) and how long it is [m]."""

    @property
    def counts(self) -> Integers:
        """(n,) how many ways each particle has."""
        return np.diff(self.starts)

    def leading_to(self, wanted: Booleans) -> "Neighbours":
        """The ways alone that lead to wanted particles (n,)."""
        kept = wanted[self.others]
        starts = np.concatenate([[0], np.cumsum(kept)])[self.starts]
        return Neighbours(starts, self.others[kept], self.lengths[kept])


def find_neighbours(graph: Graph, count: int) -> Neighbours:
    """The ways from each of so many particles, in the order of the graph's pairs."""
    ends = graph.pairs.ravel()
    order = np.argsort(ends, kind="stable")
    starts = np.searchsorted(ends[order], np.arange(count + 1))
    return Neighbours(starts, ends[order ^ 1], graph.lengths[order // 2])


def edge_lengths(positions: Floats, edges: Integers) -> Floats:
    """(m,) rest lengths [m]."""
    arms = positions.take(edges[:, 1], axis=0)
    arms -= positions.take(edges[:, 0], axis=0)
    return magnitudes(arms.T)


def edge_keys(ends: Sequence[Integers] | Integers, particle_count: int) -> Integers:
    """(m,) one number for each pair of vertices (2, m), whichever comes first."""
    a, b = ends
    return np.asarray(np.minimum(a, b) * particle_count + np.maximum(a, b))


def label_free(components: Integers, held: Booleans | Integers) -> Integers:
    """(n,) labels, from 0, of the components without anything that is held, −1 elsewhere."""
    grounded = np.zeros(components.max() + 1, dtype=bool)
    grounded[components[held]] = True
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
