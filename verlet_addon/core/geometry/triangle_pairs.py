"""Pairs of triangles merged into the quads that they are halves of.

Most cloth of triangles is a grid cut along diagonals. With hinges at all its edges, which run in
three directions, it would be up to four times as stiff in one direction as in another.
"""

import numpy as np

from ..arrays import NONZERO, Floats, Integers
from .faces import face_normals
from .graph import edge_keys
from .greedy_matching import match_greedily
from .hinges import Hinges
from .rest_shape import RestShape, remeshed

QUAD_SLANT = 0.5
"""Limit of a quad's slant: the difference in length of its diagonals, or twice the distance of
their
midpoints, as a share of the edge between its halves. Two equilateral triangles have 0.73. With 0.3,
slightly irregular grids are twice as stiff along one diagonal; with 0.7, fully irregular meshes get
stiffer by a tenth."""
COPLANAR_ANGLE = 1e-3
"""Triangles whose normals differ by less than this lie in one plane [rad]."""


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
