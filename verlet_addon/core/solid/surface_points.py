"""A solid's surface: faces inside of its mirrored whole, and contact points on the others."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..arrays import NONZERO, Floats, Integers, sum_by
from ..geometry.faces import read_corners
from ..geometry.graph import edge_keys
from ..mesh import MeshData

MAX_SUBDIVIDED, MIN_COARSE_CUTS = 4000, 3
"""Largest number of triangles of a subdivided surface, and length of edges, in cells, from which on
it is used in contacts with other bodies; otherwise the original triangles are. Contacts with the
ground use all points in any case."""


@dataclass(frozen=True, eq=False)
class SurfacePoints:
    """p points on a surface, the n vertices first, and triangles for contacts."""

    areas: Floats
    """(p,) surface area that each point represents [m²]."""
    corners: Integers
    """(3, p − n) vertices of the triangle of each further point."""
    shares: Floats
    """(3, p − n) barycentric coordinates of each further point."""
    triangles: Integers
    """(3, t) triangles for contacts with other bodies."""
    subdivided: bool
    """True if triangles have all points as corners; False if only vertices."""

    @cached_property
    def area_factors(self) -> Floats:
        """(p,) area of each point in contacts with other bodies, as a multiple of `areas`.

        Without subdivision, vertices also represent the areas of further points.
        """
        if self.subdivided:
            return np.ones(len(self.areas))
        further = self.areas[len(self.areas) - self.corners.shape[1] :]
        more = sum_by(self.corners.ravel(), (self.shares * further).ravel(), len(self.areas))
        return np.asarray(1.0 + more / np.maximum(self.areas, NONZERO))

    def interpolate(self, vertices: Floats) -> Floats:
        """(p, 3) values at points, by linear interpolation of values (n, 3) at vertices."""
        between_vertices = (vertices[self.corners] * self.shares[:, :, None]).sum(axis=0)
        return np.concatenate([vertices, between_vertices])


def build_surface_points(positions: Floats, triangles: Integers, spacing: float) -> SurfacePoints:
    """Vertices, and further points on triangles with edges longer than `spacing` [m].

    Each triangle's area is distributed to its points. If the subdivided triangles are used in
    contacts, all triangles have the same number of subdivisions, so that the surface stays closed;
    otherwise each has as many as it needs.

    Parameters
    ----------
    positions : (n, 3) vertex positions [m].
    triangles : (3, t) vertex numbers.
    spacing : largest distance of neighbouring points [m].
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
    """Merges equal points: index of the first of each, and (q,) number of each among these.

    Subdivided triangles share the points on their common edges. Points are given by vertices and
    barycentric coordinates, both (3, q).
    """
    used = np.where(shares > 0.0, corners, -1)
    order = np.argsort(used, axis=0, kind="stable")
    parts = np.rint(np.take_along_axis(shares, order, axis=0) * 1e6).astype(np.int64)
    keys = np.concatenate([np.take_along_axis(used, order, axis=0), parts])
    _, first, numbers = np.unique(keys.T, axis=0, return_index=True, return_inverse=True)
    return first, numbers.reshape(-1)


def _division(cut: int) -> tuple[Floats, Floats, Integers]:
    """Regular subdivision of a triangle, with `cut` parts per edge.

    (q, 3) barycentric coordinates of points, (q,) shares of the triangle's area, and (s, 3) corners
    of small triangles.
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


def without_mirror_faces(mesh: MeshData) -> MeshData:
    """The mesh without faces in its mirror planes, and without edges of these faces alone.

    Half a solid may be closed there; the surface of the whole has no such faces.
    """
    corners = read_corners(mesh)
    within = np.zeros(len(mesh.face_starts) - 1, dtype=bool)
    for mirror in mesh.mirrors:
        heights = (mesh.positions - mirror.plane.point) @ mirror.plane.normal
        outside = np.abs(heights) > mirror.merge_distance
        within |= np.bincount(corners.face, outside[corners.vertex], len(within)) == 0
    if not within.any():
        return mesh
    removed, n = within[corners.face], len(mesh.positions)
    sides = edge_keys((corners.vertex, corners.following), n)
    mirror_edges = np.setdiff1d(sides[removed], sides[~removed])
    edges = ~np.isin(edge_keys(mesh.edges.T, n), mirror_edges)
    sizes = np.diff(mesh.face_starts)[~within]
    return replace(
        mesh,
        edges=mesh.edges[edges],
        face_starts=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        face_vertices=mesh.face_vertices[~removed],
    )
