"""Directions on a surface in which a texture coordinate increases."""

import numpy as np

from ..arrays import Floats, Integers
from .faces import normalized


def directions(positions: Floats, starts: Integers, vertices: Integers, places: Floats) -> Floats:
    """Unit vectors (n, 3) along which v increases and u does not, the mean over a vertex's corners.

    The edges e, f from a corner have differences (a, b), (c, d) of texture coordinates, so that the
    gradient of v as a direction is (a f − c e) / (a d − b c). It is 0 where the map has no area.

    Parameters
    ----------
    positions
        (n, 3) vertices [m].
    starts
        (f + 1,) index of each face's first corner; the last entry is c.
    vertices, places
        (c,) vertex at each corner, and (c, 2) its texture coordinates u, v.
    """
    sizes = np.diff(starts)
    first, last = np.repeat(starts[:-1], sizes), np.repeat(starts[1:] - 1, sizes)
    here = np.arange(len(vertices))
    following = np.where(here == last, first, here + 1)
    former = np.where(here == first, last, here - 1)
    (edges, offsets), (others, turned) = (
        (positions[vertices[to]] - positions[vertices], places[to] - places)
        for to in (following, former)
    )
    area = offsets[:, 0] * turned[:, 1] - offsets[:, 1] * turned[:, 0]
    found = offsets[:, :1] * others - turned[:, :1] * edges
    along = normalized(found * np.sign(area)[:, None])
    sums = [np.bincount(vertices, part, minlength=len(positions)) for part in along.T]
    return normalized(np.stack(sums, axis=1))
