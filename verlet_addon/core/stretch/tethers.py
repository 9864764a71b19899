"""Tethers: how far from its pin every particle may be."""

from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np

from ..arrays import Booleans, Floats, Integers
from ..geometry.graph import Graph, neighbour_lists


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
    neighbours = neighbour_lists(graph, n)
    pin, distance = np.full(n, -1), np.full(n, np.inf)
    front = [(0.0, source, source) for source in np.flatnonzero(pinned).tolist()]
    heapify(front)
    while front:
        length, particle, source = heappop(front)
        if length >= distance[particle]:
            continue
        distance[particle], pin[particle] = length, source
        for other, step in neighbours[particle]:
            if length + step < distance[other]:
                heappush(front, (length + step, other, source))
    tethered = np.flatnonzero((pin >= 0) & ~pinned)
    return Tethers(tethered, pin[tethered], distance[tethered])
