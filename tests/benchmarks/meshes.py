"""Meshes as people have them, made of Blender's own primitives and modifiers.

Each function leaves one new object, active and selected, in the current file.
"""

from collections.abc import Callable
from typing import Any

import bpy as blender
import numpy as np

# The stubs know operators' results as anything, and contexts as perhaps nothing.
bpy: Any = blender

SEED = 7


def quads() -> None:
    """A grid of 5,041 vertices."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=70, y_subdivisions=70, size=2)
    lean()


def triangles() -> None:
    """The same, triangulated."""
    quads()
    apply("TRIANGULATE")


def skirt() -> None:
    """A cone of quads, open above and below."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=100, y_subdivisions=49, size=2)
    grid = coordinates()
    angle, down = np.pi * grid[:, 0], (1 - grid[:, 1]) / 2
    radius = 0.2 + 0.4 * down
    move(np.stack([radius * np.cos(angle), radius * np.sin(angle), -down], axis=1))
    edit(lambda: bpy.ops.mesh.remove_doubles(threshold=1e-4))


def icosphere() -> None:
    """A hollow ball of triangles."""
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=5, radius=1)


def suzanne() -> None:
    """Blender's monkey, each face cut in nine."""
    bpy.ops.mesh.primitive_monkey_add(size=2)
    edit(lambda: bpy.ops.mesh.subdivide(number_cuts=2, smoothness=0))


def decimated() -> None:
    """A sheet of 14,400 quads, strewn, and decimated to a third."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=120, y_subdivisions=120, size=2)
    strew(0.3 * 2 / 120)
    apply("DECIMATE", ratio=1 / 3)
    lean()


def dress() -> None:
    """Skirt and sleeves of a clothed figure: skin around a stick figure, cut open at its ends."""
    sticks = {
        (0, 0, 0.35): 0.06,  # neck
        (0, 0, 0.22): 0.16,  # shoulders
        (0, 0, -0.15): 0.13,  # waist
        (0, 0, -0.9): 0.5,  # hem
        (0, 0, -1.1): 0.5,
        (0.75, 0, 0.2): 0.07,  # wrists
        (-0.75, 0, 0.2): 0.07,
    }
    mesh = bpy.data.meshes.new("Dress")
    mesh.from_pydata(list(sticks), [(0, 1), (1, 2), (2, 3), (3, 4), (1, 5), (1, 6)], [])
    figure = bpy.data.objects.new("Dress", mesh)
    bpy.context.collection.objects.link(figure)
    bpy.context.view_layer.objects.active = figure
    figure.select_set(True)
    skin = figure.modifiers.new("Skin", "SKIN")
    for vertex, radius in zip(mesh.skin_vertices[0].data, sticks.values(), strict=True):
        vertex.radius = (radius, radius)
    mesh.skin_vertices[0].data[0].use_root = True
    bpy.ops.object.modifier_apply(modifier=skin.name)
    apply("SUBSURF", levels=4)
    points = coordinates()
    delete((np.abs(points[:, 0]) > 0.7) | (points[:, 2] > 0.33) | (points[:, 2] < -0.9))
    apply("TRIANGULATE")
    apply("DECIMATE", ratio=0.5)


def scan(vertices: int = 8000) -> None:
    """A bumpy lump of triangles of all sizes, as scanners make them, with a dozen holes."""
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=7 if vertices < 40_000 else 8, radius=1)
    points = coordinates()
    generator = np.random.default_rng(SEED)
    waves = generator.normal(size=(3, 20)) * 4
    bumps = np.sin(points @ waves + generator.uniform(0, 6, 20)).sum(axis=1) / 100
    move(points * (1 + bumps)[:, None])
    strew(0.2 * 2 / len(points) ** 0.5)
    apply("DECIMATE", ratio=vertices / len(points))
    points = coordinates()
    centres = points[generator.choice(len(points), 12, replace=False)]
    away = np.linalg.norm(points[:, None] - centres, axis=2).min(axis=1)
    delete(away < 0.08)


MESHES: dict[str, Callable[[], None]] = {
    "grid of quads": quads,
    "grid of triangles": triangles,
    "skirt of quads": skirt,
    "icosphere": icosphere,
    "Suzanne, subdivided": suzanne,
    "strewn and decimated sheet": decimated,
    "dress with sleeves": dress,
    "scan with holes": scan,
}


def make(name: str) -> Any:
    """The object of that name, alone in an empty file, its highest part in the group "Pin"."""
    return make_from(MESHES[name])


def make_from(build: Callable[[], None]) -> Any:
    """The object that a function of this module makes, likewise."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    build()
    obj = bpy.context.object
    pins = np.flatnonzero(held(coordinates())).tolist()
    obj.vertex_groups.new(name="Pin").add(pins, 1.0, "REPLACE")
    obj.location.z = 10  # far above the ground
    return obj


def held(points: Any) -> Any:
    """(n,) bool, whether a vertex belongs to the highest 3 %."""
    return points[:, 2] > points[:, 2].max() - 0.03 * np.ptp(points[:, 2])


def coordinates(mesh: Any = None) -> Any:
    """(n, 3) of a mesh, or of the active one."""
    mesh = mesh or bpy.context.object.data
    found = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", found)
    return found.reshape(-1, 3).astype(float)


def move(points: Any) -> None:
    """Puts the active mesh's vertices somewhere else."""
    mesh = bpy.context.object.data
    mesh.vertices.foreach_set("co", points.ravel())
    mesh.update()


def strew(by: float) -> None:
    """Moves each vertex by a random vector."""
    points = coordinates()
    move(points + np.random.default_rng(SEED).uniform(-by, by, points.shape))


def lean() -> None:
    """Turns the active mesh about X, so that one edge is highest."""
    points = coordinates()
    move(np.stack([points[:, 0], -0.9 * points[:, 1], 0.44 * points[:, 1]], axis=1))


def apply(kind: str, **settings: Any) -> None:
    """Adds a modifier and applies it."""
    modifier = bpy.context.object.modifiers.new(kind, kind)
    for name, value in settings.items():
        setattr(modifier, name, value)
    bpy.ops.object.modifier_apply(modifier=modifier.name)


def edit(operator: Callable[[], Any]) -> None:
    """Runs an operator on everything in edit mode."""
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    operator()
    bpy.ops.object.mode_set(mode="OBJECT")


def delete(vertices: Any) -> None:
    """Deletes these vertices of the active mesh and what hangs on them."""
    mesh = bpy.context.object.data
    for parts in (mesh.polygons, mesh.edges):
        parts.foreach_set("select", np.zeros(len(parts), dtype=bool))
    mesh.vertices.foreach_set("select", vertices)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.delete(type="VERT")
    bpy.ops.object.mode_set(mode="OBJECT")
