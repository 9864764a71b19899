"""Bodies for scenes of contact: each function leaves one new object, active and selected.

All are about 2 m wide and lie around the origin; `count` is about the number of their vertices.
"""

from collections.abc import Callable
from typing import Any

import bpy as blender
import numpy as np

from tests.benchmarks import meshes
from tests.benchmarks.zoo_garments import make_shirt, make_skirt
from tests.blender.scenes import mesh_object

bpy: Any = blender

Random = np.random.Generator
CLOTHS = ("", "SILK", "COTTON", "DENIM", "WOOL", "LEATHER", "RUBBER_SHEET", "PAPER")
ROPES = ("", "HEMP", "NYLON", "BUNGEE", "STEEL_CHAIN")
SOLIDS = ("", "GELATIN", "RUBBER_BALL")


def quads(count: int, _random: Random) -> None:
    """A sheet of quads."""
    side = round(count**0.5) - 1
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=side, y_subdivisions=side, size=2)


def triangles(count: int, random: Random) -> None:
    """A sheet of triangles."""
    quads(count, random)
    meshes.apply("TRIANGULATE")


def strewn(count: int, random: Random) -> None:
    """A sheet of triangles, its inner vertices strewn in their plane."""
    triangles(count, random)
    points = meshes.coordinates()
    inner = (np.abs(points[:, :2]) < 1 - 1e-6).all(axis=1)
    points[inner, :2] += random.uniform(-0.6, 0.6, (int(inner.sum()), 2)) / count**0.5
    meshes.move(points)


def ring(count: int, _random: Random) -> None:
    """A hollow torus of quads."""
    small = max(6, round((count / 4) ** 0.5))
    bpy.ops.mesh.primitive_torus_add(
        major_segments=4 * small, minor_segments=small, major_radius=0.7, minor_radius=0.2
    )


def tube(count: int, _random: Random) -> None:
    """A sleeve that lies along X, open at both ends."""
    around = round((count / 2) ** 0.5)
    along = 2 * around
    turn, place = np.meshgrid(np.arange(around) * 2 * np.pi / around, np.linspace(-1, 1, along))
    points = np.stack([place, 0.3 * np.cos(turn), 0.3 * np.sin(turn)], axis=-1).reshape(-1, 3)
    at = np.arange(along * around).reshape(along, around)
    after = np.roll(at, -1, axis=1)
    faces = np.stack([at[:-1], after[:-1], after[1:], at[1:]], axis=-1).reshape(-1, 4)
    mesh_object("Tube", points.tolist(), [], faces.tolist())


def skirt(count: int, _random: Random) -> None:
    """A cone of quads from waist to hem, about a figure that stands at the origin."""
    side = max(6, round((count / 2) ** 0.5))
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=2 * side, y_subdivisions=side, size=2)
    grid = meshes.coordinates()
    turn, down = np.pi * grid[:, 0], (1 - grid[:, 1]) / 2
    radius = 0.2 + 0.35 * down
    meshes.move(np.stack([radius * np.cos(turn), radius * np.sin(turn), 1.1 - 0.6 * down], axis=1))
    meshes.edit(lambda: bpy.ops.mesh.remove_doubles(threshold=1e-4))


def dress(count: int, _random: Random) -> None:
    """Skirt and sleeves, about a figure that stands at the origin."""
    meshes.dress()
    points = meshes.coordinates()
    points[:, 2] += 1.3
    meshes.move(points)
    if count < len(points):
        meshes.apply("DECIMATE", ratio=count / len(points))


def rope(count: int, random: Random) -> None:
    """A row of edges along X that winds a little."""
    x = np.linspace(-1, 1, count)
    y = 0.1 * np.sin(3 * x + random.uniform(0, 6))
    points = np.stack([x, y, 0 * x], axis=1)
    mesh_object("Rope", points.tolist(), [(k, k + 1) for k in range(count - 1)], [])


def jelly(count: int, _random: Random) -> None:
    """A ball."""
    finer = 3 if count < 400 else 4
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=finer, radius=0.4)


def brick(count: int, _random: Random) -> None:
    """A cube."""
    bpy.ops.mesh.primitive_cube_add(size=0.6)
    meshes.edit(lambda: bpy.ops.mesh.subdivide(number_cuts=3 if count < 400 else 7))


BODIES: dict[str, tuple[Callable[[int, Random], None], str, tuple[str, ...]]] = {
    "quads": (quads, "CLOTH", CLOTHS),
    "triangles": (triangles, "CLOTH", CLOTHS),
    "strewn": (strewn, "CLOTH", CLOTHS),
    "ring": (ring, "CLOTH", CLOTHS),
    "tube": (tube, "CLOTH", CLOTHS),
    "skirt": (skirt, "CLOTH", CLOTHS),
    "dress": (dress, "CLOTH", CLOTHS),
    "rope": (rope, "ROPE", ROPES),
    "jelly": (jelly, "SOFT", SOLIDS),
    "brick": (brick, "SOFT", SOLIDS),
    "balloon": (jelly, "CLOTH", ("BALLOON",)),
    "short skirt": (make_skirt, "CLOTH", CLOTHS),
    "shirt": (make_shirt, "CLOTH", CLOTHS),
}
"""Of each kind how it is made, its body type, and its materials; "" is none."""
WORN = ("skirt", "dress")
"""Kinds that a figure wears, where there is one."""
FITTED = ("short skirt", "shirt")
"""Kinds that a person wears, in the order in which they are put on."""


def make_body(kind: str, count: int, random: Random) -> Any:
    """A new object of a kind."""
    bpy.ops.object.select_all(action="DESELECT")  # Edit Mode takes all that is selected
    BODIES[kind][0](count, random)
    obj = bpy.context.object
    obj.name = kind
    return obj
