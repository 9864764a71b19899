"""The patches that a woven surface is made of, and which way the threads run in each.

A patch is a quad, or two triangles that are the halves of one; or a triangle that is left over.
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers, inverse, sum_rows
from ..errors import MeshError
from ..geometry.faces import SLIVER
from ..geometry.hinges import Hinges
from ..geometry.rest_shape import RestShape
from ..geometry.triangle_pairs import find_quad_halves

MAX_SLANT, MAX_FOLD = 1.0, 0.5
"""Largest slant (`find_quad_halves`) of two triangles in one patch, that of two equilateral ones,
and largest angle between their planes and between their threads [rad]."""


@dataclass(frozen=True, eq=False)
class Patches:
    """Quads and triangles; a bilinear surface w₁ w₂ of particles x, w = Σ slope · x."""

    corners: Integers
    """(t, 4) of particles, in turn; a triangle's last one stands twice."""
    gradients: Floats
    """(t, 4, 3) by which corners count for warp and weft, as a mean of the patch [1/m], and for how
    unlike opposite edges are; where a corner stands for the second time, 0."""
    hourglass_gradients: Floats
    """(t, 2) by how much of the last one warp and weft differ at the patch's sides [1/m]."""
    areas: Floats
    """(t,) [m²]"""
    threads: Floats
    """(t, 2, 3) unit vectors along warp and weft at rest."""


def is_woven(shape: RestShape) -> bool:
    """Whether a map says which way its threads run; only cloth has any."""
    return shape.mesh.threads is not None and shape.settings.body_type == "CLOTH"


def build_patches(shape: RestShape, hinges: Hinges) -> Patches:
    """The patches of a body; none where no map shows its threads.

    Raises
    ------
    MeshError
        The map shows a triangle without any area.
    """
    if not is_woven(shape):
        none = np.zeros((0, 4, 3))
        corners = none[:, :, 0].astype(np.int64)
        return Patches(corners, none, none[:, :2, 0], none[:, 0, 0], none[:, :2])
    faces, triangles = _fan_triangles(shape)
    warps = sum_rows(faces, _warps(shape, triangles).T, len(shape.areas)).T
    halves = _halves(shape, hinges, warps)
    p, q = hinges.p[halves], hinges.q[halves]
    pairs = np.stack([p, hinges.beyond_q[halves, 1], q, hinges.beyond_p[halves, 0]], axis=1)
    sizes = np.diff(shape.mesh.face_starts)
    wide = np.flatnonzero(sizes == 4)
    quads = shape.mesh.face_vertices[shape.mesh.face_starts[wide, None] + np.arange(4)]
    alone = sizes != 4
    alone[hinges.faces[halves]] = False
    left = alone[faces]
    rest = shape.mesh.face_vertices[triangles[left][:, [0, 1, 2, 2]]]
    both = warps[hinges.faces[halves]].sum(axis=1)
    warps = np.concatenate([warps[wide], both, warps[faces[left]]])
    return _make_patches(shape, np.concatenate([quads, pairs, rest]), warps)


def _fan_triangles(shape: RestShape) -> tuple[Integers, Integers]:
    """(k,) faces and (k, 3) face corners of the triangles around each face's first corner."""
    corners, starts = shape.corners, shape.mesh.face_starts[:-1]
    place = np.arange(len(corners.face)) - starts[corners.face]
    second = np.flatnonzero((place > 0) & (place < corners.size - 1))
    faces = corners.face[second]
    return faces, np.stack([starts[faces], second, second + 1], axis=1)


def _warps(shape: RestShape, triangles: Integers) -> Floats:
    """(k, 3) vectors along which the map's second coordinate grows and its first does not.

    They are as long as the triangle is large, and 0 where it has no area.
    """
    if shape.mesh.threads is None:
        return np.zeros((len(triangles), 3))
    points = shape.mesh.positions[shape.mesh.face_vertices[triangles]]
    sides = points[:, 1:] - points[:, :1]
    areas = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1) / 2.0
    areas[areas < SLIVER * (sides**2).sum(axis=2).max(axis=1)] = 0.0
    map_points = shape.mesh.threads[triangles]
    across = map_points[:, 1:] - map_points[:, :1]
    area = across[:, 0, 0] * across[:, 1, 1] - across[:, 1, 0] * across[:, 0, 1]
    warp = sides[:, 1] * across[:, :1, 0] - sides[:, 0] * across[:, 1:, 0]
    warp *= np.sign(area)[:, None]
    size = np.linalg.norm(warp, axis=1)
    flat = (np.abs(area) <= SLIVER * (across**2).sum(axis=2).max(axis=1)) | (size == 0.0)
    lost = np.count_nonzero(flat & (areas > 0.0))
    if lost:
        raise MeshError(
            f"'{shape.mesh.name}' has {lost} triangles without area in the UV "
            "map of its threads; unwrap it, or choose another map"
        )
    return np.asarray(warp * (areas * inverse(size, size))[:, None])


