"""Scenes of cloth: each builds a body named Body; its docstring is the caption of pictures."""

from math import radians
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Vector

from docs.figures.scenes.parts import (
    ball,
    board,
    body,
    box,
    cloth,
    collected,
    gradient,
    start,
)
from sample_blends.stage import animate, camera


def hanging(*, squeezed: float = 1.0) -> None:
    """A cloth that hangs from its upper corners."""
    start()
    n = 24
    top = n * (n + 1)
    corners = (top, top + n)
    obj = cloth(n, n, lambda u, v: (squeezed * (u - 0.5), 0 * u, 0.35 + v), pinned=corners)
    obj.vertex_groups["Pin"].name = "Upper corners"
    obj.vertex_groups.new(name="Upper edge").add(range(top, top + n + 1), 1.0, "REPLACE")
    obj.verlet.pin_group = "Upper corners"
    gradient(obj)
    camera((0.7, -2.6, 1.0), (0.0, 0.0, 0.7), lens=52)


def by_one_corner(*, wave: float = 0.0) -> None:
    """A square cloth that hangs from one of its corners, without Keep Pin Distance."""
    start()
    n = 20
    half = 0.8 / 2**0.5
    obj = cloth(
        n,
        n,
        lambda u, v: (half * (u - v), wave * np.sin(5 * u), 1.3 - half * (2.0 - u - v)),
        pinned=((n + 1) ** 2 - 1,),
        damping=4.0,
        use_tethers=False,
    )
    gradient(obj)
    camera((0.5, -2.8, 0.9), (0.0, 0.0, 0.75), lens=52)


def ledge() -> None:
    """A strip of cloth, held at its left end."""
    start()
    rows, columns = 8, 24
    pinned = (np.arange(rows + 1)[:, None] * (columns + 1) + np.array((0, 1))).ravel()
    obj = cloth(
        columns,
        rows,
        lambda u, v: (0.6 * u, 0.25 * v, 0 * u + 0.5),
        pinned=pinned,
        mass=0.03,
    )
    gradient(obj)
    box((-0.04, 0.125, 0.245), (0.12, 0.27, 0.49))
    camera((0.7, -1.7, 0.75), (0.2, 0.0, 0.3), lens=55)


def sprung() -> None:
    """A strip of cloth that its weight has bent; now it has none."""
    ledge()
    obj = body()
    obj.verlet.bend_compliance, obj.verlet.inner_damping = 100.0, 1.0
    animate(obj.verlet, "gravity", {1: 1.0, 20: 1.0, 24: 0.0})


def stretched() -> None:
    """A cloth that its weight has stretched; now it has none."""
    hanging()
    obj = body()
    obj.verlet.pin_group, obj.verlet.damping = "Upper edge", 4.0
    obj.verlet.stretch_compliance = 0.03
    animate(obj.verlet, "gravity", {1: 1.0, 20: 1.0, 24: 0.0})


def on_ball(
    *, cells: int = 28, radius: float = 0.3, height: float = 0.85, collides: bool = True
) -> None:
    """A sheet that was let fall on a ball."""
    start()
    obj = cloth(cells, cells, lambda u, v: (u - 0.5, v - 0.5, 0 * u + height))
    gradient(obj)
    below = ball((0.0, 0.0, 0.45), radius)
    if not collides:
        below.modifiers.clear()
    camera((0.5, -2.4, 1.1), (0.0, 0.0, 0.36), lens=60)


def on_box() -> None:
    """A sheet that was let fall on a box, from the side."""
    start()
    obj = cloth(20, 20, lambda u, v: (0.5 * (u - 0.5), 0.5 * (v - 0.5), 0 * u + 0.4))
    obj.verlet.bend_compliance = 1.0
    gradient(obj)
    box((0.0, 0.0, 0.15), (0.6, 0.6, 0.3))
    camera((0.25, -1.7, 0.45), (0.0, 0.0, 0.32), lens=72)


def on_two_balls() -> None:
    """A sheet that falls on two balls, the left one of which is in a collection."""
    start()
    obj = cloth(30, 16, lambda u, v: (1.3 * (u - 0.5), 0.7 * (v - 0.5), 0 * u + 0.65))
    halves = obj.vertex_groups.new(name="Right half")
    places = np.array([vertex.co[:] for vertex in obj.data.vertices])
    halves.add(np.flatnonzero(places[:, 0] > 0.05).tolist(), 1.0, "REPLACE")
    collected(ball((-0.33, 0.0, 0.35), 0.2), "Left ball")
    ball((0.33, 0.0, 0.35), 0.2)
    camera((0.4, -2.6, 1.1), (0.0, 0.0, 0.3), lens=52)


def tilted() -> None:
    """A napkin on a slope of 20°."""
    start()
    cloth(12, 12, lambda u, v: (0.4 * u - 0.6, 0.4 * v - 0.2, 0.62 - 0.364 * (0.4 * u)))
    box((0.0, 0.0, 0.35), (1.6, 0.8, 0.05), turned=(0.0, radians(20), 0.0), name="Slope")
    camera((0.6, -2.4, 1.2), (0.0, 0.0, 0.3), lens=50)


def pendulum() -> None:
    """A cloth that swings from its upper edge."""
    start()
    n = 16
    top = np.arange(n + 1) + n * (n + 1)
    obj = cloth(n, n, lambda u, v: (0.8 - 0.8 * v, 0.8 * u - 0.4, 0 * u + 1.2), pinned=top)
    gradient(obj)
    camera((0.8, -3.0, 2.0), (0.1, 0.0, 1.1), lens=42)


