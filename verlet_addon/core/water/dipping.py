"""How deep things dip into water."""

import numpy as np

from ..arrays import Floats, Integers

ASIDE = np.array([[0.37e-6], [0.61e-6]])
"""Columns are looked at so far beside their vertices, in shares of the water's size, that none runs
exactly along an edge of what dips in."""
AT_ONCE = 1_000_000
"""Pairs of columns and triangles that are looked at together."""
FACING = 0.1
"""Of the water, what looks up at least so much takes part; up is where all of it looks."""


def submersion(seat: Floats, normals: Floats, vertices: Floats, triangles: Integers) -> Floats:
    """(n,) how much of the column under each vertex of the level a surface fills [m].

    Where the column enters and leaves it, at depths d: Σ d of what looks down − Σ d of what looks
    up, which needs no order. Of open surfaces, all that is beneath them counts.

    Parameters
    ----------
    seat, normals : (3, n) of the level.
    vertices, triangles : (3, v) and (3, t) of the surface, counter-clockwise seen from outside.
    """
    up = normals.mean(axis=1)
    up /= max(float(np.sqrt(up @ up)), 1e-300)
    filled = np.zeros(seat.shape[1])
    columns = np.flatnonzero(up @ normals > FACING)
    flat = _axes(up)
    here, there = flat @ seat[:, columns], flat @ vertices
    size = np.ptp(here, axis=1).max(initial=0.0)
    here = here + ASIDE * size
    levels, heights = up @ seat[:, columns], up @ vertices
    near = _overlapping(there, heights, triangles, here, levels)
    under = np.flatnonzero(
        ((here >= there.min(axis=1)[:, None]) & (here <= there.max(axis=1)[:, None])).all(axis=0)
    )
    if not len(near) or not len(under):
        return filled
    for part in np.array_split(near, len(near) * len(under) // AT_ONCE + 1):
        corners = triangles[:, part]
        filled[columns[under]] += _crossings(
            there[:, corners], heights[corners], here[:, under], levels[under]
        )
    return np.abs(filled)


def _axes(up: Floats) -> Floats:
    """(2, 3) two directions that make a right-handed frame with `up`."""
    first = np.cross(np.eye(3)[np.argmin(np.abs(up))], up)
    first /= np.sqrt(first @ first)
    return np.stack([first, np.cross(up, first)])


def _overlapping(
    there: Floats, heights: Floats, triangles: Integers, here: Floats, levels: Floats
) -> Integers:
    """The triangles that may lie under the water."""
    spans = there[:, triangles]
    inside = heights[triangles].min(axis=0) < levels.max(initial=-np.inf)
    inside &= (spans.max(axis=1) >= here.min(axis=1, initial=np.inf)[:, None]).all(axis=0)
    inside &= (spans.min(axis=1) <= here.max(axis=1, initial=-np.inf)[:, None]).all(axis=0)
    return np.flatnonzero(inside)


def _crossings(corners: Floats, heights: Floats, here: Floats, levels: Floats) -> Floats:
    """(k,) Σ ± depth below levels (k,) at which columns here (2, k) cross triangles (2, 3, t)."""
    a, b, c = (corners[:, k, :, None] for k in range(3))
    doubled = _cross(b - a, c - a)
    sides = [_cross(v - u, here[:, None, :] - u) for u, v in ((b, c), (c, a), (a, b))]
    inside = np.logical_and.reduce([side * np.sign(doubled) > 0.0 for side in sides])
    # Where a column crosses no triangle, what is divided does not count.
    height = sum(s * h[:, None] for s, h in zip(sides, heights, strict=True))
    depth = levels - height / np.where(doubled == 0.0, 1.0, doubled)
    return np.asarray((np.where(inside, np.maximum(depth, 0.0), 0.0) * -np.sign(doubled)).sum(0))


def _cross(a: Floats, b: Floats) -> Floats:
    """The determinants of pairs of vectors (2, …)."""
    return np.asarray(a[0] * b[1] - a[1] * b[0])
