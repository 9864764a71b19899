"""Intersections of parallel rays with a surface, and winding numbers of points by them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers, dot, ranges, weighted_sums
from ..kernel import Sized, SizedIntegers, kernel
from .graph import find_components

RAY_OFFSETS = np.array([[0.37e-6], [0.61e-6]])
"""Offsets of rays from their points, as shares of the points' extent, so that none meets an edge of
the surface exactly."""
MAX_RAY_TESTS = 1_000_000
"""Size: pairs of rays and triangles that are tested at once, at most, to bound the memory."""
ROW_MARGIN, MIN_EXTENT = 1e-9, 1e-100
"""Rounding: margin in the search for points by rows, as a share of a row; and the least extent of
the points [m], against division by 0."""
MIN_TRIANGLE_WIDTH = 4e-15
"""Rounding: width, seen along the rays, below which a triangle counts as degenerate, as a share of
the largest coordinate."""
Rows = Callable[[Floats], Integers]
Keys = Callable[[Integers, Floats], Floats]


@dataclass(frozen=True, eq=False)
class RayCrossings:
    """k intersections of rays with triangles."""

    points: Integers
    """(k,) the point of each ray."""
    triangles: Integers
    """(k,) the triangle."""
    heights: Floats
    """(k,) distance along the ray from its point to the triangle; negative behind the point [m]."""
    turns: Floats
    """(k,) 1 where the ray leaves the surface, through a triangle's front; −1 where it enters."""


def cast_rays(
    points: Floats,
    vertices: Floats,
    triangles: Integers,
    direction: Floats,
    *,
    upwards: bool = False,
) -> RayCrossings:
    """Returns the intersections of a surface with parallel lines, one through each point.

    Parameters
    ----------
    points : (3, n) [m].
    vertices, triangles : (3, v) and (3, t) of the surface, counter-clockwise seen from outside.
    direction : (3,) unit vector along the lines.
    upwards : whether only the rays from the points along `direction` count, not those behind.
    """
    if not (points.size and triangles.size):
        return RayCrossings(*_NO_CROSSINGS)
    flat = _axes(direction)
    here, there = weighted_sums(flat, points), weighted_sums(flat, vertices)
    here = here + RAY_OFFSETS * np.ptp(here, axis=1).max()
    levels, heights = dot(direction, points), dot(direction, vertices)
    chosen = np.arange(triangles.shape[1])
    if upwards:
        with np.errstate(invalid="ignore"):  # some vertices are not finite
            top = heights[triangles].max(axis=0, initial=-np.inf)
            chosen = np.flatnonzero(top >= levels.min(initial=np.inf))
    parts_found = [_NO_CROSSINGS]
    for found in _crossings(here, levels, there[:, triangles], heights[triangles], chosen):
        kept = (found[2] > 0.0) | (not upwards)
        parts_found.append((found[0][kept], found[1][kept], found[2][kept], found[3][kept]))
    return RayCrossings(*(np.concatenate(parts) for parts in zip(*parts_found, strict=True)))


def _crossings(
    here: Floats, levels: Floats, spans: Floats, heights: Floats, chosen: Integers
) -> Iterator[tuple[Integers, Integers, Floats, Floats]]:
    """Hits of rays at (2, n) on chosen triangles (2, 3, t): columns of `RayCrossings`, in portions.

    `levels` (n,) and `heights` (3, t) are those of points and corners along the rays [m].
    """
    size = np.abs(here).max(initial=0.0)
    for points, triangles in _candidates(here, spans, chosen):
        corners, at = spans[..., triangles], here[:, points]
        a, b, c = (corners[:, k] for k in range(3))
        doubled = _determinant(b - a, c - a)
        widths = np.abs(b - a).sum(axis=0) + np.abs(c - a).sum(axis=0)
        doubled[np.abs(doubled) < MIN_TRIANGLE_WIDTH * size * widths] = 0.0
        sides = np.stack([_determinant(v - u, at - u) for u, v in ((b, c), (c, a), (a, b))])
        hit = (sides * np.sign(doubled) > 0.0).all(axis=0)
        point, triangle, area = points[hit], triangles[hit], doubled[hit]
        height = (sides[:, hit] * heights[:, triangle]).sum(axis=0) / area
        yield point, triangle, height - levels[point], np.sign(area)


def _candidates(
    here: Floats, spans: Floats, chosen: Integers
) -> Iterator[tuple[Integers, Integers]]:
    """Pairs of points (2, n) and chosen triangles (2, 3, t) whose box has them, in portions."""
    order, keys, row_of, key_of = _sort_into_rows(here)
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


def _sort_into_rows(here: Floats) -> tuple[Integers, Floats, Rows, Keys]:
    """Points (2, n) sorted into rows: their order, their keys, and functions for rows and keys.

    A key is the number of the row plus a fraction that increases along it.
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

    The number of times that a ray from the point leaves the surface, less that it enters. All are 0
    where any corner of the triangles (3, t) is not finite.
    """
    found = np.zeros(points.shape[1], dtype=np.int64)
    if not len(found):
        return found
    frame = np.concatenate([_axes(RAY_DIRECTION), RAY_DIRECTION[None]])
    rays = weighted_sums(frame, points)
    rays[:2] += RAY_OFFSETS * np.ptp(rays[:2], axis=1).max()
    order = np.argsort(rays[0], kind="stable")
    found[order] = count_turns(rays[:, order], vertices, triangles, frame)
    return found


@kernel(result=lambda rays, *_: np.empty(rays.shape[1], dtype=np.int64))
def count_turns(rays: Sized, vertices: Sized, triangles: SizedIntegers, frame: Floats) -> Integers:
    """(n,) how often each of parallel rays leaves a surface, less how often it enters.

    Parameters
    ----------
    rays : (3, n) where they start, sorted by the first coordinate in the frame [m].
    vertices, triangles : (3, v) and (3, t) of the surface.
    frame : (3, 3) unit vectors: two across the rays, and that along them.
    """
    corners = weighted_sums(frame, vertices)[:, triangles]
    if not np.isfinite(corners).all():
        return np.zeros(rays.shape[1], dtype=np.int64)
    here, levels, turns = rays[:2], rays[2], np.zeros(rays.shape[1])
    chosen = np.flatnonzero(corners[2].max(axis=0, initial=-np.inf) >= levels.min(initial=np.inf))
    for point, _, rise, turn in _crossings(here, levels, corners[:2], corners[2], chosen):
        turns += np.bincount(point[rise > 0.0], turn[rise > 0.0], len(turns))
    return np.asarray(np.rint(turns).astype(np.int64))


def is_closed(triangles: Integers) -> bool:
    """Whether all pieces of a surface of triangles (3, t) are closed; False without triangles."""
    return bool(triangles.size) and len(closed_shells(triangles)) == triangles.shape[1]


def closed_shells(triangles: Integers) -> Integers:
    """(k,) indices of the triangles (3, t) that belong to closed pieces.

    There each edge has two triangles, which contain it in opposite directions.
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
"""Upwards and slightly oblique, so that rays are parallel to no face of an upright box."""
_NO_CROSSINGS = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), np.empty(0))


def _axes(up: Floats) -> Floats:
    """(2, 3) two unit vectors that form a right-handed frame with `up`."""
    first = np.cross(np.eye(3)[np.argmin(np.abs(up))], up)
    first /= np.sqrt(dot(first, first))
    return np.stack([first, np.cross(up, first)])


def _determinant(a: Floats, b: Floats) -> Floats:
    """(k,) the determinants of pairs of vectors (2, k)."""
    return np.asarray(a[0] * b[1] - a[1] * b[0])