def carried() -> None:
    """A cloth whose upper edge starts to move to the left."""
    pendulum()
    obj = body()
    obj.data.transform(_lowered())
    animate(obj, "location", {1: (0.6, 0.0, 0.0), 25: (-0.6, 0.0, 0.0)})
    camera((0.3, -3.6, 1.0), (0.0, 0.0, 0.8), lens=62)


def curtain() -> None:
    """A curtain that hangs from its upper edge."""
    start()
    columns, rows = 48, 20
    top = rows * (columns + 1)
    cloth(
        columns,
        rows,
        lambda u, v: (0.9 * (u - 0.5), 0.03 * np.sin(12 * np.pi * u), 0.1 + 0.9 * v),
        pinned=np.arange(top, top + columns + 1),
        use_self_collision=True,
    )
    camera((0.7, -2.5, 0.9), (0.0, 0.0, 0.52), lens=52)


def ribbon() -> None:
    """A ribbon that was let fall on its lower end."""
    start()
    rows, columns = 48, 6
    obj = cloth(
        columns,
        rows,
        lambda u, v: (0.12 * (u - 0.5), 0.01 * np.sin(40 * v), 0.02 + 0.8 * v),
        thickness=0.006,
        bend_compliance=2000.0,
        squares=12.0,
    )
    obj.vertex_groups.new(name="Upper half").add(range(24 * 7, 49 * 7), 1.0, "REPLACE")
    camera((0.35, -0.9, 0.35), (0.0, 0.0, 0.07), lens=105)


def two_shapes() -> None:
    """A cloth that hangs from its upper edge, with a shape key Small."""
    hanging()
    obj = body()
    obj.verlet.pin_group, obj.verlet.damping = "Upper edge", 4.0
    obj.shape_key_add(name="Basis")
    small = obj.shape_key_add(name="Small")
    small.value = 0.0
    for point in small.data:
        point.co = (point.co.x, 0.0, 1.35 + 0.6 * (point.co.z - 1.35))


def on_plane() -> None:
    """A napkin on a tilted plane that is the ground, 0.6 s after it was laid there."""
    start()
    board((0.0, 0.0, 0.35), (1.6, 0.8), turned=(0.0, radians(20), 0.0), name="Plane")
    cloth(12, 12, lambda u, v: (0.4 * u - 0.6, 0.4 * v - 0.2, 0.58 - 0.364 * (0.4 * u)))
    camera((0.6, -2.4, 1.2), (0.0, 0.0, 0.3), lens=50)


def falling() -> None:
    """A napkin that falls flat on the ground."""
    start()
    n = 8
    obj = cloth(n, n, lambda u, v: (0.4 * (u - 0.5), 0.4 * (v - 0.5), 0 * u + 0.6), damping=0.0)
    obj.verlet.bend_compliance = 1.0
    camera((0.5, -1.8, 0.8), (0.0, 0.0, 0.3), lens=50)


def from_high(*, size: float = 0.4) -> None:
    """A napkin of a size [m] that falls flat from five times that."""
    start()
    cloth(8, 8, lambda u, v: (size * (u - 0.5), size * (v - 0.5), 0 * u + 5 * size), damping=0.0)


def in_gap() -> None:
    """A cloth that was let fall into a gap of 2 cm between two boxes."""
    start()
    cloth(16, 24, lambda u, v: (0 * u, 0.4 * (u - 0.5), 0.1 + 0.6 * v))
    for side in (-1, 1):
        box((0.26 * side, 0.0, 0.2), (0.5, 0.6, 0.4))


def above() -> None:
    """A napkin that has fallen on the ground, here a board; without a ground it falls on."""
    falling()
    bpy.data.objects.remove(bpy.data.objects["Ground"])
    board((0.0, 0.0, 0.0), (0.9, 0.9))
    camera((0.5, -2.2, 0.5), (0.0, 0.0, -0.1), lens=50)


def attached(*, pinned: bool = True) -> None:
    """A cloth whose upper right corner can be attached to a ball that moves up."""
    start()
    n = 16
    held_corner = (n * (n + 1),) if pinned else ()
    obj = cloth(n, n, lambda u, v: (0.8 * (u - 0.5), 0 * u, 0.1 + 0.8 * v), pinned=held_corner)
    for name, vertices in (
        ("Corner", [(n + 1) ** 2 - 1]),
        ("Right edge", [row * (n + 1) + n for row in range(n + 1)]),
    ):
        obj.vertex_groups.new(name=name).add(vertices, 1.0, "REPLACE")
    held: Any = obj.verlet.attachments.add()
    target = ball((0.42, 0.0, 0.9), 0.05)
    target.modifiers.clear()
    held.target, held.vertex_group = target, "Corner"
    animate(target, "location", {1: (0.42, 0.0, 0.9), 20: (0.55, 0.0, 1.15)})
    middle = 0.05 if pinned else 0.4
    camera((middle + 0.45, -2.6, 0.9), (middle, 0.0, 0.65), lens=48)


def _lowered() -> Any:
    """A turn that hangs the cloth of a pendulum down."""
    edge = Vector((0.0, 0.0, 1.2))
    turn = Matrix.Rotation(radians(90), 4, "Y")
    return Matrix.Translation(edge) @ turn @ Matrix.Translation(-edge)
