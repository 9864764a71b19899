"""Which contacts are real: beside an edge or a corner, those that a neighbouring face has not."""

from dataclasses import dataclass

import numpy as np

from ..arrays import SHORTEST, Booleans, Floats, Integers
from .contacts import Contacts
from .surfaces import Surfaces

SLANT = 0.1
"""How far, as a sine, a direction may lean over the face beside the edge that it starts from."""


@dataclass(frozen=True, eq=False)
class Cones:
    """What lies beside edges and around vertices."""

    keys: Integers
    """(e,) of edges, ascending: first end × N + second."""
    beside: Integers
    """(2, e) the third corners of their triangles, −1 where there are none."""
    around: Integers
    """Particles joined to each by an edge, particle after particle."""
    starts: Integers
    """(N + 1,) where those of each begin."""


def find_cones(surfaces: Surfaces) -> Cones:
    """What lies beside all edges."""
    edges, count = surfaces.edges, surfaces.rest.shape[1]
    keys = edges[0] * count + edges[1]
    order = np.argsort(keys, kind="stable")
    ends, others = np.concatenate([edges, edges[::-1]], axis=1)
    by_end = np.argsort(ends, kind="stable")
    return Cones(
        keys=keys[order],
        beside=surfaces.wings[:, order],
        around=others[by_end],
        starts=np.searchsorted(ends[by_end], np.arange(count + 1)),
    )


def within_cones(cones: Cones, contacts: Contacts, positions: Floats) -> Booleans:
    """(k,) whether no face beside the feature that is touched is nearer.

    The nearest point of a surface lies on an edge only where the direction from there leaves the
    faces on both sides; else it would lie in one of these, which has a row of its own. Without
    this, what slides over a flat mesh is stopped by the edges that it comes to.
    """
    of_edges = _number(cones, contacts.particles[:2]) >= 0
    of_edges &= _number(cones, contacts.particles[2:]) >= 0
    kept = np.ones(len(of_edges), dtype=bool)
    for first, sign in ((True, -1.0), (False, 1.0)):
        mine = contacts.weights > 0.0 if first else contacts.weights < 0.0
        count = mine.sum(axis=0)
        rows = np.flatnonzero((count < 3) & (of_edges | (not first)))
        by_count = rows[count[rows] == 2], rows[count[rows] == 1]
        towards = sign * contacts.normals
        for rows, check in zip(by_count, (_leaves_edge, _leaves_vertex), strict=True):
            corners = np.sort(np.where(mine[:, rows], contacts.particles[:, rows], -1), axis=0)
            kept[rows] &= check(cones, corners[-2:], positions, towards[:, rows])
    return kept


def _number(cones: Cones, ends: Integers) -> Integers:
    """(k,) the numbers of edges between pairs of particles (2, k), −1 where there are none."""
    low, high = np.sort(ends, axis=0)
    keys = low * (len(cones.starts) - 1) + high
    places = np.minimum(np.searchsorted(cones.keys, keys), max(len(cones.keys) - 1, 0))
    return np.where(cones.keys[places] == keys, places, -1) if len(cones.keys) else keys * 0 - 1


def _leaves_edge(cones: Cones, ends: Integers, positions: Floats, towards: Floats) -> Booleans:
    """(k,) whether directions (3, k) lead off both faces beside edges (2, k)."""
    numbers = _number(cones, ends)
    start, end = positions[:, ends[0]], positions[:, ends[1]]
    along = end - start
    along /= np.maximum(np.sqrt(_dot(along, along)), SHORTEST)
    leaves = np.ones(ends.shape[1], dtype=bool)
    for third in cones.beside[:, numbers]:
        across = positions[:, third] - start
        across -= along * _dot(along, across)
        slant = _dot(across, towards) > SLANT * np.sqrt(_dot(across, across))
        leaves &= ~slant | (third < 0) | (numbers < 0)
    return leaves


def _leaves_vertex(cones: Cones, ends: Integers, positions: Floats, towards: Floats) -> Booleans:
    """(k,) whether directions (3, k) lead off all edges at vertices (the last of (2, k))."""
    vertices = ends[1]
    counts = cones.starts[vertices + 1] - cones.starts[vertices]
    which = np.repeat(np.arange(len(vertices)), counts)
    places = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    others = cones.around[places + cones.starts[vertices][which]]
    across = positions[:, others] - positions[:, vertices[which]]
    slant = _dot(across, towards[:, which]) > SLANT * np.sqrt(_dot(across, across))
    return np.asarray(np.bincount(which[slant], minlength=len(vertices)) == 0)


def _dot(a: Floats, b: Floats) -> Floats:
    """(k,) products of vectors (3, k)."""
    return np.asarray(a[0] * b[0] + a[1] * b[1] + a[2] * b[2])
