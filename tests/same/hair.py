"""Hair by itself, and on a head that turns."""

from dataclasses import replace
from typing import Any

import numpy as np

from tests.core.bodies import hair, rotation, wind
from tests.core.colliders import ball
from tests.same.bakes import Scene, Scenes, scene
from verlet_addon.core.arrays import Floats, weighted_sums
from verlet_addon.core.materials import MATERIALS
from verlet_addon.core.mesh import MeshData

HEAD = 0.1
"""Radius [m]."""


def groom(count: int, points: int) -> MeshData:
    """Strands of 10 cm that stand on a head and lie down, to one side."""
    turns = np.arange(count) * 2.4
    heights = np.linspace(0.2, 0.9, count)
    across = np.sqrt(1.0 - heights**2)
    ways = np.stack([across * np.cos(turns), across * np.sin(turns), heights], axis=1)
    along = np.linspace(0.0, 0.1, points)[None, :, None]
    places = HEAD * ways[:, None] + along * (ways[:, None] + 5.0 * along * [1.0, 0.5, -1.0])
    return hair(places)


def turned(places: Floats, time: float) -> Floats:
    """(n, 3) places on a head that shakes."""
    return weighted_sums(rotation((0.1, 0.0, 1.0), np.sin(8.0 * time)), places.T).T


def shaken(mesh: MeshData, **settings: Any) -> Scene:
    """Hair of a head that shakes."""
    head, places = ball(radius=HEAD, fine=12, friction=0.5)
    own = replace(MATERIALS["WAVY"].settings, thickness=0.003, **settings)
    return scene(
        (mesh, own),
        targets=lambda time: [turned(mesh.positions, time)],
        colliders=[(head, lambda time: turned(places, time))],
    )


SCENES: Scenes = {
    "in the wind": lambda: scene(
        (groom(12, 8), MATERIALS["STRAIGHT"].settings), fields=[wind(4.0)]
    ),
    "on a head": lambda: shaken(groom(12, 8)),
    "strand by strand": lambda: shaken(groom(16, 8), strand_friction=20.0, strand_pressure=10.0),
}
