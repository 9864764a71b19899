"""Edges as a graph: lengths, keys, neighbours and components."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers

Neighbours = list[list[tuple[int, float]]]


@dataclass(frozen=True, eq=False)
class Graph:
    """Pairs of particles that are joined, and how far apart they can get."""

    pairs: Integers
    """(m, 2)"""
    lengths: Floats
    """(m,) how far apart the two can get [m]."""


def neighbour_lists(graph: Graph, count: int) -> Neighbours:
    """For each particle, its neighbours and their distances."""
    neighbours: Neighbours = [[] for _ in range(count)]
    for (a, b), length in zip(graph.pairs.tolist(), graph.lengths.tolist(), strict=True):
        neighbours[a].append((b, length))
        neighbours[b].append((a, length))
    return neighbours


def edge_lengths(positions: Floats, edges: Integers) -> Floats:
    """(m,) rest lengths [m]."""
    return np.asarray(np.linalg.norm(positions[edges[:, 1]] - positions[edges[:, 0]], axis=1))


def edge_keys(a: Integers, b: Integers, particle_count: int) -> Integers:
    """One number for each undirected pair of vertices."""
    return np.asarray(np.minimum(a, b) * particle_count + np.maximum(a, b))


def find_components(particle_count: int, edges: Integers) -> Integers:
    """(n,) a label for each vertex, equal within a connected component, counted from 0."""
    label = np.arange(particle_count)
    while True:
        lowest = label.copy()
        np.minimum.at(lowest, edges[:, 0], label[edges[:, 1]])
        np.minimum.at(lowest, edges[:, 1], label[edges[:, 0]])
        lowest = lowest[lowest]
        if np.array_equal(lowest, label):
            return np.asarray(np.unique(label, return_inverse=True)[1].reshape(-1))
        label = lowest
