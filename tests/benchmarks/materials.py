"""Times materials beside Blender's own solvers, for docs/how_it_works/benchmarks.md.

    make bench-materials                              all of them; a minute or two
    python tests/benchmarks/materials.py SILK HEMP    only these, printed

The clock is read, for Blender has several threads; the least of some runs in turn counts.
"""

import sys
import time
from collections.abc import Callable
from typing import Any

import bpy as blender
import numpy as np

import verlet_addon
from tests.benchmarks.cloth import Row, write_table
from tests.blender.scenes import mesh_object
from tests.core.bodies import disc, sphere
from verlet_addon.core.arrays import Floats
from verlet_addon.core.materials import MATERIALS

# The add-on's own properties are unknown to the stubs.
bpy: Any = blender

FRAMES, RUNS = 72, 3
RINGS, RADIUS, TABLE = 20, 0.15, 0.09
"""Of the cloths, and of the tables they lie on [m]."""
SEGMENTS, LENGTH = 60, 0.5
"""Of the ropes [m]."""
HEIGHT = 0.3
"""From which solids fall [m]."""


def cloth() -> Any:
    """A disc on a small table, to which it is pinned."""
    mesh = disc(RINGS, radius=RADIUS)
    far = np.linalg.norm(mesh.positions, axis=1)
    faces = mesh.face_vertices.reshape(-1, 3).tolist()
    return _object(mesh.positions, [], faces, np.flatnonzero(far < TABLE + 1e-6))


def rope() -> Any:
    """A straight line, held level by its first two vertices."""
    points = np.linspace([0.0, 0.0, 0.0], [LENGTH, 0.0, 0.0], SEGMENTS + 1)
    edges = [(k, k + 1) for k in range(SEGMENTS)]
    return _object(points, edges, [], np.array([0, 1]))


def ball() -> Any:
    """A ball that falls on the ground."""
    mesh = sphere(24, 12, radius=0.1)
    faces = np.split(mesh.face_vertices, mesh.face_starts[1:-1])
    return _object(
        mesh.positions + np.array([0.0, 0.0, HEIGHT]), [], [each.tolist() for each in faces]
    )


def balloon() -> Any:
    """A ball held at its lowest vertex, that is blown up."""
    obj = ball()
    group = obj.vertex_groups.new(name="Pinned")
    group.add([len(obj.data.vertices) - 1], 1.0, "REPLACE")
    return obj


def _object(points: Floats, edges: Any, faces: Any, pinned: Any = ()) -> Any:
    """A mesh object in a scene of its own."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.frame_end = FRAMES
    obj = mesh_object("Body", points.tolist(), edges, faces)
    if len(pinned):
        obj.vertex_groups.new(name="Pinned").add(pinned.tolist(), 1.0, "REPLACE")
    return obj


def verlet_seconds(make: Callable[[], Any], name: str) -> float:
    """How long our bake takes [s]."""
    obj = make()
    bpy.ops.verlet.convert(body_type=MATERIALS[name].settings.body_type, use_material=False)
    bpy.ops.verlet.set_material(material=name)
    obj.verlet.pin_group = obj.vertex_groups[0].name if obj.vertex_groups else ""
    bpy.context.scene.verlet.use_ground = make is ball
    start = time.perf_counter()
    bpy.ops.verlet.bake()
    return time.perf_counter() - start


def blender_seconds(make: Callable[[], Any], solver: str) -> float:
    """How long Cloth takes to play, at its stock quality, or Soft Body with bending [s]."""
    obj = make()
    modifier = obj.modifiers.new("Body", solver)
    settings = modifier.settings
    if solver == "CLOTH":
        settings.vertex_group_mass = obj.vertex_groups[0].name
        settings.use_pressure = make is balloon
        settings.uniform_pressure_force = 5.0
    else:
        settings.use_goal = bool(obj.vertex_groups)
        settings.vertex_group_goal = obj.vertex_groups[0].name if obj.vertex_groups else ""
        settings.goal_default = settings.goal_max = 1.0
        settings.use_edges, settings.bend = True, 1.0
        bpy.ops.mesh.primitive_plane_add(size=10.0)
        bpy.context.object.modifiers.new("Collision", "COLLISION")
    modifier.point_cache.frame_end = FRAMES
    start = time.perf_counter()
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)
    return time.perf_counter() - start


def row(name: str) -> Row:
    """One line of the table."""
    kind = MATERIALS[name].settings.body_type
    make = balloon if name == "BALLOON" else {"CLOTH": cloth, "ROPE": rope, "SOFT": ball}[kind]
    solver = "CLOTH" if kind == "CLOTH" else "SOFT_BODY"
    runs = [(verlet_seconds(make, name), blender_seconds(make, solver)) for _ in range(RUNS)]
    ours, theirs = (min(each) for each in zip(*runs, strict=True))
    line: Row = {
        "material": name,
        "vertices": len(make().data.vertices),
        "Verlet ms/frame": 1000 * ours / FRAMES,
        "Blender's": "Cloth" if solver == "CLOTH" else "Soft Body",
        "Blender ms/frame": 1000 * theirs / FRAMES,
        "time ratio": ours / theirs,
    }
    print(line, flush=True)
    return line


def main() -> None:
    """Measures the materials asked for, or all."""
    verlet_addon.register()
    rows = [row(name) for name in sys.argv[1:] or MATERIALS]
    if not sys.argv[1:]:
        write_table("materials", rows)
    verlet_addon.unregister()


if __name__ == "__main__":
    main()
