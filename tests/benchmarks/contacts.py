"""Times collisions beside those of Blender's own Cloth, for docs/how_it_works/benchmarks.md.

    make bench                             every scene; some minutes
    python tests/benchmarks/contacts.py 51      only sheets of 51² vertices

Processor time is measured, for a busy machine disturbs it less; the ratio is what to read.
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
from tests.core.bodies import sphere
from verlet_addon.blender.scene.colliders import make_collider
from verlet_addon.core.arrays import Floats

# The add-on's own properties are unknown to the stubs.
bpy: Any = blender

SIZE, FRAMES, RADIUS, FOLDS = 2.0, 73, 0.5, 3
THICKNESS = 0.005
"""Of the cloth; the colliders have a millimetre of their own [m]."""
Scene = Callable[[int], Any]


def over_a_sphere(side: int, *, triangles: int = 2000) -> Any:
    """A sheet of side² vertices that falls over a sphere onto the floor."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    rings = round((triangles / 2) ** 0.5)
    _floor()
    # Blender numbers the triangles at the poles of its own otherwise from run to run.
    shape = sphere(rings, rings, radius=RADIUS)
    faces = np.split(shape.face_vertices, shape.face_starts[1:-1])
    places = shape.positions.tolist()
    make_collider(mesh_object("Sphere", places, [], [f.tolist() for f in faces], height=RADIUS))
    bpy.ops.mesh.primitive_grid_add(
        x_subdivisions=side - 1,
        y_subdivisions=side - 1,
        size=SIZE,
        location=(0.02, 0.01, 2 * RADIUS + 0.05),
    )
    return bpy.context.object


def over_a_fine_sphere(side: int) -> Any:
    """The same over a sphere of 100,000 triangles."""
    return over_a_sphere(side, triangles=100_000)


def three_layers(side: int) -> Any:
    """A sheet of about side² vertices, folded in three, that lies down on the floor."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    _floor()
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=side - 1, y_subdivisions=side - 1, size=SIZE)
    sheet = bpy.context.object
    points = np.array([vertex.co for vertex in sheet.data.vertices])
    along = points[:, 0] + SIZE / 2
    points[:, 0], points[:, 2] = _folded(along, layer=SIZE / FOLDS, apart=0.04)
    points[:, 2] += 0.05
    sheet.data.vertices.foreach_set("co", points.astype(np.float32).ravel())
    return sheet


def _folded(along: Floats, *, layer: float, apart: float) -> tuple[Floats, Floats]:
    """Where a sheet is that goes to and fro in layers, joined by half circles: x and z [m]."""
    half = np.pi * apart / 2
    number = np.minimum((along // layer).astype(int), FOLDS - 1)
    rest = along - number * layer
    straight = layer - half
    turn = np.clip(rest - straight, 0.0, None) / (apart / 2)
    x = np.minimum(rest, straight) + apart / 2 * np.sin(turn)
    x = np.where(number % 2 == 1, straight - x, x)
    return x, number * apart + apart / 2 * (1 - np.cos(turn))


def _floor() -> None:
    """Adds a floor, which both take for a collider."""
    bpy.ops.mesh.primitive_plane_add(size=20.0)
    make_collider(bpy.context.object)


def run_verlet(make: Scene, side: int) -> dict[str, float]:
    """Bakes with stock settings and self-collision."""
    sheet = make(side)
    bpy.context.scene.frame_end = FRAMES
    bpy.ops.verlet.convert(body_type="CLOTH", use_material=False)
    bpy.context.scene.verlet.use_ground = False
    sheet.verlet.thickness, sheet.verlet.use_self_collision = THICKNESS, True
    start = time.perf_counter()
    bpy.ops.verlet.bake()
    return {"seconds": time.perf_counter() - start, **measure(sheet)}


def run_cloth(make: Scene, side: int) -> dict[str, float]:
    """Plays Blender's Cloth at its stock quality of 5, with its collisions and self-collision."""
    sheet = make(side)
    bpy.context.scene.frame_end = FRAMES
    cloth = sheet.modifiers.new("Cloth", "CLOTH")
    cloth.collision_settings.use_self_collision = True
    cloth.collision_settings.distance_min = THICKNESS
    cloth.collision_settings.self_distance_min = THICKNESS
    cloth.point_cache.frame_end = FRAMES
    start = time.perf_counter()
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)
    return {"seconds": time.perf_counter() - start, **measure(sheet)}


def measure(sheet: Any) -> dict[str, float]:
    """Strains over all frames, and the speed of the fastest vertex at the end."""
    mesh = sheet.data
    edges = np.empty(2 * len(mesh.edges), np.int32)
    mesh.edges.foreach_get("vertices", edges)
    rest = lengths_of(positions(sheet, 1), edges)
    worst = nearly_all = 0.0
    for frame in range(1, FRAMES + 1):
        strains = lengths_of(positions(sheet, frame), edges) / rest - 1
        worst = max(worst, float(strains.max()))
        nearly_all = max(nearly_all, float(np.percentile(strains, 99)))
    last = positions(sheet, FRAMES) - positions(sheet, FRAMES - 1)
    speed = float(np.linalg.norm(last, axis=1).max()) * bpy.context.scene.render.fps
    return {"stretch": worst, "nearly all": nearly_all, "speed": speed}


def positions(sheet: Any, frame: int) -> Floats:
    """(n, 3) of the evaluated mesh at a frame [m]."""
    bpy.context.scene.frame_set(frame)
    mesh = sheet.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    positions = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", positions)
    return positions.reshape(-1, 3).astype(float)


def lengths_of(positions: Floats, edges: Any) -> Floats:
    """(m,) of edges between positions [m]."""
    ends = positions[edges.reshape(-1, 2)]
    return np.asarray(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1))


def row(name: str, make: Scene, side: int) -> Row:
    """One line of the table."""
    ours, theirs = run_verlet(make, side), run_cloth(make, side)
    line: Row = {
        "scene": name,
        "vertices": side * side,
        "Verlet ms/frame": 1000 * ours["seconds"] / FRAMES,
        "Cloth ms/frame": 1000 * theirs["seconds"] / FRAMES,
        "time ratio": ours["seconds"] / theirs["seconds"],
        "worst stretch %": 100 * ours["stretch"],
        "99th percentile %": 100 * ours["nearly all"],
        "fastest at the end mm/s": 1000 * ours["speed"],
        "Cloth worst stretch %": 100 * theirs["stretch"],
        "Cloth fastest mm/s": 1000 * theirs["speed"],
    }
    print(line, flush=True)
    return line


def main() -> None:
    """Measures the sides asked for, or all."""
    verlet_addon.register()
    sides = [int(word) for word in sys.argv[1:]] or [51, 101]
    rows = [row("over a sphere", over_a_sphere, side) for side in sides]
    rows.append(row("over a sphere of 100,000 triangles", over_a_fine_sphere, sides[-1]))
    rows.append(row("three layers", three_layers, sides[-1]))
    if not sys.argv[1:]:
        write_table("contacts", rows)
    verlet_addon.unregister()


if __name__ == "__main__":
    main()
