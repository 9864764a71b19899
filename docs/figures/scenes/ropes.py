"""Scenes of ropes and curves; docstrings are captions."""

from typing import Any

import bpy
import numpy as np

from docs.figures.scenes.parts import keyed_shape, start
from sample_blends.stage import (
    Points,
    add_mesh,
    camera,
    link,
    make_body,
    plain,
    show_edges,
)

HEMP = (0.50, 0.30, 0.10)


def from_a_point() -> None:
    """A rope, straight at rest, that is held at its left end."""
    start()
    share = np.linspace(0.0, 1.0, 31)
    obj = rope(np.stack((0.7 * share, 0 * share, 0 * share + 0.85), axis=1), pinned=(0, 1))
    obj.verlet.bend_compliance, obj.verlet.damping = 3e4, 4.0
    camera((0.5, -2.4, 0.8), (0.3, 0.0, 0.5), lens=50)


def bent_by_key() -> None:
    """A stiff rope that a shape key bends upwards; it is held at its left end."""
    from_a_point()
    obj: Any = bpy.data.objects["Body"]
    obj.verlet.bend_compliance = 0.05
    keyed_shape(obj, lambda place: (-0.35 * place.x**2, 0, 0.9 * place.x**2), frames=(1, 20))
    camera((0.5, -2.6, 0.9), (0.3, 0.0, 0.85), lens=45)


def coil() -> None:
    """A coiled rope that hangs from its upper end."""
    start()
    share = np.linspace(0.0, 1.0, 121)
    angle = 2 * np.pi * 8 * share
    around = 0.12 * np.minimum(1.0, 12 * share)
    places = (around * np.cos(angle), around * np.sin(angle), 1.15 - 0.35 * share)
    obj = rope(np.stack(places, axis=1), pinned=(0, 1), radius=0.008)
    obj.verlet.bend_compliance, obj.verlet.mass, obj.verlet.damping = 40.0, 0.08, 3.0
    camera((0.3, -2.4, 0.8), (0.0, 0.0, 0.65), lens=48)


def curve() -> None:
    """A curve object that begins level."""
    start()
    data: Any = bpy.data.curves.new("Body", "CURVE")
    data.dimensions, data.bevel_depth = "3D", 0.018
    spline = data.splines.new("POLY")
    spline.points.add(24)
    for number, point in enumerate(spline.points):
        point.co = (0.04 * number - 0.5, 0.0, 0.7, 1.0)
    data.materials.append(plain("Rope", HEMP, roughness=0.9))
    obj = link(bpy.data.objects.new("Body", data))
    make_body(obj, "ROPE", pinned=np.zeros(0, np.int64))
    camera((0.4, -2.4, 0.8), (0.0, 0.0, 0.4), lens=62)


def rope(
    places: Points, *, pinned: Any, radius: float = 0.012, name: str = "Body", **settings: Any
) -> Any:
    """A rope through places (n, 3), drawn as a tube."""
    count = len(places)
    edges = np.stack((np.arange(count - 1), np.arange(1, count)), axis=1)
    obj = add_mesh(name, places, edges=edges)
    make_body(obj, "ROPE", pinned=np.asarray(pinned, np.int64), **settings)
    show_edges(obj, radius=radius, material=plain("Rope", HEMP, roughness=0.9))
    return obj
