"""Pairs of features that cross at the start of a step, which may pass each other to come apart."""

import numpy as np

from ..arrays import Booleans, Floats, Integers, cross, dot, ranges
from ..detection.contacts import Contacts
from ..detection.surfaces import Surfaces


def find_initial_crossings(surfaces: Surfaces, pairs: Contacts, start: Floats) -> Booleans:
    """(k,) bool, pairs of which an edge at one feature passes through a triangle at the other.

    The edges at a vertex are all that end there, and the triangles at an edge those on both sides.

    Parameters
    ----------
    pairs : pairs of a vertex and a triangle before pairs of edges.
    start : (3, N) positions at the start of the step [m].
    """
    kind, *features = _features(surfaces, pairs.keys)
    crossed = np.zeros(len(kind), dtype=bool)
    vertices, edges = np.flatnonzero(kind == 0), np.flatnonzero(kind == 1)
    which, ends = _edges_at(surfaces, pairs.particles[0, vertices])
    corners = pairs.particles[1:, vertices[which]]
    crossed[vertices[which[_pass_through(start, ends, corners)]]] = True
    for place in (0, 1):
        ends = pairs.particles[2 * place : 2 * place + 2, edges]
        others = pairs.particles[2 - 2 * place : 4 - 2 * place, edges]
        for wings in surfaces.wings[:, features[1 - place][edges]]:
            there = np.flatnonzero(wings >= 0)
            corners = np.concatenate([others[:, there], wings[None, there]])
            crossed[edges[there[_pass_through(start, ends[:, there], corners)]]] = True
    return crossed


def _features(surfaces: Surfaces, keys: Integers) -> Integers:
    """(3, k) kinds of pairs and numbers of both features, from keys as `find_pairs` makes them."""
    rest, second = np.divmod(keys, surfaces.features)
    kind, first = np.divmod(rest, surfaces.features)
    return np.stack([kind, first, second])


def _edges_at(surfaces: Surfaces, vertices: Integers) -> tuple[Integers, Integers]:
    """(e,) index into `vertices` and (2, e) ends of all edges at vertices."""
    wanted = np.zeros(len(surfaces.owners), dtype=bool)
    wanted[vertices] = True
    some = surfaces.edges[:, wanted[surfaces.edges].any(axis=0)]
    ends = np.concatenate([some, some[::-1]], axis=1)
    ends = ends[:, np.argsort(ends[0], kind="stable")]
    first, last = (np.searchsorted(ends[0], vertices, side=side) for side in ("left", "right"))
    which = np.repeat(np.arange(len(vertices)), last - first)
    return which, ends[:, ranges(first, last - first)]


def _pass_through(positions: Floats, ends: Integers, corners: Integers) -> Booleans:
    """(k,) bool, whether edges (2, k) pass through triangles (3, k) that they share no corner with.

    The ends are on different sides of the triangle, and its sides all turn the same way around the
    edge.
    """
    p, q = (positions[:, each] for each in ends)
    a, b, c = (positions[:, each] - p for each in corners)
    way, normal = q - p, cross(b - a, c - a)
    height = dot(normal, a)
    across = height * (height - dot(normal, way)) < 0.0
    turns = np.stack([dot(way, cross(*sides)) for sides in ((a, b), (b, c), (c, a))])
    apart = (ends[:, None] != corners[None]).all(axis=(0, 1))
    return np.asarray(apart & across & ((turns > 0.0).all(axis=0) | (turns < 0.0).all(axis=0)))
