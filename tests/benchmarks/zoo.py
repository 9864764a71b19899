"""Plays many scenes of contact beside Blender's own Cloth, each in a process of its own.

    make zoo                    all scenes; results are kept in build/zoo, so a run can be cut
    make zoo SEEDS=100:110      only these seeds, and no table
    python tests/benchmarks/zoo.py "over Suzanne, order 0"      only this one, anew
    python -m cProfile -s tottime tests/benchmarks/zoo.py "dressed, motion raw"    where time goes

The tables in docs/how_it_works/benchmarks.md have the worst first. What each frame comes to
is in build/zoo.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import bpy as blender
import numpy as np

import verlet_addon
from tests.benchmarks.cloth import Row, write_table
from tests.benchmarks.zoo_ingredients import at_hand
from tests.benchmarks.zoo_measures import measure, read_positions, read_shape
from tests.benchmarks.zoo_samples import CAPTURED
from tests.benchmarks.zoo_scenes import (
    Built,
    Scene,
    build,
    by_hand,
    clothed,
    drawn,
    dressed,
    find_scene,
    make_cloth,
    make_verlet,
)
from verlet_addon.blender.bake.bake import bake, bodies

bpy: Any = blender

RESULTS = Path(__file__).parents[2] / "build" / "zoo"
SEEDS = range(60)
LIMIT = 1800.0
"""No scene may take longer, Cloth and measures included [s]."""
Result = dict[str, Any]


def play_verlet(scene: Scene) -> Result:
    """Bakes a scene and measures what it shows."""
    ends: list[float] = []

    def run() -> None:
        shown = bpy.context.scene
        frames = {"frame_start": shown.frame_start, "frame_end": shown.frame_end}
        ends.append(time.perf_counter())
        playing = bake(shown, bpy.context.view_layer, bodies(shown), **frames)
        ends.extend(time.perf_counter() for _ in playing)

    result = _play(scene, make_verlet, run)
    return result | {"frame_seconds": np.diff(ends).tolist()}


def play_cloth(scene: Scene) -> Result:
    """Plays a scene with Cloth, and measures it."""

    def run() -> None:
        for frame in range(1, scene.frames + 1):
            bpy.context.scene.frame_set(frame)

    return _play(scene, make_cloth, run)


def _play(scene: Scene, make: Callable[[Scene, Built], None], run: Callable[[], None]) -> Result:
    """Seconds by the clock and of processors, and the measures."""
    built = build(scene)
    make(scene, built)
    start, busy = time.perf_counter(), time.process_time()
    run()
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    frames = []
    for frame in range(1, scene.frames + 1):
        bpy.context.scene.frame_set(frame)
        frames.append(read_positions(built))
    shape = read_shape(scene, built)
    vertices = shape.body_vertices
    found = asdict(measure(scene, shape, frames))
    return {"seconds": seconds, "busy": busy, "vertices": vertices, **found}


def play(scene: Scene) -> None:
    """Plays a scene both ways; each result is kept as soon as it is there."""
    result: Result = {"scene": asdict(scene)}
    for name, way in (("verlet", play_verlet), ("cloth", play_cloth)):
        result[name] = way(scene)
        result["date"] = time.strftime("%Y-%m-%d %H:%M")
        path_of(scene).write_text(json.dumps(result, indent=1), encoding="utf-8")


def path_of(scene: Scene) -> Path:
    """Where a scene's results are kept."""
    return RESULTS / f"{scene.name}.json"


