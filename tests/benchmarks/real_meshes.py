"""Times meshes as people have them beside Cloth, for docs/how_it_works/benchmarks.md.

python tests/benchmarks/real_meshes.py               all; `make bench` does so too
python tests/benchmarks/real_meshes.py dress scan    only those with such names
"""

import sys
import time
from functools import partial
from typing import Any

import bpy as blender
import numpy as np

import verlet_addon
from tests.benchmarks import meshes
from tests.benchmarks.cloth import Row, write_table
from verlet_addon.core.arrays import Floats, Integers
from verlet_addon.core.build import build
from verlet_addon.core.mesh import MeshData
from verlet_addon.core.settings import BodySettings

bpy: Any = blender

FRAMES = 25
LARGE = 90_000
"""Vertices of the scan of which only the build is timed."""


def edges_of(mesh: Any) -> Integers:
    """(m, 2) vertices."""
    found = np.empty(2 * len(mesh.edges), dtype=np.int32)
    mesh.edges.foreach_get("vertices", found)
    return found.reshape(-1, 2).astype(np.int64)


def play(obj: Any) -> tuple[float, Floats]:
    """Seconds of `frame_set` over all frames, and the (frames, m) lengths of edges in each."""
    edges, seconds, lengths = edges_of(obj.data), 0.0, []
    for frame in range(1, FRAMES + 1):
        start = time.perf_counter()
        bpy.context.scene.frame_set(frame)
        seconds += time.perf_counter() - start
        mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        ends = meshes.coordinates(mesh)[edges]
        lengths.append(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1))
    return seconds, np.array(lengths)


def run_verlet(obj: Any) -> tuple[float, Floats]:
    """Bakes with stock settings; seconds of the whole bake, and the lengths it shows."""
    bpy.context.scene.frame_end = FRAMES
    bpy.ops.verlet.convert(body_type="CLOTH", use_material=False)
    obj.verlet.pin_group = "Pin"
    start = time.perf_counter()
    bpy.ops.verlet.bake()
    return time.perf_counter() - start, play(obj)[1]


def run_cloth(obj: Any) -> tuple[float, Floats]:
    """Plays Blender's Cloth at its stock quality of 5."""
    cloth = obj.modifiers.new("Cloth", "CLOTH")
    cloth.settings.vertex_group_mass = "Pin"
    cloth.point_cache.frame_end = bpy.context.scene.frame_end = FRAMES
    return play(obj)


def time_build(obj: Any) -> float:
    """Seconds from the mesh to a model that is ready for its first step."""
    mesh = obj.data
    corners = np.empty(len(mesh.loops), dtype=np.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    starts = np.empty(len(mesh.polygons), dtype=np.int32)
    mesh.polygons.foreach_get("loop_start", starts)
    positions = meshes.coordinates(mesh)
    data = MeshData(
        name=obj.name,
        positions=positions,
        edges=edges_of(mesh),
        face_starts=np.append(starts, len(corners)).astype(np.int64),
        face_vertices=corners.astype(np.int64),
        pin_weights=meshes.held(positions).astype(float),
        velocities=np.zeros_like(positions),
    )
    start = time.perf_counter()
    build(data, BodySettings(), gravity=np.array([0.0, 0.0, -9.81]), dt=1 / 240)
    return time.perf_counter() - start


def measure(name: str) -> Row:
    """One line of the table; strains are shares of the length at the first frame."""
    obj = meshes.make(name)
    vertices, build_seconds = len(obj.data.vertices), time_build(obj)
    ours, lengths = run_verlet(obj)
    theirs, cloth_lengths = run_cloth(meshes.make(name))
    strains, cloth_strains = lengths / lengths[0] - 1.0, cloth_lengths / cloth_lengths[0] - 1.0
    row: Row = {
        "mesh": name,
        "vertices": vertices,
        "build s": build_seconds,
        "Verlet ms/frame": 1000 * ours / FRAMES,
        "time ratio": ours / theirs,
        "worst stretch %": 100 * float(strains.max()),
        "99th percentile %": 100 * float(np.percentile(strains, 99, axis=1).max()),
        "shortest edge": 1.0 + float(strains.min()),
        "Cloth worst stretch %": 100 * float(cloth_strains.max()),
        "Cloth shortest edge": 1.0 + float(cloth_strains.min()),
    }
    print(row, flush=True)
    return row


def time_large_build() -> Row:
    """The line of a scan too large to wait for here."""
    obj = meshes.make_from(partial(meshes.scan, LARGE))
    row: Row = {
        "mesh": "large scan with holes, its build",
        "vertices": len(obj.data.vertices),
        "build s": time_build(obj),
    }
    print(row, flush=True)
    return row


def measure_all() -> None:
    """Measures every mesh and writes the table."""
    write_table("meshes", [*map(measure, meshes.MESHES), time_large_build()])


def main() -> None:
    """Measures the meshes asked for, or all."""
    verlet_addon.register()
    words = sys.argv[1:]
    for name in meshes.MESHES:
        if any(word in name for word in words):
            measure(name)
    if not words:
        measure_all()
    verlet_addon.unregister()


if __name__ == "__main__":
    main()
