"""Scenes of jelly, gas and water; docstrings are captions."""

from typing import Any

import bpy
import numpy as np

from docs.figures.scenes.parts import (
    ball,
    body,
    checked_at_rest,
    closed_ball,
    cloth,
    gradient,
    start,
)
from sample_blends.jellies import remesh, round_cube
from sample_blends.stage import animate, camera, make_body, plain

GREEN, PALE_GREEN = (0.03, 0.30, 0.10), (0.35, 0.55, 0.25)


def cube(*, height: float = 0.01, size: float = 0.4) -> None:
    """A cube of jelly on the ground."""
    start()
    bpy.ops.mesh.primitive_cube_add(size=size, location=(0.0, 0.0, size / 2 + height))
    obj: Any = bpy.context.object
    obj.name = "Body"
    round_cube(obj, bevel=0.04, voxel=0.025)
    checked_at_rest(obj, GREEN, PALE_GREEN)
    make_body(obj, "SOFT", pinned=np.zeros(0, np.int64), mass=3.0)
    gradient(obj)
    camera((0.8, -1.8, 0.75), (0.0, 0.0, 0.17), lens=58)


def dropped() -> None:
    """A cube of jelly that falls on the ground."""
    cube(height=0.15)
    body().verlet.damping = 0.0


def comb() -> None:
    """A comb of jelly, 45 cm long; its teeth, 5 cm thick, bend if cells are not much larger."""
    start()
    teeth = [((0.2, 0.0, height), (0.4, 0.12, 0.05)) for height in (0.16, 0.3, 0.44)]
    for place, size in (((0.0, 0.0, 0.3), (0.1, 0.12, 0.4)), *teeth):
        bpy.ops.mesh.primitive_cube_add(size=1.0, location=place, scale=size)
    for each in bpy.data.objects:
        each.select_set(each.name.startswith("Cube"))
    bpy.ops.object.join()
    obj: Any = bpy.context.object
    obj.name = "Body"
    remesh(obj, 0.012)
    checked_at_rest(obj, GREEN, PALE_GREEN, scale=(20.0, 20.0, 20.0))
    places = np.array([vertex.co[:] for vertex in obj.data.vertices])
    left = np.flatnonzero(places[:, 0] < places[:, 0].min() + 0.03)
    make_body(obj, "SOFT", pinned=left, mass=5.0, stiffness=40000.0)
    camera((0.6, -1.8, 0.6), (0.13, 0.0, 0.27), lens=72)


def cushion() -> None:
    """A cushion: two round pieces of cloth, joined at their rims, that lie on the ground."""
    start()
    obj = closed_ball((0.0, 0.0, 0.08), (0.5, 0.5, 0.03))
    make_body(obj, "CLOTH", pinned=np.zeros(0, np.int64), mass=0.2)
    obj.verlet.use_self_collision = True
    gradient(obj)
    camera((0.5, -2.0, 0.9), (0.0, 0.0, 0.12), lens=55)


def pond() -> None:
    """A pond into which a ball has fallen."""
    start()
    n = 64
    obj = cloth(n, n, lambda u, v: (2.0 * (u - 0.5), 2.0 * (v - 0.5), 0 * u + 0.2))
    obj.data.materials[0] = plain("Water", (0.02, 0.14, 0.24), roughness=0.08)
    obj.verlet.body_type, obj.verlet.damping = "WATER", 0.3
    stone = ball((0.0, 0.0, 0.5), 0.14)
    places = {1: (0.0, 0.0, 0.5), 6: (0.0, 0.0, 0.2), 10: (0.0, 0.0, 0.0)}
    animate(stone, "location", places)
    camera((0.5, -2.3, 1.4), (0.0, 0.0, 0.15), lens=45)
