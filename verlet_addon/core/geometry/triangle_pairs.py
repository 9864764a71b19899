"""Triangles taken together as the quads that they are halves of.

Most cloth of triangles is a grid cut along diagonals. Bent across edges alone it would be up to
four times as stiff one way as another, for its edges run three ways, and those not evenly.
"""

import numpy as np

from ..arrays import NONZERO, Floats, Integers
from .faces import face_normals
from .graph import edge_keys
from .greedy_matching import match_greedily
from .hinges import Hinges
from .rest_shape import RestShape, remeshed

QUAD_SLANT = 0.5
"""By less than this share of one diagonal the other differs from it in length, and in its middle:
two equilateral triangles have 0.73. With 0.3, slightly strewn grids bend twice as stiffly along one
diagonal; with 0.7, what is strewn evenly gets stiffer by a tenth."""
COPLANAR_ANGLE = 1e-3
"""Triangles whose normals differ by less than this lie in one plane [rad]."""


def merge_triangle_pairs(shape: RestShape, hinges: Hinges) -> RestShape:
    """The same surface, two triangles being one face where they are the halves of a flat quad.

    The edge between them is left out. See `find_quad_halves`.
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
    """(r,) hinges whose triangles are halves of quads; the squarest first, none in two.

    Parameters
    ----------
    slant : the most that a quad's diagonals differ by, as `QUAD_SLANT`.
    fold : the largest angle between the normals of two halves [rad].
    """
    if not len(hinges.p):
        return np.empty(0, dtype=np.int64)
    normals = face_normals(shape.mesh.positions, shape.corners, len(shape.areas))
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), NONZERO)
    first, second = normals[hinges.faces[:, 0]], normals[hinges.faces[:, 1]]
    flat = np.linalg.norm(first - second, axis=1) < fold
    slants = _slants(shape.mesh.positions, hinges)
    candidates = np.flatnonzero((hinges.sizes == 3).all(axis=1) & flat & (slants < slant))
    # Rounded, so that on a grid the order of the mesh decides and not the last digit.
    candidates = candidates[np.argsort(np.round(slants[candidates], 6), kind="stable")]
    return candidates[match_greedily(hinges.faces[candidates], len(shape.areas))]


def _slants(positions: Floats, hinges: Hinges) -> Floats:
    """(h,) how far triangles are from a rectangle, whose diagonals are alike: see `QUAD_SLANT`."""
    p, q = positions[hinges.p], positions[hinges.q]
    a, b = positions[hinges.beyond_p[:, 0]], positions[hinges.beyond_q[:, 1]]
    length = np.linalg.norm(p - q, axis=1)
    longer = np.abs(np.linalg.norm(a - b, axis=1) - length)
    middle_distances = np.linalg.norm(p + q - a - b, axis=1)
    return np.asarray(np.maximum(longer, middle_distances) / np.maximum(length, NONZERO))
