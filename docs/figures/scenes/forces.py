"""Scenes of force fields, which act on flags and falling cloth; docstrings are captions."""

from math import radians
from typing import Any

import bpy
import numpy as np

from docs.figures.scenes.parts import cloth, collected, gradient, start
from sample_blends.stage import camera, plain, rod


def flag(*, strength: float = 6.0) -> None:
    """A flag in wind from the left."""
    scene = start()
    rod("Pole", length=1.3, radius=0.015, material=plain("Wood", (0.16, 0.08, 0.03)))
    rows, columns = 16, 24
    pinned = np.arange(rows + 1) * (columns + 1)
    obj = cloth(
        columns,
        rows,
        lambda u, v: (0.02 + 0.9 * u, 0.01 * np.sin(8 * u), 0.6 + 0.6 * v),
        pinned=pinned,
        mass=0.1,
    )
    gradient(obj)
    field("WIND", strength, place=(-2.0, -0.4, 0.9), turned=(0.0, 90.0, 12.0))
    scene.verlet.use_ground = False
    camera((0.7, -3.0, 1.0), (0.38, 0.0, 0.75), lens=52)


def wind() -> None:
    """A flag in a Wind field from the left."""
    flag()


def turbulence() -> None:
    """A hanging cloth in a Turbulence field."""
    _hanging()
    field("TURBULENCE", 50.0, place=(0.0, 0.0, 0.8)).field.size = 0.6


def force() -> None:
    """A hanging cloth before a Force field, the blue ball, which pushes it away."""
    _hanging()
    _mark((0.0, -0.35, 0.75))
    field("FORCE", 8.0, place=(0.0, -0.35, 0.75))


def charge() -> None:
    """A hanging cloth before a Charge field, the blue ball, which pushes it away."""
    _hanging()
    _mark((0.0, -0.35, 0.75))
    field("CHARGE", 12.0, place=(0.0, -0.35, 0.75))


def harmonic() -> None:
    """A hanging cloth that a Harmonic field, the blue ball, draws to itself."""
    _hanging()
    _mark((0.0, -0.3, 0.65))
    field("HARMONIC", 30.0, place=(0.0, -0.3, 0.65))


def vortex() -> None:
    """A napkin without weight that a Vortex field at its middle turns."""
    scene = start()
    n = 12
    obj = cloth(n, n, lambda u, v: (0.7 * (u - 0.5), 0.7 * (v - 0.5), 0 * u + 0.3), mass=0.2)
    obj.verlet.gravity, scene.verlet.use_ground = 0.0, False
    obj.verlet.bend_compliance = 10.0
    _mark((0.0, 0.0, 0.34))
    field("VORTEX", 12.0, place=(0.0, 0.0, 0.3))
    camera((0.3, -1.6, 1.5), (0.0, 0.0, 0.28), lens=52)


def drag() -> None:
    """A cloth that swings down through a Drag field."""
    start()
    n = 16
    top = np.arange(n + 1) + n * (n + 1)
    cloth(n, n, lambda u, v: (0.8 - 0.8 * v, 0.8 * u - 0.4, 0 * u + 1.1), pinned=top)
    field("DRAG", 0.0, place=(0.0, 0.0, 0.8)).field.linear_drag = 2.0
    camera((1.3, -2.4, 1.5), (0.1, 0.0, 0.75), lens=50)


def field(kind: Any, strength: float, *, place: Any, turned: Any = (0.0, 0.0, 0.0)) -> Any:
    """A force field, in a collection of that name, beside one that has none."""
    bpy.ops.object.effector_add(
        type=kind, location=place, rotation=tuple(radians(angle) for angle in turned)
    )
    obj: Any = bpy.context.object
    obj.field.strength = strength
    collected(obj, "Fields")
    bpy.data.collections.new("No fields")
    return obj


def _hanging() -> None:
    """A light cloth that hangs from its upper edge, over the ground."""
    start()
    n = 20
    top = np.arange(n + 1) + n * (n + 1)
    cloth(n, n, lambda u, v: (0.9 * (u - 0.5), 0 * u, 0.25 + 0.9 * v), pinned=top, mass=0.15)
    camera((1.6, -2.2, 1.0), (0.0, 0.0, 0.68), lens=52)


def _mark(place: Any) -> None:
    """A blue ball that nothing collides with, where a field is."""
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.045, location=place)
    bpy.ops.object.shade_smooth()
    bpy.context.object.data.materials.append(plain("Ball", (0.02, 0.15, 0.5)))  # type: ignore
