"""The wave equation on a mesh, by linear finite elements."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers, sum_by
from ..errors import MeshError
from ..geometry.faces import SLIVER
from ..geometry.graph import edge_keys
from ..geometry.rest_shape import RestShape, vertex_normals
from ..kernel import Sized, Struct, kernel
from ..mesh import MeshData

DEFAULT_NORMAL = (0.0, 0.0, 1.0)
"""Normal of vertices without a face."""


@dataclass(frozen=True, eq=False)
class Water:
    """The level surface, n vertices, and the cotangent Laplacian on it."""

    level: Floats
    """(3, n) the mesh at rest, where its object is at the first frame [m]."""
    origin: Floats
    """(3, n) the mesh at the first frame, which may differ from the level by waves [m]."""
    normals: Floats
    """(3, n) unit vectors along which heights are measured."""
    pairs: Integers
    """(2, e) pairs of neighbouring vertices."""
    weights: Floats
    """(e,) cotangent weights (cot α + cot β)/2, with α and β the angles opposite to the pair."""
    areas: Floats
    """(n,) vertex areas; vertices with 0 have no face, and no waves [m²]."""
    max_frequency: float
    """Upper bound of the angular frequencies on this mesh at a wave speed of 1 m/s [rad/s]."""


def build_water(mesh: MeshData, shape: RestShape) -> Water:
    """The coefficients of the wave equation for a body of type WATER.

    Linear finite elements with lumped masses, so that the wave speed does not depend on the
    triangulation (U. Pinkall and K. Polthier, *Computing Discrete Minimal Surfaces and Their
    Conjugates*, 1993). A quad counts as the mean of its two triangulations.

    Raises
    ------
    MeshError
        If no face has an area.
    """
    n = shape.particle_count
    positions = mesh.at_rest
    triangles, shares = _triangles(shape)
    spans = [positions[triangles[k - 1]] - positions[triangles[k - 2]] for k in range(3)]
    squares = np.stack([(span * span).sum(axis=1) for span in spans])
    areas = np.linalg.norm(np.cross(spans[0], spans[1]), axis=1) / 2.0
    sound = areas > SLIVER * squares.max(axis=0, initial=0.0)
    if not sound.any():
        raise MeshError(f"'{mesh.name}' has no faces, so it has no waves; add some")
    triangles, shares, areas = triangles[:, sound], shares[sound], areas[sound]
    around = sum_by(triangles.ravel(), np.tile(shares * areas / 3.0, 3), n)
    # The cotangent of the angle opposite to side k is (|i|² + |j|² − |k|²)/4A.
    squares = squares[:, sound]
    cotangents = (squares.sum(axis=0) - 2.0 * squares) * (shares / (8.0 * areas))
    pairs, weights = _sides(triangles, cotangents, n)
    normals = vertex_normals(shape)
    normals[~normals.any(axis=1)] = DEFAULT_NORMAL
    return Water(
        level=np.ascontiguousarray(positions.T),
        origin=np.ascontiguousarray(mesh.positions.T),
        normals=np.ascontiguousarray(normals.T),
        pairs=pairs,
        weights=weights,
        areas=around,
        max_frequency=_max_frequency(pairs, weights, around),
    )


def _triangles(shape: RestShape) -> tuple[Integers, Floats]:
    """(3, t) triangles, and (t,) weights: ½ for the triangles of both triangulations of a quad."""
    corners, fans = shape.corners, shape.triangles
    quads = np.flatnonzero(corners.size == 4)
    ears = np.stack([corners.preceding[quads], corners.vertex[quads], corners.following[quads]])
    in_quad = np.repeat(np.bincount(corners.face), np.bincount(corners.face) - 2) == 4
    others = fans[:, ~in_quad]
    shares = np.append(np.full(ears.shape[1], 0.5), np.ones(others.shape[1]))
    return np.concatenate([ears, others], axis=1), shares


def _sides(triangles: Integers, values: Floats, n: int) -> tuple[Integers, Floats]:
    """(2, e) sides of triangles, (e,) sums of `values` (3, t); side k is opposite to corner k."""
    first, second = (np.roll(triangles, -k, axis=0).ravel() for k in (1, 2))
    keys, place = np.unique(edge_keys((first, second), n), return_inverse=True)
    return np.stack(np.divmod(keys, n)), sum_by(place.reshape(-1), values.ravel(), len(keys))


def _max_frequency(pairs: Integers, weights: Floats, areas: Floats) -> float:
    """Square root of Gershgorin's bound for the largest eigenvalue of M⁻¹ K [rad/m]."""
    n = len(areas)
    sizes = sum_by(pairs.ravel(), np.tile(np.abs(weights), 2), n)
    wet = areas > 0.0
    return float(np.sqrt(2.0 * (sizes[wet] / areas[wet]).max()))


Struct("water", Water, reads="pairs weights", pair_count=(int, lambda water: len(water.weights)))


@kernel(result=lambda _, heights: np.empty_like(heights))
def wave_laplacian(water: Water, heights: Sized) -> Floats:
    """(n,) −∫ Δη over the area of each vertex, for heights η (n,) [m]."""
    first, second = water.pairs
    flow = water.weights * (heights[first] - heights[second])
    n = len(heights)
    return sum_by(first, flow, n) - sum_by(second, flow, n)
