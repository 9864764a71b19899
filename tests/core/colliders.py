"""Colliders that tests share, and what passes through them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.core.bodies import Body, rotation, sheet, sphere, split
from tests.core.intersections import joined, near, passing
from verlet_addon.core.arrays import Floats, weighted_sums
from verlet_addon.core.scene import Collider

TINY = 1e-9
"""Rounding [m]."""
GAP = 0.01
"""[m]"""
Moving = tuple[Collider, Floats | Callable[[float], Floats]]


def collider(triangles: Any, **settings: Any) -> Collider:
    """A collider without thickness of its own."""
    given: dict[str, Any] = {
        "outer": 0.0,
        "friction": 10.0,
        "restitution": 1.0,
        "single_sided": False,
    }
    return Collider(name="Collider", triangles=np.array(triangles), **(given | settings))


def plate(
    *, size: float = 2.0, tilt: float = 0.0, cells: int = 1, **settings: Any
) -> tuple[Collider, Floats]:
    """A square of triangles through the origin that rises towards +x by `tilt` [rad]."""
    mesh = split(sheet(cells, size=size))
    centred = mesh.positions - [size / 2, size / 2, 0.0]
    places = weighted_sums(rotation((0, 1, 0), -tilt), centred.T).T
    return collider(mesh.face_vertices.reshape(-1, 3), **settings), places


def ball(*, radius: float = 0.3, fine: int = 24, **settings: Any) -> tuple[Collider, Floats]:
    """A sphere about the origin."""
    mesh = split(sphere(fine, fine // 2, radius=radius))
    return collider(mesh.face_vertices.reshape(-1, 3), **settings), mesh.positions


def puck(height: float = GAP, *, tilt: float = 0.0) -> Floats:
    """(3, 3) a triangle at this height over a plane tilted by `tilt`, turned against its edges."""
    flat = np.array([(-0.1, -0.08, height), (0.1, -0.1, height), (0.03, 0.1, height)])
    return weighted_sums(rotation((0, 1, 0), -tilt), flat.T).T


def crossed(bodies: Sequence[Body], tracks: Sequence[Floats], moving: Sequence[Moving]) -> int:
    """How many edges pass through triangles, of bodies and colliders, over every other frame.

    Those of a body with itself count where it is to keep off itself, and those of colliders with
    each other never do.
    """
    surfaces = [(mesh.edges, split(mesh).face_vertices.reshape(-1, 3)) for mesh, _ in bodies]
    surfaces += [(shape.triangles[:, [0, 1]], shape.triangles) for shape, _ in moving]
    own = np.array([settings.use_self_collision for _, settings in bodies])
    kept = np.zeros((len(surfaces), len(surfaces)), dtype=bool)
    kept[: len(bodies)] = kept[:, : len(bodies)] = True
    kept[range(len(own)), range(len(own))] = own
    total = 0
    for frame in range(0, len(tracks[0]), 2):
        places = [track[frame] for track in tracks]
        places += [place(frame / 24) if callable(place) else place for _, place in moving]
        positions, edges, triangles, owners = joined(places, surfaces)
        pairs = near(positions, edges, triangles)
        pairs = pairs[:, kept[owners[edges[0, pairs[0]]], owners[triangles[0, pairs[1]]]]]
        total += passing(positions, edges, triangles, pairs).shape[1]
    return total
