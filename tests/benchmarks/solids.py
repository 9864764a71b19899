"""Times jelly beside Blender's Soft Body and balloons beside its Cloth, and writes a page's tables.

    make bench-solids                      every body; some minutes
    python tests/benchmarks/solids.py cube     only those of that name

Soft Body has the least of some stiffnesses at which it holds the shape, or else that at which it
comes nearest to it: stiffer ones fly apart. The clock is read, for Blender has several threads.
"""

import sys
import time
from collections.abc import Callable
from typing import Any

import bpy as blender
import numpy as np

import verlet_addon
from tests.benchmarks.cloth import Row, write_table
from tests.benchmarks.contacts import lengths_of, positions
from verlet_addon.blender.scene.colliders import make_collider
from verlet_addon.core.arrays import Floats

# The add-on's own properties are unknown to the stubs.
bpy: Any = blender

FRAMES, DROP = 73, 1.0
"""How long bodies fall and lie, and from how high [m]."""
STIFFNESSES = ((0.9, 10.0), (0.95, 10.0), (0.99, 5.0), (0.99, 10.0))
"""Pull and push, and bend of Soft Body, that are tried in turn."""
HELD = 0.03
"""Off shape by no more than this, as a share of the size, a body holds it."""
PRESSURE = 300.0
"""Of balloons [Pa]."""


def cube() -> None:
    """Six faces on each edge."""
    bpy.ops.mesh.primitive_cube_add(size=1.0)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.subdivide(number_cuts=5)
    bpy.ops.object.mode_set(mode="OBJECT")


def ball() -> None:
    """With a fan of triangles at each pole."""
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.5)


def head(voxel: float) -> None:
    """Blender's monkey, a metre wide, remeshed."""
    bpy.ops.mesh.primitive_monkey_add(size=1.0)
    bpy.context.object.data.remesh_voxel_size = voxel
    bpy.ops.object.voxel_remesh()


JELLIES: dict[str, Callable[[], None]] = {
    "cube": cube,
    "ball": ball,
    "Suzanne": lambda: head(0.06),
    "Suzanne, finer": lambda: head(0.045),
}
BALLOONS: dict[str, tuple[int, int]] = {"balloon": (32, 16), "balloon, finer": (64, 32)}


def dropped(make: Callable[[], None]) -> Any:
    """A new body a metre above a floor that both take for a collider."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.mesh.primitive_plane_add(size=20.0)
    make_collider(bpy.context.object)
    make()
    obj = bpy.context.object
    obj.location.z = DROP - min(vertex.co.z for vertex in obj.data.vertices)
    bpy.context.scene.frame_end = FRAMES
    return obj


def bake(obj: Any, body_type: str, **settings: float) -> float:
    """Bakes it, on the ground itself, and tells how long that took [s]."""
    bpy.ops.verlet.convert(body_type=body_type, use_material=False)
    obj.verlet.collision_collection = bpy.data.collections.new("None")
    for name, value in settings.items():
        setattr(obj.verlet, name, value)
    start = time.perf_counter()
    bpy.ops.verlet.bake()
    return time.perf_counter() - start


def play(obj: Any, kind: str, settings: dict[str, Any]) -> float:
    """Plays it with a modifier of Blender's, and tells how long that took [s]."""
    modifier = obj.modifiers.new(kind, kind)
    for name, value in settings.items():
        setattr(modifier.settings, name, value)
    modifier.point_cache.frame_end = FRAMES
    start = time.perf_counter()
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)
    return time.perf_counter() - start


def off_shape(obj: Any) -> float:
    """How far its last frame is off its rest shape, wherever it lies, as a share of its size."""
    rest, end = positions(obj, 1), positions(obj, FRAMES)
    p, q = rest - rest.mean(axis=0), end - end.mean(axis=0)
    if not np.isfinite(q).all():
        return np.inf
    left, _, right = np.linalg.svd(p.T @ q)
    turn = left @ np.diag([1.0, 1.0, np.linalg.det(left @ right)]) @ right
    return float(np.linalg.norm(p @ turn - q, axis=1).max() / np.ptp(rest, axis=0).max())


