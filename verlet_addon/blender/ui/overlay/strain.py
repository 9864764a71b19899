"""Strain of a body's edges against their rest lengths, as colors of its vertices."""

from dataclasses import dataclass

import numpy as np

from ....core.arrays import Floats, Integers, Singles
from ....core.mesh import SHORTEST_EDGE

COLORS = np.array(
    [
        (59, 76, 192),
        (98, 130, 234),
        (141, 176, 254),
        (184, 208, 249),
        (221, 221, 221),
        (245, 196, 173),
        (244, 154, 123),
        (222, 96, 77),
        (180, 4, 38),
    ]
) / np.float32(255.0)
"""Colors (9, 3) from the most compressed to the most stretched.

From K. Moreland, Diverging Color Maps for Scientific Visualization, 2009: blue and red differ in
brightness from the grey between them, also for people who are blind to some colors.
"""

_TABLE = np.ones((257, 4), np.float32)
for _column, _colors in enumerate(COLORS.T):
    _places = np.linspace(0, len(COLORS) - 1, len(_TABLE))
    _TABLE[:, _column] = np.interp(_places, np.arange(len(COLORS)), _colors)
"""(257, 4) COLORS, interpolated, and opaque."""

_COLUMNS = 8
"""Number of edges around a vertex up to which tables are used, which are six times as fast."""


@dataclass(frozen=True, eq=False)
class EdgeSet:
    """The edges of a mesh, and around which vertex each of them is."""

    ends: tuple[Integers, Integers]
    """(m,) vertices at the first and at the second ends of the edges."""
    around: Integers
    """(k, n) the first k edges around each vertex; m where there are fewer."""
    further: Integers
    """(2, r) vertex and edge of all further ones, at poles with many edges."""


def edge_set(edges: Integers, count: int) -> EdgeSet:
    """Sorts edges (m, 2) by the `count` vertices that they join."""
    order = np.argsort(edges.ravel(), kind="stable")
    vertices, around = edges.ravel()[order], order // 2
    degrees = np.bincount(vertices, minlength=count)
    place = np.arange(len(vertices)) - np.repeat(np.cumsum(degrees) - degrees, degrees)
    near = place < _COLUMNS
    table = np.full((min(int(degrees.max(initial=0)), _COLUMNS), count), len(edges))
    table[place[near], vertices[near]] = around[near]
    ends = np.ascontiguousarray(edges[:, 0]), np.ascontiguousarray(edges[:, 1])
    return EdgeSet(ends, table, np.stack([vertices[~near], around[~near]]))


def inverse_lengths(rest_lengths: Floats) -> Singles:
    """(m,) inverse rest lengths of edges [1/m].

    0 for edges without a length at rest, such as cuts that may tear.
    """
    known = rest_lengths >= SHORTEST_EDGE
    return np.where(known, 1.0 / np.where(known, rest_lengths, 1.0), 0.0).astype(np.float32)


def edge_strains(positions: Singles, mesh: EdgeSet, inverse: Singles) -> Singles:
    """(m,) strains of edges at positions (n, 3): 0.01 is one per cent longer than at rest.

    Parameters
    ----------
    inverse
        (m,) inverse rest lengths; the strain is 0 where it is 0.
    """
    first, second = mesh.ends
    squares = np.zeros(len(first), np.float32)
    for row in np.ascontiguousarray(positions.T):
        arms = row.take(second)
        arms -= row.take(first)
        arms *= arms
        squares += arms
    strains = np.sqrt(squares, out=squares)
    strains *= inverse
    strains -= inverse > 0.0
    return strains


def vertex_strains(mesh: EdgeSet, strains: Singles) -> Singles:
    """(n,) per vertex the strain of largest amount among those (m,) of the edges around it."""
    around = np.append(strains, np.float32(0.0)).take(mesh.around)
    most, least = around.max(axis=0, initial=0.0), around.min(axis=0, initial=0.0)
    vertices, edges = mesh.further
    np.maximum.at(most, vertices, strains[edges])
    np.minimum.at(least, vertices, strains[edges])
    return np.where(most >= -least, most, least)


def strain_colors(strains: Singles, scale: float) -> Singles:
    """(n, 4) colors of strains (n,); `scale` is the strain at both ends of the color scale."""
    last = len(_TABLE) - 1
    places = strains * np.float32(last / 2 / scale)
    places += np.float32(last / 2 + 0.5)
    np.clip(places, 0, last, out=places)
    return _TABLE.take(places.astype(np.intp), axis=0)
