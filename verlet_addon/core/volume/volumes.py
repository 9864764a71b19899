"""The volume inside closed soft bodies."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers, sum_by
from ..geometry.graph import edge_keys, find_components
from ..geometry.scene import Scene


@dataclass(frozen=True, eq=False)
class Volumes:
    """Closed surfaces cut into triangles; each connected one keeps its volume."""

    triangles: Integers
    """(3, t) particles, counter-clockwise seen from outside."""
    labels: Integers
    """(t,) the surface of each triangle, counted from 0."""
    rest_volumes: Floats
    """(s,) [m³], negative where the faces look inwards."""


def build_volumes(scene: Scene) -> Volumes:
    """The closed surfaces of bodies of type SOFT, each face fanned out from its first corner."""
    triangles = _fan(scene)
    components = find_components(scene.particle_count, scene.mesh.edges)
    soft = scene.per_particle(lambda body: float(body.body_type == "SOFT")) > 0.0
    closed = np.zeros(components.max(initial=-1) + 1, dtype=bool)
    closed[components[soft]] = True
    closed[components[_open_corners(scene)]] = False
    triangles = triangles[:, closed[components[triangles[0]]]]
    _, labels = np.unique(components[triangles[0]], return_inverse=True)
    labels = labels.reshape(-1)
    a, b, c = scene.mesh.positions[triangles]
    return Volumes(
        triangles=triangles,
        labels=labels,
        rest_volumes=sum_by(
            labels, (a * np.cross(b, c)).sum(axis=1), int(labels.max(initial=-1)) + 1
        )
        / 6.0,
    )


def _fan(scene: Scene) -> Integers:
    """(3, t) every face as triangles around its first corner."""
    corners = scene.corners
    first = scene.mesh.face_vertices[scene.mesh.face_starts[:-1]][corners.face]
    apart = (corners.vertex != first) & (corners.following != first)
    return np.asarray(np.stack([first, corners.vertex, corners.following])[:, apart])


def _open_corners(scene: Scene) -> Integers:
    """Particles at edges that do not lie between exactly two faces."""
    corners = scene.corners
    keys = edge_keys(corners.vertex, corners.following, scene.particle_count)
    _, place, count = np.unique(keys, return_inverse=True, return_counts=True)
    return np.concatenate(
        [
            corners.vertex[count[place.reshape(-1)] != 2],
            scene.mesh.edges[scene.loose].ravel(),
        ]
    )
