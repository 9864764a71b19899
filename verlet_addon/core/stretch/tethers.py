"""Tethers: how far from its pin every particle may be."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Booleans, Floats, Integers, ranges
from ..geometry.graph import Graph, find_neighbours


@dataclass(frozen=True, eq=False)
class Tethers:
    """Particles and the pins that hold them back."""

    particles: Integers
    """(t,)"""
    pins: Integers
    """(t,) the nearest pin of each, along the mesh."""
    lengths: Floats
    """(t,) how far from its pin each may be [m]."""


def build_tethers(graph: Graph, pinned: Booleans) -> Tethers:
    """For each particle the nearest pin along the mesh, and how far that is.

    T.-Y. Kim, N. Chentanez, M. Müller-Fischer, *Long Range Attachments* (2012).
    """
    n = len(pinned)
    neighbours = find_neighbours(graph, n)
    pin, distance = np.where(pinned, np.arange(n), -1), np.where(pinned, 0.0, np.inf)
    pending = pinned & (neighbours.counts > 0)
    width = graph.lengths.sum() / max(len(graph.lengths), 1)
    while pending.any():
        # Only what is nearest goes on, as in Dijkstra's algorithm, a whole edge's width at once.
        front = np.flatnonzero(pending)
        front = front[distance[front] <= distance[front].min() + width]
        pending[front] = False
        counts = neighbours.counts[front]
        entries = ranges(neighbours.starts[front], counts)
        others, source = neighbours.others[entries], np.repeat(pin[front], counts)
        lengths = np.repeat(distance[front], counts) + neighbours.lengths[entries]
        # Of pins that are equally near the first one counts.
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
