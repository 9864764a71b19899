"""Closed surfaces of soft bodies, and the volume inside each."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers, sum_by
from ..geometry.graph import edge_keys
from ..geometry.rest_shape import RestShape


@dataclass(frozen=True, eq=False)
class Volumes:
    """The volumes that closed surfaces keep."""

    labels: Integers
    """(t,) the surface of each of the body's triangles, from 0; s where it is not closed."""
    rest_volumes: Floats
    """(s,) [m³], negative where the faces look inwards."""


def build_volumes(shape: RestShape) -> Volumes:
    """The closed surfaces of a body of type SOFT."""
    triangles, components = shape.triangles, shape.components
    closed = np.isin(np.arange(components.max() + 1), components[triangles[0]])
    closed[components[_open_corners(shape)]] = False
    closed &= shape.settings.body_type == "SOFT"
    count = np.count_nonzero(closed)
    labels = np.where(closed, np.cumsum(closed) - 1, count)[components[triangles[0]]]
    a, b, c = shape.mesh.positions[triangles]
    products = (a * np.cross(b, c)).sum(axis=1)
    return Volumes(labels, sum_by(labels, products, count + 1)[:count] / 6.0)


def _open_corners(shape: RestShape) -> Integers:
    """Particles at edges that do not lie between exactly two faces."""
    corners = shape.corners
    keys = edge_keys(corners.vertex, corners.following, shape.particle_count)
    _, place, count = np.unique(keys, return_inverse=True, return_counts=True)
    open_ends = corners.vertex[count[place.reshape(-1)] != 2]
    return np.concatenate([open_ends, shape.mesh.edges[shape.loose].ravel()])
