"""The surface of water: what of a mesh the wave equation needs."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers, sum_by
from ..errors import MeshError
from ..geometry.faces import SLIVER
from ..geometry.graph import edge_keys
from ..geometry.rest_shape import RestShape, vertex_normals
from ..mesh import MeshData

DEFAULT_NORMAL = (0.0, 0.0, 1.0)
"""Heights are measured along this where a vertex has no face."""


@dataclass(frozen=True, eq=False)
class Water:
    """A level surface of n vertices, and how heights on it pull at each other."""

    level: Floats
    """(3, n) at rest, where the mesh was at the first frame [m]."""
    origin: Floats
    """(3, n) the mesh at the first frame, which is animated with the water's object [m]."""
    normals: Floats
    """(3, n) unit vectors; heights are measured along them."""
    pairs: Integers
    """(2, e) neighbours."""
    weights: Floats
    """(e,) how strongly heights of neighbours are levelled: (cot α + cot β)/2."""
    areas: Floats
    """(n,) around each vertex; 0 = it carries no waves [m²]."""
    max_frequency: float
    """No wave of speed 1 m/s that the mesh can show has a higher angular frequency [rad/s]."""


def build_water(mesh: MeshData, shape: RestShape) -> Water:
    """The surface that a body of type WATER has at rest.

    Linear finite elements with lumped masses, whose waves are as fast on any triangulation (U.
    Pinkall and K. Polthier, *Computing Discrete Minimal Surfaces and Their Conjugates*, 1993).
    Quads count as the mean of both ways to cut them.

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
        raise MeshError(f"'{mesh.name}' has no faces that waves could run on; give it some")
    triangles, shares, areas = triangles[:, sound], shares[sound], areas[sound]
    around = sum_by(triangles.ravel(), np.tile(shares * areas / 3.0, 3), n)
    # Opposite to side k, cot = (|i|² + |j|² − |k|²)/4A.
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
    """(3, t) triangles, and the share with which each counts."""
    corners, fans = shape.corners, shape.triangles
    quads = np.flatnonzero(corners.size == 4)
    ears = np.stack([corners.preceding[quads], corners.vertex[quads], corners.following[quads]])
    in_quad = np.repeat(np.bincount(corners.face), np.bincount(corners.face) - 2) == 4
    others = fans[:, ~in_quad]
    shares = np.append(np.full(ears.shape[1], 0.5), np.ones(others.shape[1]))
    return np.concatenate([ears, others], axis=1), shares


def _sides(triangles: Integers, values: Floats, n: int) -> tuple[Integers, Floats]:
    """(2, e) sides of triangles, side k being opposite to corner k, and their values summed up."""
    first, second = (np.roll(triangles, -k, axis=0).ravel() for k in (1, 2))
    keys, place = np.unique(edge_keys((first, second), n), return_inverse=True)
    return np.stack(np.divmod(keys, n)), sum_by(place.reshape(-1), values.ravel(), len(keys))


def _max_frequency(pairs: Integers, weights: Floats, areas: Floats) -> float:
    """Gershgorin's bound of the square root of the largest eigenvalue of M⁻¹ K [rad/m]."""
    n = len(areas)
    sizes = sum_by(pairs.ravel(), np.tile(np.abs(weights), 2), n)
    wet = areas > 0.0
    return float(np.sqrt(2.0 * (sizes[wet] / areas[wet]).max()))
