"""Tethers: the largest distance of every particle from its pin."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Booleans, Floats, Integers, ranges
from ..geometry.graph import Graph, find_neighbours


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