def run_all(scenes: list[Scene]) -> None:
    """Plays those scenes that have no results yet, the shortest first."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    for scene in sorted(scenes, key=lambda scene: scene.cost):
        if not path_of(scene).exists():
            start = time.perf_counter()
            note = ""
            try:
                subprocess.run([sys.executable, __file__, scene.name], timeout=LIMIT, check=True)
            except subprocess.SubprocessError as error:
                note = f"{type(error).__name__} "
            if note and not path_of(scene).exists():
                failed = {"scene": asdict(scene), "failed": note.strip()}
                path_of(scene).write_text(json.dumps(failed), encoding="utf-8")
            print(f"{scene.name}: {note}{time.perf_counter() - start:.0f} s", flush=True)


def describe(scene: Scene) -> str:
    """All that is in a scene, in a line."""
    bodies = " and ".join(f"{kind} {m}".strip().lower() for kind, _, m in scene.bodies)
    where = "on" if scene.collider in ("floor", "figure") else "over"
    collider = f"{where} {scene.collider} {scene.motion}"
    settings = "stock" if scene.stock else "ours"
    circumstances = [f"{1000 * scene.thickness:g} mm", f"{scene.fps} × {scene.substeps}"]
    circumstances += [f"wind {scene.wind:g}"] * bool(scene.wind) + [scene.held] * bool(scene.held)
    return f"{bodies}, {collider}, {settings}, {', '.join(circumstances)}"


def row(scene: Scene) -> Row:
    """A scene's line of the table; without results but for why."""
    kept = json.loads(path_of(scene).read_text(encoding="utf-8"))
    line: Row = {"scene": scene.name, "what": describe(scene)}
    if "verlet" not in kept:
        return {**line, "crossings": f"none: {kept.get('failed', '')}"}
    ours, theirs = kept["verlet"], kept.get("cloth")
    starts = f" ({ours['crosses_at_start']} at the start)" if ours["crosses_at_start"] else ""
    line |= {
        "vertices": ours["vertices"],
        "crossings": f"{ours['crossings']}{starts}",
        "frames": ours["crossed_frames"],
        "first": ours["first_frame"],
        "deep mm": 1000 * ours["crossing_depth"],
        "nearer than gap mm": 1000 * ours["depth"],
        "worst stretch %": 100 * ours["stretch"],
        "99th percentile %": 100 * ours["nearly_all"],
        "fastest at the end mm/s": 1000 * ours["speed"],
        "seconds": ours["seconds"],
    }
    if theirs is None:
        return line
    return line | {
        "time ratio": ours["seconds"] / theirs["seconds"],
        "processor ratio": ours["busy"] / theirs["busy"],
        "Cloth crossings": theirs["crossings"],
        "Cloth worst stretch %": 100 * theirs["stretch"],
        "Cloth fastest mm/s": 1000 * theirs["speed"],
    }


def badness(scene: Scene) -> tuple[float, ...]:
    """By which scenes are sorted: failures, crossings, then stretch."""
    kept = json.loads(path_of(scene).read_text(encoding="utf-8"))
    if "verlet" not in kept:
        return (-1e9,)
    ours = kept["verlet"]
    return (-ours["crossings"] * (not ours["crosses_at_start"]), -ours["stretch"])


def main() -> None:
    """Plays a scene by its name, or all that have no results yet, and writes the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("name", nargs="?")
    parser.add_argument("--seeds", default="")
    options = parser.parse_args()
    if options.name:
        RESULTS.mkdir(parents=True, exist_ok=True)
        verlet_addon.register()
        play(find_scene(options.name))
        verlet_addon.unregister()
        return
    if options.seeds:
        first, _, end = options.seeds.partition(":")
        run_all([drawn(seed) for seed in range(int(first), int(end or int(first) + 1))])
        return
    scenes = [*by_hand(), *map(drawn, SEEDS)]
    people = [*dressed(), *clothed()]
    if not at_hand():
        people = [scene for scene in clothed() if scene.motion not in CAPTURED]
    run_all([*scenes, *people])
    write_zoo(scenes)
    write_people("dressed", [scene for scene in people if scene.collider == "person"])
    write_people("clothed", [scene for scene in people if scene.collider == "clothed"])


def write_zoo(scenes: list[Scene]) -> None:
    """Writes the table of those scenes that have results."""
    there = [scene for scene in scenes if path_of(scene).exists()]
    lines = [row(scene) for scene in sorted(there, key=badness)]
    names = max(lines, key=len)
    write_table("zoo", [{name: line.get(name, "") for name in names} for line in lines])


def write_people(name: str, scenes: list[Scene]) -> None:
    """Writes a table of those people in clothes that have results: ours, and Cloth's below."""
    lines: list[Row] = []
    for scene in scenes:
        kept = json.loads(path_of(scene).read_text("utf-8")) if path_of(scene).exists() else {}
        lines += [
            {"motion": scene.motion, "by": by.capitalize(), **_line(kept[by])}
            for by in ("verlet", "cloth")
            if by in kept
        ]
    if lines:
        write_table(name, lines)


def _line(found: Result) -> Row:
    """The measures of people in clothes."""
    frames = found["frames"]
    return {
        "vertices": found["vertices"],
        "processor s/frame": found["busy"] / (1 + len(frames)),
        "most inside": found["inside"],
        "inside at the end": frames[-1]["inside"],
        "deep mm": 1000 * found["inside_depth"],
        "crossings of cloths": sum(f["among_bodies"] for f in frames),
        "with colliders": sum(f["with_colliders"] for f in frames),
        "frames": found["crossed_frames"],
        "worst stretch %": 100 * found["stretch"],
        "99th percentile %": 100 * found["nearly_all"],
    }


if __name__ == "__main__":
    main()
