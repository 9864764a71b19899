"""Where edges pass through triangles, to the last digit: what no simulation of contacts may leave.

Nothing here is taken from the solver. The signs of volumes are worked out in floating point where
that is certain, and else in whole numbers.
"""

from collections.abc import Sequence

import numpy as np

from verlet_addon.core.arrays import Booleans, Floats, Integers

CERTAIN = 1e-14
"""Volumes are certain to this share of the sizes that they are worked out from."""
Pairs = Integers
"""(2, k) edges and triangles."""


def joined(
    places: Sequence[Floats], surfaces: Sequence[tuple[Integers, Integers]]
) -> tuple[Floats, Integers, Integers, Integers]:
    """(3, n) positions, (2, e) edges, (3, t) triangles and (n,) owners of surfaces as one.

    Of each surface `places` has the positions (n, 3), and `surfaces` the edges and triangles.
    """
    starts = np.cumsum([0, *map(len, places)])
    owners = np.repeat(np.arange(len(places)), np.diff(starts))
    edges, triangles = (
        np.concatenate([part + start for part, start in zip(parts, starts, strict=False)]).T
        for parts in zip(*surfaces, strict=True)
    )
    return np.concatenate(places).T, edges, triangles, owners


def crossings(positions: Floats, edges: Integers, triangles: Integers) -> Pairs:
    """(2, k) every edge (2, e) and triangle (3, t) that pass through each other, without touching.

    Pairs that share a corner are left out. Positions are (3, n).
    """
    return passing(positions, edges, triangles, near(positions, edges, triangles))


def passing(positions: Floats, edges: Integers, triangles: Integers, pairs: Pairs) -> Pairs:
    """Those of pairs that do."""
    ends, corners = edges[:, pairs[0]], triangles[:, pairs[1]]
    apart = (ends[:, None] != corners[None]).all(axis=(0, 1))
    pairs, ends, corners = pairs[:, apart], ends[:, apart], corners[:, apart]
    return pairs[:, _pass(positions, ends, corners)]


def _pass(x: Floats, ends: Integers, corners: Integers) -> Booleans:
    """(k,) whether the ends lie on both sides of the triangle, and the line leads through it."""
    p, q, a, b, c = *ends, *corners
    between = np.flatnonzero(_side(x, p, a, b, c) * _side(x, q, a, b, c) < 0)
    p, q, a, b, c = (row[between] for row in (p, q, a, b, c))
    turns = np.stack([_side(x, p, q, *side) for side in ((a, b), (b, c), (c, a))])
    within = np.zeros(ends.shape[1], dtype=bool)
    within[between] = np.abs(turns.sum(axis=0)) == 3
    return within


def _side(x: Floats, *corners: Integers) -> Integers:
    """(k,) the sign of the volume of tetrahedra."""
    base = x[:, corners[3]]
    rows = np.stack([x[:, corner] - base for corner in corners[:3]])
    volumes = np.einsum("ak,ak->k", rows[0], np.cross(rows[1], rows[2], axis=0))
    sizes = np.abs(rows).max(axis=1).prod(axis=0) * 6.0
    signs: Integers = np.sign(volumes).astype(np.int64)
    spread = np.abs(np.stack([x[:, corner] for corner in corners])).max(axis=(0, 1))
    doubtful = np.abs(volumes) <= CERTAIN * (sizes + spread * np.abs(rows).max(axis=(0, 1)) ** 2)
    doubtful &= rows.any(axis=0).all(axis=0)  # or else all lie at one x, y or z
    for k in np.flatnonzero(doubtful):
        signs[k] = _exact_side(*(x[:, corner[k]] for corner in corners))
    return signs


def _exact_side(*points: Floats) -> int:
    """The sign of the volume of one tetrahedron, in whole numbers of their finest unit."""
    ratios = [[value.as_integer_ratio() for value in point.tolist()] for point in points]
    finest = max(unit for point in ratios for _, unit in point)
    exact = [[number * (finest // unit) for number, unit in point] for point in ratios]
    a, b, c = ([p - q for p, q in zip(row, exact[3], strict=True)] for row in exact[:3])
    volume: int = (
        a[0] * (b[1] * c[2] - b[2] * c[1])
        + a[1] * (b[2] * c[0] - b[0] * c[2])
        + a[2] * (b[0] * c[1] - b[1] * c[0])
    )
    return (volume > 0) - (volume < 0)


def near(x: Floats, edges: Integers, triangles: Integers) -> Pairs:
    """(2, k) pairs whose boxes overlap, by sorting them along x."""
    lows, highs = x[:, edges].min(axis=1), x[:, edges].max(axis=1)
    order = np.argsort(x[0, triangles].min(axis=0), kind="stable")
    low, high = x[:, triangles[:, order]].min(axis=1), x[:, triangles[:, order]].max(axis=1)
    reach = np.maximum.accumulate(high[0])
    first = np.searchsorted(reach, lows[0], side="left")
    last = np.searchsorted(low[0], highs[0], side="right")
    found = [np.empty((2, 0), dtype=np.int64)]
    for chunk in np.array_split(np.arange(edges.shape[1]), max(1, int((last - first).sum()) >> 21)):
        counts = np.maximum(last[chunk] - first[chunk], 0)
        edge = np.repeat(chunk, counts)
        place = np.arange(len(edge)) - np.repeat(np.cumsum(counts) - counts, counts) + first[edge]
        overlap = np.ones(len(edge), dtype=bool)
        for axis in (2, 1, 0):
            overlap &= (lows[axis, edge] <= high[axis, place]) & (
                low[axis, place] <= highs[axis, edge]
            )
        found.append(np.stack([edge[overlap], order[place[overlap]]]))
    return np.concatenate(found, axis=1)
