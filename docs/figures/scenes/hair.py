"""Scenes of hair; docstrings are captions."""

from typing import Any

import bpy
import numpy as np

from docs.figures.scenes.parts import ball, body, box, start
from sample_blends.hair import add_hair
from sample_blends.stage import Points, camera

BROWN = (0.16, 0.05, 0.015)


def level() -> None:
    """Straight strands of 20 cm that grow level out of a wall."""
    start()
    wall = box((-0.02, 0.0, 0.3), (0.04, 0.3, 0.3), name="Wall")
    y, z = (each.ravel() for each in np.meshgrid(np.linspace(-0.1, 0.1, 7), (0.36, 0.38, 0.4)))
    share = np.linspace(0.0, 1.0, 17)
    places = np.stack(np.broadcast_arrays(0.2 * share, y[:, None], z[:, None]), axis=2)
    obj = hair(places, wall)
    follow = obj.data.attributes.new("Follow", "FLOAT", "POINT")
    follow.data.foreach_set("value", np.repeat(y > 0.0, len(share)).astype(np.float32))
    other = obj.data.attributes.new("Every other", "FLOAT", "POINT")
    other.data.foreach_set("value", np.repeat(np.arange(len(y)) % 2, 17).astype(np.float32))
    camera((0.45, -1.0, 0.55), (0.08, 0.0, 0.3), lens=62)


def mop(*, lowest: float = 0.22) -> None:
    """Strands that grew straight out of a ball, and have fallen."""
    start()
    head = ball((0.0, 0.0, 0.42), 0.12)
    number = np.arange(150)
    z = 0.97 - (0.97 - lowest) * number / 150
    angle, flat = number * 2.399963, np.sqrt(1.0 - z**2)
    ways = np.stack((flat * np.cos(angle), flat * np.sin(angle), z), axis=1)
    share = np.linspace(0.0, 1.0, 17)
    away = 0.121 + 0.28 * share
    hair((0.0, 0.0, 0.42) + away[:, None] * ways[:, None], head)
    camera((0.5, -1.6, 0.7), (0.0, 0.0, 0.36), lens=62)


def limp(*, collides: bool = True) -> None:
    """Limp strands that grew out of the top of a ball, and have fallen."""
    mop(lowest=0.6)
    if not collides:
        bpy.data.objects["Ball"].modifiers.clear()
    body().verlet_droop = 0.27
    camera((0.35, -1.6, 0.6), (0.0, 0.0, 0.36), lens=100)


def hair(places: Points, surface: Any) -> Any:
    """Strands through places (k, n, 3) that grow on a surface, made a body."""
    radii = np.full(places.shape[1], 0.0024)
    obj = add_hair("Body", places, surface, material="STRAIGHT", color=BROWN, radii=radii)
    obj.verlet.use_pose_gravity, obj.verlet.damping = False, 3.0
    return obj
