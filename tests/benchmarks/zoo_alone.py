"""Scenes of the zoo by the core alone, in many processes, on any machine with NumPy.

    python tests/benchmarks/zoo_alone.py write 100:166   inputs, in build/zoo_alone; by Blender
    python tests/benchmarks/zoo_alone.py play --jobs 16  all that are there, a line of JSON each

Crossings are counted at every frame, as in `zoo.py`; Cloth does not run. What is in build/zoo_alone
and build/kernels can be copied with the repository to a machine with more processors.
"""

import argparse
import json
import os
import time
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from tests.core.intersections import crossings
from verlet_addon.core.arrays import Floats, Integers
from verlet_addon.core.checkpoint import read_checkpoint, write_checkpoint
from verlet_addon.core.errors import VerletError
from verlet_addon.core.simulate import simulate

INPUTS = Path(__file__).parents[2] / "build" / "zoo_alone"


def write(seeds: range) -> None:
    """Writes the inputs of drawn scenes, as a bake reads them."""
    import bpy

    import verlet_addon
    from tests.benchmarks.zoo import describe
    from tests.benchmarks.zoo_measures import read_positions, read_shape
    from tests.benchmarks.zoo_scenes import build, find_scene, make_verlet
    from verlet_addon.blender.bake.bake import bodies, prepare_stage, read_settings
    from verlet_addon.blender.bake.former_bake import former_bakes_hidden
    from verlet_addon.blender.scene.sampling import read_samples
    from verlet_addon.blender.scene.starting_meshes import read_meshes

    verlet_addon.register()
    INPUTS.mkdir(parents=True, exist_ok=True)
    for seed in seeds:
        drawn = find_scene(f"seed {seed}")
        built = build(drawn)
        make_verlet(drawn, built)
        scene: Any = bpy.context.scene
        layer: Any = bpy.context.view_layer
        shape, frames = read_shape(drawn, built), (scene.frame_start, scene.frame_end)
        start = read_positions(built)
        stage = prepare_stage(scene, layer, bodies(scene))
        with stage.left_as_found(former_bakes_hidden):
            meshes = read_meshes(stage, frames[0])
            samples = list(read_samples(stage, *frames))
            inputs = meshes, *read_settings(stage), samples, stage.read_colliders()
        topology = shape.edges, shape.triangles, shape.body_edges, shape.body_vertices
        what = f"{drawn.name}: {describe(drawn)}"
        write_checkpoint(INPUTS / f"{seed}.scene", [what, inputs, topology, start])


def play(path: Path) -> dict[str, Any]:
    """Simulates a scene, and counts crossings at all frames but the first."""
    what, inputs, (edges, triangles, kept, count), start = read_checkpoint(path)
    meshes, settings, scene, samples, colliders = inputs
    among = with_colliders = crossed = frames = 0
    stretch, note, begin = 0.0, "", time.process_time()
    rest = _lengths(start, edges[:, :kept])
    try:
        for result, sample in zip(
            simulate(meshes, settings, scene, samples, colliders), samples, strict=True
        ):
            if (frames := frames + 1) == 1:
                continue
            positions = np.concatenate([*result.positions, *sample.colliders])
            own, others = _crossings(positions, edges, triangles, count)
            among, with_colliders = among + own, with_colliders + others
            crossed += own + others > 0
            stretch = max(
                stretch, float((_lengths(positions, edges[:, :kept]) / rest).max(initial=1)) - 1
            )
    except VerletError as error:
        note = str(error)
    return {
        "scene": what,
        "frames": frames,
        "among bodies": among,
        "with colliders": with_colliders,
        "crossed frames": crossed,
        "stretch": round(stretch, 4),
        "seconds": round(time.process_time() - begin, 1),
        "note": note,
    }


def _lengths(positions: Floats, edges: Integers) -> Floats:
    """(m,) lengths of edges (2, m) [m]."""
    return np.asarray(np.linalg.norm(positions[edges[1]] - positions[edges[0]], axis=1))


def _crossings(
    positions: Floats, edges: Integers, triangles: Integers, count: int
) -> tuple[int, int]:
    """Crossings of bodies, whose vertices are the first `count`, and of these with colliders."""
    x = np.ascontiguousarray(positions.T)
    own, sides = edges[:, edges.min(axis=0) < count], edges[:, edges.min(axis=0) >= count]
    faces, walls = triangles[:, triangles[0] < count], triangles[:, triangles[0] >= count]
    among, through, pierced = (
        crossings(x, *pair).shape[1] for pair in ((own, faces), (own, walls), (sides, faces))
    )
    return among, through + pierced


def main() -> None:
    """Reads the arguments."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("what", choices=("write", "play"))
    parser.add_argument("seeds", nargs="?", default="100:110", help="as in a slice")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    given = parser.parse_args()
    if given.what == "write":
        write(range(*map(int, given.seeds.split(":"))))
        return
    os.environ["VERLET_THREADS"] = "1"
    largest_first = sorted(INPUTS.glob("*.scene"), key=lambda path: -path.stat().st_size)
    with get_context("spawn").Pool(given.jobs, maxtasksperchild=1) as pool:
        for result in pool.imap_unordered(play, largest_first):
            print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
