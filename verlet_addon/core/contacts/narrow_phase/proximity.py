"""Nearest points of a point and a triangle, and of two segments (edges)."""

from collections.abc import Callable

import numpy as np

from ...arrays import NONZERO, SHORTEST, Booleans, Floats, Integers, cross, dot

FLAT = 1e-20
"""Rounding: triangles are degenerate if |ab × ac|² is a smaller share of |ab|² |ac|²."""
PARALLEL = 1e-12
"""Rounding: edges are parallel if the squared sine between them is smaller."""

Vector = tuple[Floats, Floats, Floats]
Proximity = tuple[Floats, Floats, Floats]
"""(4, k) weights, (3, k) unit vectors from the second feature to the first, (k,) distances [m]."""


def nearest_on_triangle(x: Floats) -> Proximity:
    """Nearest points of points and triangles, of x (3, 4, k): the point, then the corners [m].

    If the projection to the plane is outside of the triangle, the nearest point is on an edge, and
    all three are compared (Ericson, Real-Time Collision Detection, 2005, 5.1.5, but without Voronoi
    regions).
    """
    p, a, b, c = (x[:, corner] for corner in range(4))
    ab, ac, bc, ap, bp = b - a, c - a, c - b, p - a, p - b
    zero = np.zeros(p.shape[1])
    normal = cross(ab, ac)
    square = dot(normal, normal)
    v, w = dot(cross(ap, ac), normal), dot(cross(ab, ap), normal)
    inside = (v > 0.0) & (w > 0.0) & (v + w < square)
    inside &= square > FLAT * (dot(ab, ab) * dot(ac, ac))
    solid = np.where(inside, square, 1.0)
    v, w = v / solid, w / solid
    along_ab, along_ac, along_bc = _share(ap, ab), _share(ap, ac), _share(bp, bc)
    vectors = [ap - along_ab * ab, ap - along_ac * ac, bp - along_bc * bc, ap - v * ab - w * ac]
    weights = [
        (1.0 - along_ab, along_ab, zero),
        (1.0 - along_ac, zero, along_ac),
        (zero, 1.0 - along_bc, along_bc),
        (1.0 - v - w, v, w),
    ]
    chosen, vector = _least(vectors, inside)
    corners = [np.choose(chosen, [each[k] for each in weights]) for k in range(3)]
    normals, apart = _unit(vector, normal)
    return np.stack([zero + 1.0, *(-weight for weight in corners)]), normals, apart


def nearest_on_edges(x: Floats) -> Proximity:
    """Nearest points of two segments, of x (3, 4, k): ends of the first, then of the second [m].

    Either both points are inner ones (Ericson, Real-Time Collision Detection, 2005, 5.1.9), or one
    is an end: then the nearest points to all four ends are compared.
    """
    a, b, c, d = (x[:, end] for end in range(4))
    u, v, r = b - a, d - c, a - c
    uu, vv, uv, ur, vr = dot(u, u), dot(v, v), dot(u, v), dot(u, r), dot(v, r)
    determinant = uu * vv - uv * uv
    s, t = uv * vr - vv * ur, uu * vr - uv * ur
    inside = (s > 0.0) & (s < determinant) & (t > 0.0) & (t < determinant)
    inside &= determinant > PARALLEL * (uu * vv)
    solid = np.where(inside, determinant, 1.0)
    s, t = s / solid, t / solid
    bc, ad = b - c, a - d
    ca, da = c - a, d - a
    zero, one = np.zeros(len(s)), np.ones(len(s))
    from_a, from_b, to_c, to_d = _share(r, v), _share(bc, v), _share(ca, u), _share(da, u)
    vectors = [r - from_a * v, bc - from_b * v, r + to_c * u, ad + to_d * u, r + s * u - t * v]
    weights = [(zero, from_a), (one, from_b), (to_c, zero), (to_d, one), (s, t)]
    chosen, vector = _least(vectors, inside)
    s, t = (np.choose(chosen, [pair[k] for pair in weights]) for k in range(2))
    normals, apart = _unit(vector, cross(u, v))
    return np.stack([1.0 - s, s, t - 1.0, -t]), normals, apart


NEAREST: tuple[Callable[[Floats], Proximity], Callable[[Floats], Proximity]] = (
    nearest_on_triangle,
    nearest_on_edges,
)
"""Functions by the kind of a pair: 0 = vertex and triangle, 1 = two edges."""


def _share(from_start: Floats, edge: Floats) -> Floats:
    """(k,) parameters of the nearest points on edges, 0 … 1."""
    share = dot(from_start, edge) / np.maximum(dot(edge, edge), NONZERO)
    return np.asarray(np.clip(share, 0.0, 1.0))


def _least(vectors: list[Floats], inside: Booleans) -> tuple[Integers, Floats]:
    """(k,) index of the last vector where `inside`, else of the shortest other one, and the vector.

    The first of equally short vectors is chosen.
    """
    squares = np.stack([dot(vector, vector) for vector in vectors[:-1]])
    chosen = np.where(inside, len(vectors) - 1, squares.argmin(axis=0))
    return chosen, np.asarray(np.choose(chosen, vectors))


def _unit(vector: Floats, across: Floats) -> tuple[Floats, Floats]:
    """(3, k) directions and (k,) lengths of vectors [m]; with length 0, the direction `across`."""
    apart = np.sqrt(dot(vector, vector))
    touching = apart < SHORTEST
    vector = np.where(touching, across, vector)
    length = np.sqrt(dot(vector, vector))
    lost = length < NONZERO
    upwards = np.array([[0.0], [0.0], [1.0]])
    return np.where(lost, upwards, vector * (1.0 / np.where(lost, 1.0, length))), apart
