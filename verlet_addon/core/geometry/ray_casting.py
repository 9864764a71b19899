"""Where parallel rays pass through a surface, and so what is inside of it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..arrays import Booleans, Floats, Integers, dot, ranges, weighted_sums
from .graph import find_components

RAY_OFFSETS = np.array([[0.37e-6], [0.61e-6]])
"""Rays run beside their points by these shares of the points' extent: none then runs exactly along
an edge of the surface."""
MAX_RAY_TESTS = 1_000_000
"""Most pairs of rays and triangles that are tested at once, to bound the memory."""
ROW_MARGIN, MIN_EXTENT = 1e-9, 1e-100
"""Rounding loses no point that is so near a box, in shares of a row; nothing is narrower."""
MIN_TRIANGLE_WIDTH = 4e-15
"""Triangles narrower than this share of how far away they are, which is rounding, are not met."""
Rows = Callable[[Floats], Integers]
Keys = Callable[[Integers, Floats], Floats]


@dataclass(frozen=True, eq=False)
class RayCrossings:
    """k places at which rays pass through triangles."""

    points: Integers
    """(k,) the point through which each ray runs."""
    triangles: Integers
    """(k,)"""
    heights: Floats
    """(k,) how far along the direction the place is from that point [m]."""
    turns: Floats
    """(k,) 1 where the ray comes out at a triangle's front, −1 where it goes in."""


def cast_rays(
    points: Floats,
    vertices: Floats,
    triangles: Integers,
    direction: Floats,
    *,
    upwards: bool = False,
) -> RayCrossings:
    """Returns where the rays through points, or `upwards` from them alone, pass through a surface.

    Parameters
    ----------
    points : (3, n) [m].
    vertices, triangles : (3, v) and (3, t) of the surface, counter-clockwise seen from outside.
    direction : (3,) a unit vector.
    """
    if not (points.size and triangles.size):
        return RayCrossings(*_NO_CROSSINGS)
    flat = _axes(direction)
    here, there = weighted_sums(flat, points), weighted_sums(flat, vertices)
    here = here + RAY_OFFSETS * np.ptp(here, axis=1).max()
    levels, heights = dot(direction, points), dot(direction, vertices)
    chosen = np.arange(triangles.shape[1])
    if upwards:
        with np.errstate(invalid="ignore"):  # some vertices are nowhere
            top = heights[triangles].max(axis=0, initial=-np.inf)
            chosen = np.flatnonzero(top >= levels.min(initial=np.inf))
    parts_found = [_NO_CROSSINGS]
    for point, triangle in _candidates(here, there[:, triangles], chosen):
        corners = triangles[:, triangle]
        hit, height, turn = _cross(there[:, corners], heights[corners], here[:, point])
        rise = height - levels[point[hit]]
        kept = (rise > 0.0) | (not upwards)
        parts_found.append((point[hit][kept], triangle[hit][kept], rise[kept], turn[kept]))
    return RayCrossings(*(np.concatenate(parts) for parts in zip(*parts_found, strict=True)))


