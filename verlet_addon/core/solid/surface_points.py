"""The points at which a solid touches things: its vertices, and more on faces that are large."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import NONZERO, Floats, Integers, sum_by

MAX_SUBDIVIDED, MIN_COARSE_CUTS = 4000, 3
"""Faces longer than MIN_COARSE_CUTS cells are subdivided for contacts with other bodies, into at
most MAX_SUBDIVIDED triangles. All points touch the ground in any case."""


@dataclass(frozen=True, eq=False)
class SurfacePoints:
    """Points on a surface, the n vertices first, and the triangles between them."""

    areas: Floats
    """(p,) what each stands for of the surface [m²]."""
    corners: Integers
    """(3, p − n) vertices between which each further point lies."""
    shares: Floats
    """(3, p − n) of each of them."""
    triangles: Integers
    """(3, t) by which it touches others."""
    subdivided: bool
    """Whether these join all points, or only vertices."""

    @cached_property
    def area_factors(self) -> Floats:
        """(p,) by how much more of the surface each stands for where others touch it."""
        if self.subdivided:
            return np.ones(len(self.areas))
        further = self.areas[len(self.areas) - self.corners.shape[1] :]
        more = sum_by(self.corners.ravel(), (self.shares * further).ravel(), len(self.areas))
        return np.asarray(1.0 + more / np.maximum(self.areas, NONZERO))

    def interpolate(self, vertices: Floats) -> Floats:
        """(p, 3) values (n, 3) at vertices, and between them."""
        between_vertices = (vertices[self.corners] * self.shares[:, :, None]).sum(axis=0)
        return np.concatenate([vertices, between_vertices])


def build_surface_points(positions: Floats, triangles: Integers, spacing: float) -> SurfacePoints:
    """Vertices, and points as close as `spacing` on triangles with an edge longer than that [m].

    Every triangle's area is shared out over its points. All triangles are cut alike, so that they
    stay closed, where others are touched by them; else each as is needed.

    Parameters
    ----------
    positions : (n, 3) of vertices [m].
    triangles : (3, t)
    """
    sides = positions[triangles] - positions[np.roll(triangles, -1, axis=0)]
    longest = np.sqrt((sides * sides).sum(axis=2)).max(axis=0)
    normals = np.cross(sides[0], sides[1])
    areas = np.sqrt((normals * normals).sum(axis=1)) / 2
    cuts = np.maximum(np.ceil(longest / spacing - 1e-9).astype(np.int64), 1)
    uniform = (
        len(cuts) * int(cuts.max()) ** 2 <= MAX_SUBDIVIDED and int(cuts.max()) > MIN_COARSE_CUTS
    )
    groups = [np.full(len(cuts), True)] if uniform else [cuts == cut for cut in np.unique(cuts)]
    n = len(positions)
    corners, shares = [np.tile(np.arange(n), (3, 1))], [np.eye(3)[:, :1].repeat(n, axis=1)]
    weights, small = [np.zeros(n)], triangles
    for chosen in groups:
        barycentric, parts, pieces = _division(int(cuts[chosen].max()))
        count = np.count_nonzero(chosen)
        corners.append(np.repeat(triangles[:, chosen], len(barycentric), axis=1))
        shares.append(np.tile(barycentric.T, (1, count)))
        weights.append(np.outer(areas[chosen], parts).ravel())
        if uniform:
            starts = n + np.arange(count) * len(barycentric)
            small = (pieces.T[:, None] + starts[:, None]).reshape(3, -1)
    kept, numbers = _distinct(np.concatenate(corners, axis=1), np.concatenate(shares, axis=1))
    further = kept[n:]
    return SurfacePoints(
        areas=sum_by(numbers, np.concatenate(weights), len(kept)),
        corners=np.concatenate(corners, axis=1)[:, further],
        shares=np.concatenate(shares, axis=1)[:, further],
        triangles=numbers[small],
        subdivided=uniform,
    )


def _distinct(corners: Integers, shares: Floats) -> tuple[Integers, Integers]:
    """Which points (3, q) are the first at their place, vertices before others, and (q,) numbers.

    Triangles that are cut alike have points of their common edges in common.
    """
    used = np.where(shares > 0.0, corners, -1)
    order = np.argsort(used, axis=0, kind="stable")
    parts = np.rint(np.take_along_axis(shares, order, axis=0) * 1e6).astype(np.int64)
    keys = np.concatenate([np.take_along_axis(used, order, axis=0), parts])
    _, first, numbers = np.unique(keys.T, axis=0, return_index=True, return_inverse=True)
    return first, numbers.reshape(-1)


def _division(cut: int) -> tuple[Floats, Floats, Integers]:
    """Barycentric places (q, 3) that cut a triangle's edges in so many, and what shares they have.

    (q,) shares of the triangle's area; (s, 3) places of each small triangle, which shares its own
    out over its corners.
    """
    barycentric = [(i, j, cut - i - j) for i in range(cut + 1) for j in range(cut + 1 - i)]
    number = {place: k for k, place in enumerate(barycentric)}
    corners = [
        (number[i, j, k], *(number[i + a, j + b, k - a - b] for a, b in steps))
        for i, j, k in barycentric
        for steps in (((1, 0), (0, 1)), ((1, -1), (1, 0)))
        if all((i + a, j + b, k - a - b) in number for a, b in steps)
    ]
    small = np.array(corners, dtype=np.int64)
    weights = np.bincount(small.ravel(), minlength=len(barycentric)) / (3 * cut * cut)
    return np.array(barycentric) / cut, weights, small
