"""Folds of flesh: where its pose crosses itself within one part of a body, as a bent elbow does.

Flesh cannot keep apart what a rig lays into each other there: both sides of a crease are held by
bones that go on bending, and contacts between them would never come to rest. Different parts of a
body, as an arm and a belly, do not see each other from within, and are kept apart.
"""

import numpy as np

from ..arrays import NONZERO, Booleans, Floats, Integers, cross, dot, magnitudes
from ..geometry.faces import area_normals
from ..geometry.ray_casting import find_winding_numbers
from .flesh_body import Flesh

OFFSET = 1e-3
"""Distance from the skin at which places are tested for being inside of it, in cells."""
FACING = -0.5
"""Largest product of the normals of two places that face each other. With 0, the sole of a foot
faces the inside of its leg, which so counts as folded where it is in the other leg."""
CHUNK = 1 << 22
"""Size: pairs of points and triangles that are compared at a time."""


def find_folds(flesh: Flesh, points: Floats, triangles: Integers) -> Booleans:
    """(v,) bool, points of the skin in a fold that flesh moves, and all their neighbours.

    Parameters
    ----------
    points : (3, v) where the pose has them [m].
    triangles : (3, t) of the skin.
    """
    in_fold = np.zeros(points.shape[1], dtype=bool)
    normals = area_normals(points, triangles)
    normals /= np.maximum(magnitudes(normals), NONZERO)
    outside = points + OFFSET * float(flesh.lattice.grid.sizes[0]) * normals
    moving = np.flatnonzero(~flesh.held[: points.shape[1]])
    crossed = moving[find_winding_numbers(outside[:, moving], points, triangles) != 0]
    if not len(crossed):
        return in_fold
    partners = _facing(points, normals, triangles, crossed)
    ends = flesh.samples[crossed], flesh.samples[partners]
    known = (ends[0][:, 0] >= 0) & (ends[1][:, 0] >= 0)
    joined = flesh.fragments.see_each_other(ends[0][known], ends[1][known])
    in_fold[crossed[known][joined]] = True
    return in_fold | _around(in_fold, triangles)


def _facing(points: Floats, normals: Floats, triangles: Integers, crossed: Integers) -> Integers:
    """(k,) the nearest point, of those on skin that faces the other way, to crossed ones (k,)."""
    a, b, c = (points[:, corners] for corners in triangles)
    middles = (a + b + c) / 3.0
    towards = cross(b - a, c - a)
    towards /= np.maximum(magnitudes(towards), NONZERO)
    found = np.empty(len(crossed), dtype=np.int64)
    step = max(CHUNK // triangles.shape[1], 1)
    for first in range(0, len(crossed), step):
        own = crossed[first : first + step]
        away = middles[:, None] - points[:, own, None]
        squares = dot(away, away)
        squares[dot(towards[:, None], normals[:, own, None]) > FACING] = np.inf
        found[first : first + step] = triangles[0, squares.argmin(axis=1)]
    return found


def _around(chosen: Booleans, triangles: Integers) -> Booleans:
    """(v,) bool, corners of triangles with a chosen one."""
    found = np.zeros_like(chosen)
    found[triangles[:, chosen[triangles].any(axis=0)]] = True
    return found