def _candidates(
    here: Floats, spans: Floats, chosen: Integers
) -> Iterator[tuple[Integers, Integers]]:
    """Points (2, n), each with the chosen triangles (2, 3, t) in whose box it lies, in portions."""
    order, keys, row_of, key_of = _in_rows(here)
    low, high = spans.min(axis=1), spans.max(axis=1)
    sound = chosen[np.isfinite(spans[..., chosen]).all(axis=(0, 1))]
    bottom, top = row_of(low[1, sound]), row_of(high[1, sound])
    triangles, rows = np.repeat(sound, top - bottom + 1), ranges(bottom, top - bottom + 1)
    first = np.searchsorted(keys, key_of(rows, low[0, triangles]) - ROW_MARGIN, "left")
    counts = np.searchsorted(keys, key_of(rows, high[0, triangles]) + ROW_MARGIN, "right") - first
    used = np.flatnonzero(counts > 0)
    for part in np.array_split(used, int(counts[used].sum()) // MAX_RAY_TESTS + 1):
        triangle = np.repeat(triangles[part], counts[part])
        point = order[ranges(first[part], counts[part])]
        inside = (here[:, point] >= low[:, triangle]) & (here[:, point] <= high[:, triangle])
        within = inside.all(axis=0)
        yield point[within], triangle[within]


def _in_rows(here: Floats) -> tuple[Integers, Floats, Rows, Keys]:
    """Points (2, n) sorted by rows along the first axis: their order, keys, and how these are made.

    A key is the number of a row, and a share of one from left to right.
    """
    low, high = here.min(axis=1, initial=np.inf), here.max(axis=1, initial=-np.inf)
    count, extent = int(here.shape[1] ** 0.5) + 1, np.maximum(high - low, MIN_EXTENT)

    def row_of(y: Floats) -> Integers:
        rows: Integers = np.clip((y - low[1]) / extent[1] * count, 0, count - 1).astype(np.int64)
        return rows

    def key_of(row: Integers, x: Floats) -> Floats:
        return np.asarray(row + np.clip(0.5 * (x - low[0]) / extent[0], -0.25, 0.75))

    keys = key_of(row_of(here[1]), here[0])
    order = np.argsort(keys, kind="stable")
    return order, keys[order], row_of, key_of


def find_winding_numbers(points: Floats, vertices: Floats, triangles: Integers) -> Integers:
    """(n,) winding numbers of a closed surface about points (3, n); 0 = outside.

    A ray from the point leaves the surface so many times more often than it enters it.
    """
    through = cast_rays(points, vertices, triangles, RAY_DIRECTION, upwards=True)
    turns = np.bincount(through.points, through.turns, points.shape[1])
    return np.asarray(np.rint(turns).astype(np.int64))


def is_closed(triangles: Integers) -> bool:
    """Whether triangles (3, t) enclose something with all of their pieces."""
    return bool(triangles.size) and len(closed_shells(triangles)) == triangles.shape[1]


def closed_shells(triangles: Integers) -> Integers:
    """(k,) the triangles, of (3, t), that belong to closed pieces.

    In those each edge has two triangles, which run along it in opposite directions.
    """
    a, b, c = triangles
    first, second = np.concatenate([a, b, c]), np.concatenate([b, c, a])
    count = int(triangles.max(initial=-1)) + 1
    there, back = first * count + second, second * count + first
    _, firsts, numbers = np.unique(there, return_index=True, return_counts=True)
    open_edges = first[~np.isin(there, back)]
    doubled = first[firsts[numbers > 1]]
    pieces = find_components(count, np.stack([first, second], axis=1))
    sound = np.ones(pieces.max(initial=-1) + 1, dtype=bool)
    sound[pieces[np.concatenate([open_edges, doubled])]] = False
    return np.flatnonzero(sound[pieces[a]])


RAY_DIRECTION = np.array([0.1357, -0.2231, 0.0])
RAY_DIRECTION[2] = np.sqrt(1.0 - dot(RAY_DIRECTION, RAY_DIRECTION))
"""Upwards and a little aslant, so that rays run along no face of a box that stands upright."""
_NO_CROSSINGS = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), np.empty(0))


def _axes(up: Floats) -> Floats:
    """(2, 3) two directions that make a right-handed frame with `up`."""
    first = np.cross(np.eye(3)[np.argmin(np.abs(up))], up)
    first /= np.sqrt(dot(first, first))
    return np.stack([first, np.cross(up, first)])


def _cross(corners: Floats, heights: Floats, here: Floats) -> tuple[Booleans, Floats, Floats]:
    """Which rays at `here` (2, k) cross their triangles (2, 3, k), how high, and which way."""
    a, b, c = (corners[:, k] for k in range(3))
    doubled = _determinant(b - a, c - a)
    spans = np.abs(b - a).sum(axis=0) + np.abs(c - a).sum(axis=0)
    doubled[np.abs(doubled) < MIN_TRIANGLE_WIDTH * np.abs(corners).max(initial=0.0) * spans] = 0.0
    sides = np.stack([_determinant(v - u, here - u) for u, v in ((b, c), (c, a), (a, b))])
    hit = (sides * np.sign(doubled) > 0.0).all(axis=0)
    height = (sides[:, hit] * heights[:, hit]).sum(axis=0) / doubled[hit]
    return hit, height, np.sign(doubled[hit])


def _determinant(a: Floats, b: Floats) -> Floats:
    """(k,) the determinants of pairs of vectors (2, k)."""
    return np.asarray(a[0] * b[1] - a[1] * b[0])
