"""Points bound to a mesh, which follow it: pins held to a surface, details carried by a cage."""

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Floats, Integers
from .contacts.narrow_phase.proximity import nearest_on_triangle
from .errors import MeshError
from .geometry.surface_binding import SurfaceBinding, bind_to_surface
from .mesh import MeshData
from .scene import LEAST_AREA

AT_ONCE = 1_000_000
"""Size: number of pairs of a point and a triangle that are compared at once, some 300 MB. Half and
twice as many take the same time."""


def bind(points: ArrayLike, mesh: MeshData) -> SurfaceBinding:
    """A binding of points (k, 3) to the nearest faces of a mesh as it is at the first frame [m].

    `carry` of the result gives the points for other positions of the mesh's vertices.

    Raises
    ------
    MeshError
        If the mesh has no face with an area.
    """
    places, triangles = np.array(points, np.float64).reshape(-1, 3), mesh.triangles
    a, b, c = mesh.positions[triangles.T]
    sound = np.linalg.norm(np.cross(b - a, c - a), axis=1) > 2.0 * LEAST_AREA
    if not sound.any():
        raise MeshError(f"'{mesh.name}' has no face to bind points to; give it faces with an area")
    chosen, nearest = _find_nearest(places, mesh.positions, triangles[sound])
    return bind_to_surface(
        places, mesh.positions, triangles, np.flatnonzero(sound)[chosen], nearest
    )


def _find_nearest(
    places: Floats, positions: Floats, triangles: Integers
) -> tuple[Integers, Floats]:
    """(k,) the nearest triangle of each place, and (k, 3) the nearest point on it."""
    chosen, nearest = [np.empty(0, np.int64)], [np.empty((0, 3))]
    corners, count = positions[triangles].transpose(2, 1, 0), len(triangles)
    size = max(AT_ONCE // count, 1)
    for some in np.split(places, range(size, len(places), size)):
        pairs = np.empty((3, 4, len(some), count))
        pairs[:, 0], pairs[:, 1:] = some.T[:, :, None], corners[:, :, None]
        pairs = pairs.reshape(3, 4, -1)
        weights, _, apart = nearest_on_triangle(pairs)
        least = apart.reshape(len(some), count).argmin(axis=1)
        flat = np.arange(len(some)) * count + least
        chosen.append(least)
        nearest.append(np.einsum("ck,xck->kx", -weights[1:, flat], pairs[:, 1:, flat]))
    return np.concatenate(chosen), np.concatenate(nearest)