def _halves(shape: RestShape, hinges: Hinges, warps: Floats) -> Integers:
    """(r,) hinges whose triangles are one patch: the threads of both run nearly alike."""
    halves = find_quad_halves(shape, hinges, slant=MAX_SLANT, fold=MAX_FOLD)
    size = np.linalg.norm(warps, axis=1)
    first, second = (warps * inverse(size, size)[:, None])[hinges.faces[halves]].transpose(1, 0, 2)
    return np.asarray(halves[(first * second).sum(axis=1) > np.cos(MAX_FOLD)])


def _make_patches(shape: RestShape, corners: Integers, warps: Floats) -> Patches:
    """Patches with such corners and vectors (t, 3) along their warp; what has no area is left out.

    The warp runs upwards in the map, and the weft square to it, however much the map distorts.
    """
    points = shape.mesh.positions[corners]
    normals = np.cross(points[:, 2] - points[:, 0], points[:, 3] - points[:, 1])
    longest = ((points - np.roll(points, 1, axis=1)) ** 2).sum(axis=2).max(axis=1)
    weft = np.cross(warps, normals)
    sound = np.linalg.norm(normals, axis=1) > SLIVER * longest
    sound &= np.linalg.norm(weft, axis=1) > 0.0
    corners, points, weft, normals = corners[sound], points[sound], weft[sound], normals[sound]
    threads = np.stack([np.cross(normals, weft), weft], axis=1)
    threads /= np.linalg.norm(threads, axis=2, keepdims=True)
    flat = np.einsum("tia,tka->kti", points, threads)
    gradients = _gradients(flat)
    single = corners[:, 2] == corners[:, 3]
    gradients[single, 2] += gradients[single, 3]
    gradients[single, 3] = gradients[single, :, 2] = 0.0
    # A quad that is not flat at rest is not strained either.
    gradients_of_positions = np.einsum("tik,tia->tka", gradients[:, :, :2], points)
    gradients[:, :, :2] /= np.linalg.norm(gradients_of_positions, axis=2)[:, None]
    areas = np.linalg.norm(normals, axis=1) / 2.0
    return Patches(corners, gradients, _hourglass_gradients(flat), areas, threads)


def _gradients(flat: Floats) -> Floats:
    """(t, 4, 3) slopes of patches whose corners are at (2, t, 4) along warp and weft.

    Mean gradients, and what is left of (1, −1, 1, −1) when a uniform strain is taken out
    (D. P. Flanagan and T. Belytschko, *A Uniform Strain Hexahedron and Quadrilateral with
    Orthogonal Hourglass Control*, 1981).
    """
    x, y = flat
    (dx, ex), (dy, ey) = ((z[:, 2] - z[:, 0], z[:, 3] - z[:, 1]) for z in (x, y))
    double = (dx * ey - ex * dy)[:, None]
    ahead, back = np.roll(flat, -1, axis=2), np.roll(flat, 1, axis=2)
    by_x, by_y = (ahead[1] - back[1]) / double, (back[0] - ahead[0]) / double
    turns = np.array([1.0, -1.0, 1.0, -1.0])
    unlike = turns - (x * turns).sum(axis=1, keepdims=True) * by_x
    unlike -= (y * turns).sum(axis=1, keepdims=True) * by_y
    return np.stack([by_x, by_y, unlike], axis=2)


def _hourglass_gradients(flat: Floats) -> Floats:
    """(t, 2) as in `Patches`, of corners at (2, t, 4) along warp and weft.

    Of bilinear shape functions; where edges run along the threads, the threads at the sides are
    the edges.
    """
    a, b, c, d = np.moveaxis(flat, 2, 0)
    one, other = (b + c - a - d) / 4.0, (c + d - a - b) / 4.0
    turn = np.abs(one[0] * other[1] - one[1] * other[0])
    return np.asarray((np.hypot(one, other)[::-1] / turn).T / 4.0)