def speed(obj: Any) -> float:
    """Of its fastest vertex at the end [m/s]."""
    last = positions(obj, FRAMES) - positions(obj, FRAMES - 1)
    return float(np.linalg.norm(last, axis=1).max()) * float(bpy.context.scene.render.fps)


def jelly(name: str, make: Callable[[], None]) -> Row:
    """One line of the first table."""
    obj = dropped(make)
    seconds = bake(obj, "SOFT")
    line: Row = {"body": name, "vertices": len(obj.data.vertices)}
    ours = {"off shape %": 100 * off_shape(obj), "fastest at the end mm/s": 1000 * speed(obj)}
    theirs, off, fastest = tuned(make)
    return {
        **line,
        "Verlet ms/frame": 1000 * seconds / FRAMES,
        "Soft Body ms/frame": 1000 * theirs / FRAMES,
        "time ratio": seconds / theirs,
        **ours,
        "Soft Body off shape %": 100 * off,
        "Soft Body fastest mm/s": 1000 * fastest,
    }


def tuned(make: Callable[[], None]) -> tuple[float, float, float]:
    """Seconds, share off shape and speed at the end of Soft Body at a stiffness that suits it."""
    best = (np.inf, np.inf, np.inf)
    for firm, bend in STIFFNESSES:
        obj = dropped(make)
        settings = {"use_goal": False, "pull": firm, "push": firm, "bend": bend}
        seconds = play(obj, "SOFT_BODY", settings)
        off = off_shape(obj)
        if off < best[1]:
            best = (seconds, off, speed(obj))
        if off < HELD:
            break
    return best


def balloon(name: str, segments: int, rings: int) -> Row:
    """One line of the second."""

    def make() -> None:
        bpy.ops.mesh.primitive_uv_sphere_add(segments=segments, ring_count=rings, radius=0.5)

    obj = dropped(make)
    seconds = bake(obj, "CLOTH", pressure=PRESSURE)
    line: Row = {"body": name, "vertices": len(obj.data.vertices)}
    ours = {"worst stretch %": 100 * stretch(obj), "fastest at the end mm/s": 1000 * speed(obj)}
    obj = dropped(make)
    weight = 0.5 / len(obj.data.vertices)
    gas = {"use_pressure": True, "uniform_pressure_force": PRESSURE / 1000, "mass": weight}
    theirs = play(obj, "CLOTH", gas)
    return {
        **line,
        "Verlet ms/frame": 1000 * seconds / FRAMES,
        "Cloth ms/frame": 1000 * theirs / FRAMES,
        "time ratio": seconds / theirs,
        **ours,
        "Cloth worst stretch %": 100 * stretch(obj),
        "Cloth fastest mm/s": 1000 * speed(obj),
    }


def stretch(obj: Any) -> float:
    """Of any edge over all frames."""
    edges = np.empty(2 * len(obj.data.edges), np.int32)
    obj.data.edges.foreach_get("vertices", edges)
    rest = lengths_of(positions(obj, 1), edges)
    tracks: list[Floats] = [positions(obj, frame) for frame in range(1, FRAMES + 1)]
    return max(float((lengths_of(points, edges) / rest).max()) - 1.0 for points in tracks)


def main() -> None:
    """Measures the bodies asked for, or all."""
    verlet_addon.register()
    bake(dropped(cube), "SOFT")  # the first bake of a session looks whether kernels agree
    names = sys.argv[1:]
    rows = [jelly(name, make) for name, make in JELLIES.items() if not names or name in names]
    gases = [balloon(name, *of) for name, of in BALLOONS.items() if not names or name in names]
    for line in (*rows, *gases):
        print(line, flush=True)
    if not names:
        write_table("jelly", rows)
        write_table("balloons", gases)
    verlet_addon.unregister()


if __name__ == "__main__":
    main()
