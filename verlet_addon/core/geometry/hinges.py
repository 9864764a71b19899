"""Hinges: pairs of faces with a common edge, and pairs of triangles merged into quads.

Most cloth of triangles is a grid cut along diagonals. With hinges at all its edges, which run in
three directions, it would be up to four times as stiff in one direction as in another.
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import NONZERO, Floats, Integers, concatenated
from .faces import Corners, face_normals
from .graph import edge_keys, match_greedily
from .rest_shape import RestShape, remeshed

QUAD_SLANT = 0.5
"""Limit of a quad's slant: the difference in length of its diagonals, or twice the distance of
their
midpoints, as a share of the edge between its halves. Two equilateral triangles have 0.73. With 0.3,
slightly irregular grids are twice as stiff along one diagonal; with 0.7, fully irregular meshes get
stiffer by a tenth."""
COPLANAR_ANGLE = 1e-3
"""Rounding: triangles whose normals differ by less than this lie in one plane [rad]."""


@dataclass(frozen=True, eq=False)
class Hinges:
    """h pairs of faces with a common edge (p, q), which the first face has in the order p, q."""

    p: Integers
    """(h,)"""
    q: Integers
    """(h,)"""
    beyond_p: Integers
    """(h, 2) the vertex next to p in either face, away from the edge."""
    beyond_q: Integers
    """(h, 2) the vertex next to q in either face, away from the edge."""
    faces: Integers
    """(h, 2) the first and the second face."""
    sizes: Integers
    """(h, 2) numbers of corners of the faces."""


def find_hinges(corners: Corners, particle_count: int) -> Hinges:
    """Pairs the faces at each edge; of more than two, each with the next by number."""
    keys = edge_keys((corners.vertex, corners.following), particle_count)
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    first, second = order[same], order[same + 1]
    before, after = corners.preceding, corners.after_next
    p, q = corners.vertex[first], corners.following[first]
    turned = corners.vertex[second] == q
    return Hinges(
        p=p,
        q=q,
        beyond_p=np.stack([before[first], np.where(turned, after[second], before[second])], axis=1),
        beyond_q=np.stack([after[first], np.where(turned, before[second], after[second])], axis=1),
        faces=np.stack([corners.face[first], corners.face[second]], axis=1),
        sizes=np.stack([corners.size[first], corners.size[second]], axis=1),
    )


def triangle_pair_diagonals(hinges: Hinges) -> tuple[Integers, Integers]:
    """(t, 2) opposite vertices of two triangles with a common edge, and (t,) their hinges."""
    both = np.flatnonzero((hinges.sizes == 3).all(axis=1))
    return hinges.beyond_p[both], both


def with_both_diagonals(hinges: Hinges) -> tuple[Hinges, Floats]:
    """All hinges, with a second one at edges of quads, and (h,) the share of its energy of each.

    At an edge of a quad there are two hinges of share ½, across opposite diagonals, because one
    alone would not resist bending along the other. On squares the two together are isotropic.
    """
    wide = (hinges.sizes > 3).any(axis=1)
    turned = Hinges(
        p=hinges.q[wide],
        q=hinges.p[wide],
        beyond_p=hinges.beyond_q[wide],
        beyond_q=hinges.beyond_p[wide],
        faces=hinges.faces[wide],
        sizes=hinges.sizes[wide],
    )
    shares = np.where(wide, 0.5, 1.0)
    return concatenated(hinges, turned), np.concatenate([shares, shares[wide]])


def diagonal_hinges(corners: Corners) -> Hinges:
    """Quads as hinges across the diagonal from their first corner."""
    first = np.flatnonzero((corners.size == 4) & (np.diff(corners.face, prepend=-1) > 0))
    p, one, q, other = (corners.vertex[first + k] for k in range(4))
    beyond = np.stack([other, one], axis=1)
    faces = np.stack([corners.face[first]] * 2, axis=1)
    return Hinges(p, q, beyond, beyond, faces, np.full((len(p), 2), 3))


def merge_triangle_pairs(shape: RestShape, hinges: Hinges) -> RestShape:
    """The surface with flat quads in place of their two halves, without the edges between these.

    See `find_quad_halves`.
    """
    chosen = find_quad_halves(shape, hinges, slant=QUAD_SLANT, fold=COPLANAR_ANGLE)
    if not len(chosen):
        return shape
    p, q, n = hinges.p[chosen], hinges.q[chosen], shape.particle_count
    quads = np.stack([p, hinges.beyond_q[chosen, 1], q, hinges.beyond_p[chosen, 0]], axis=1)
    alone = np.ones(len(shape.areas), dtype=bool)
    alone[hinges.faces[chosen]] = False
    sizes, corners = np.diff(shape.mesh.face_starts), alone[shape.corners.face]
    return remeshed(
        shape,
        ~np.isin(edge_keys(shape.mesh.edges.T, n), edge_keys((p, q), n)),
        np.append(sizes[alone], np.full(len(quads), 4)),
        np.append(shape.mesh.face_vertices[corners], quads),
        np.append(shape.areas[alone], shape.areas[hinges.faces[chosen]].sum(axis=1)),
    )


def find_quad_halves(shape: RestShape, hinges: Hinges, *, slant: float, fold: float) -> Integers:
    """(r,) hinges whose triangles are halves of quads, the squarest chosen first; none is in two.

    Parameters
    ----------
    slant : limit of the quad's slant, as `QUAD_SLANT`.
    fold : limit of the angle between the normals of the two halves [rad].
    """
    if not len(hinges.p):
        return np.empty(0, dtype=np.int64)
    normals = face_normals(shape.mesh.positions, shape.corners, len(shape.areas))
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), NONZERO)
    first, second = normals[hinges.faces[:, 0]], normals[hinges.faces[:, 1]]
    flat = np.linalg.norm(first - second, axis=1) < fold
    slants = _slants(shape.mesh.positions, hinges)
    candidates = np.flatnonzero((hinges.sizes == 3).all(axis=1) & flat & (slants < slant))
    # Rounded, so that on a grid the order of the mesh decides instead of the last digit.
    candidates = candidates[np.argsort(np.round(slants[candidates], 6), kind="stable")]
    return candidates[match_greedily(hinges.faces[candidates], len(shape.areas))]


def _slants(positions: Floats, hinges: Hinges) -> Floats:
    """(h,) slants of the quads of two triangles, 0 for rectangles; see `QUAD_SLANT`."""
    p, q = positions[hinges.p], positions[hinges.q]
    a, b = positions[hinges.beyond_p[:, 0]], positions[hinges.beyond_q[:, 1]]
    length = np.linalg.norm(p - q, axis=1)
    longer = np.abs(np.linalg.norm(a - b, axis=1) - length)
    middle_distances = np.linalg.norm(p + q - a - b, axis=1)
    return np.asarray(np.maximum(longer, middle_distances) / np.maximum(length, NONZERO))
