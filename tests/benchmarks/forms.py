"""Bakes samples to every form, and measures size, loading and playback; and loops of flags.

`make forms` fills the tables of docs/reference/bakes.md.
"""

import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import bpy
import numpy as np

import verlet_addon
from tests.benchmarks.pages import Row, fill_table
from tests.blender.scenes import body, coordinates, sheet, shown, verlet
from tests.core.intersections import crossings
from verlet_addon.blender.bake.record import BakeInputs, remember_bake
from verlet_addon.blender.bake.shape_keys import write_bake
from verlet_addon.blender.cli.output_capture import quiet
from verlet_addon.blender.scene.mesh_io import world_matrix
from verlet_addon.blender.scene.modifiers import read_shown

ROOT = Path(__file__).parents[2]
REPORT = ROOT / "docs" / "reference" / "bakes.md"
SAMPLES = ["flag_in_wind", "cape", "curtain", "covered_table", "rope", "rope_bridge", "jellies"]
FORMS = ["RELATIVE", "ABSOLUTE", "COMPACT", "CACHE"]
TOLERANCE = 1e-3
LOADS = 3
LOOPS = [("flag_in_wind", True, 96), ("flag_in_wind", False, 96), ("flag", False, 60)]


def bodies() -> list[Any]:
    """The bodies of the open file."""
    scene: Any = bpy.context.scene
    return [obj for obj in scene.objects if obj.verlet.enabled]


def looks(frames: Sequence[int]) -> list[Any]:
    """Per body, (frames, n, 3) world positions of its own vertices, without finishing modifiers."""
    return [np.array([_own_places(obj, frame) for frame in frames]) for obj in bodies()]


def _own_places(obj: Any, frame: int) -> Any:
    """(n, 3) world positions of a body's own vertices at a frame."""
    context: Any = bpy.context
    context.scene.frame_set(frame)
    depsgraph = context.evaluated_depsgraph_get()
    linear, offset = world_matrix(obj, depsgraph)
    return read_shown(obj, depsgraph) @ linear.T + offset


def milliseconds(action: Callable[[], object]) -> float:
    """How long an action takes [ms]."""
    begin = perf_counter()
    action()
    return 1000.0 * (perf_counter() - begin)


def playback(frames: Sequence[int]) -> float:
    """Median time of a frame change [ms]."""
    scene: Any = bpy.context.scene
    return median(milliseconds(partial(scene.frame_set, frame)) for frame in frames)


def size_of(path: Path) -> int:
    """Size of a .blend file and of the point caches beside it [B]."""
    caches = path.parent.glob(f"{path.stem}_verlet_cache/*/*.pc2")
    return sum(each.stat().st_size for each in (path, *caches))


def measure_form(sample: str, form: str, folder: Path, wanted: list[Any]) -> Row:
    """The row of one form of a sample, read back from its file."""
    path = folder / f"{sample}_{form}.blend"
    bpy.ops.wm.open_mainfile(filepath=str(ROOT / "sample_blends" / f"{sample}.blend"))
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=False)
    scene: Any = bpy.context.scene
    verlet.bake(mode=form, tolerance=TOLERANCE)
    if form == "COMPACT":
        kept = [obj.verlet.baked_form == form for obj in bodies()]
        if not any(kept):
            return {"sample": sample, "form": form, "keys": "too many"}
    bpy.ops.wm.save_mainfile(compress=False)
    loads = [
        milliseconds(lambda: bpy.ops.wm.open_mainfile(filepath=str(path))) for _ in range(LOADS)
    ]
    scene = bpy.context.scene
    frames = range(scene.frame_start, scene.frame_end + 1)
    playback(frames)
    time = playback(frames)
    found = looks(frames)
    off = max(
        float(np.linalg.norm(a - b, axis=2).max()) for a, b in zip(found, wanted, strict=True)
    )
    return {
        "sample": sample,
        "form": form,
        "keys": sum(len(obj.verlet.baked_keys) for obj in bodies()),
        "file [MB]": size_of(path) / 1e6,
        "load [ms]": median(loads),
        "a frame [ms]": time,
        "worst off [mm]": 1000.0 * off,
    }


def measure_forms(sample: str, folder: Path) -> list[Row]:
    """The rows of all forms of a sample."""
    bpy.ops.wm.open_mainfile(filepath=str(ROOT / "sample_blends" / f"{sample}.blend"))
    scene: Any = bpy.context.scene
    verlet.bake()
    wanted = looks(range(scene.frame_start, scene.frame_end + 1))
    return [measure_form(sample, form, folder, wanted) for form in FORMS]


def measure_thousand(folder: Path) -> list[Row]:
    """Rows of a cloth of 441 and of 10,201 vertices over a thousand frames, in each form."""
    return [row for resolution in (20, 100) for row in _thousand(resolution, folder)]


def _thousand(resolution: int, folder: Path) -> list[Row]:
    """The rows of one cloth; its motion is made up, for playback does not depend on it."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    scene: Any = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 1000
    obj = body(sheet("Cloth", resolution=resolution))
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / f"thousand_{resolution}.blend"))
    rng, rest = np.random.default_rng(0), coordinates(obj.data.vertices)
    moves = [rng.normal(0, 0.01, rest.shape).astype(np.float32) for _ in range(1000)]
    write_bake(obj, range(1, 1001), rest + np.array(moves))
    remember_bake(obj, range(1, 1001), BakeInputs("", ""), "")
    key: Any = obj.data.shape_keys
    count = len(obj.data.vertices)
    frames = range(1, 1001, 7)
    rows: list[Row] = [_timed(count, "RELATIVE", frames)]
    curves = _curves(key)
    paths = [curve.data_path for curve in curves]
    for number, curve in enumerate(curves, start=1):
        curve.data_path = f"key_blocks[{number}].value"
    rows.append(_timed(count, "RELATIVE, paths by number", frames))
    for path_by_name, curve in zip(paths, curves, strict=True):
        curve.data_path = path_by_name
    for form in ("ABSOLUTE", "CACHE"):
        verlet.convert_bake(mode=form)
        rows.append(_timed(count, form, frames))
    return rows


def _curves(key: Any) -> list[Any]:
    """The curves of a key."""
    action = key.animation_data.action
    if hasattr(action, "fcurves") and not hasattr(action, "layers"):
        return [*action.fcurves]
    bag = action.layers[0].strips[0].channelbag(key.animation_data.action_slot)
    return [*bag.fcurves]


def _timed(vertices: int, form: str, frames: Sequence[int]) -> Row:
    """The row of a form."""
    playback(frames)
    return {"vertices": vertices, "form": form, "a frame [ms]": playback(frames)}


def measure_loop(sample: str, collides: bool, length: int) -> list[Row]:
    """The rows of a sample's bake as it is, and as a loop."""
    bpy.ops.wm.open_mainfile(filepath=str(ROOT / "sample_blends" / f"{sample}.blend"))
    scene: Any = bpy.context.scene
    flag: Any = bpy.data.objects["Flag"]
    flag.verlet.use_self_collision = collides
    flag.data.calc_loop_triangles()
    triangles = np.array([each.vertices[:] for each in flag.data.loop_triangles]).T
    edges = np.array([edge.vertices[:] for edge in flag.data.edges]).T
    rest = np.linalg.norm(np.diff(shown(flag, scene.frame_start)[edges], axis=0)[0], axis=1)

    def row(name: str, places: Any) -> dict[str, str | int | float]:
        lengths = np.linalg.norm(places[:, edges[0]] - places[:, edges[1]], axis=2) / rest
        counts = [
            crossings(np.ascontiguousarray(each.T), edges, triangles)
            for each in (places if collides else ())
        ]
        jerks = np.linalg.norm(np.diff(places, 2, axis=0), axis=2)
        return {
            "flag": sample + (", self-collision" if collides else ""),
            "bake": name,
            "longest edge [%]": float(100.0 * (lengths.max() - 1.0)),
            "shortest edge [%]": float(100.0 * (lengths.min() - 1.0)),
            "change of speed, most [mm a frame]": float(1000.0 * jerks.max()),
            "crossings": sum(each.shape[1] for each in counts) if collides else "not counted",
        }

    verlet.bake()
    (plain,) = looks(range(scene.frame_start, scene.frame_end + 1))
    scene.frame_set(scene.frame_start)
    verlet.bake(loop=length)
    start = flag.verlet.baked_start
    (turns,) = looks(range(start, start + length + 3))
    loop = turns[: length + 1]
    speed = np.linalg.norm(np.diff(loop, axis=0), axis=2).mean()
    at = start - scene.frame_start
    jump = np.linalg.norm(loop[-1] - loop[-2] - (plain[at] - plain[at - 1]), axis=1).max()
    rows = [row("plain", plain), row(f"loop of {length}, from {start}", turns)]
    seam = {"jump [mm]": 1000.0 * float(np.abs(loop[-1] - loop[0]).max())}
    faster = {"jump in velocity [%]": 100.0 * float(jump / speed)}
    return [{**rows[0], **dict.fromkeys([*seam, *faster], "")}, {**rows[1], **seam, **faster}]


def main() -> None:
    """Measures what is named, or everything, and fills the tables."""
    asked = sys.argv[1:] or ["forms", "thousand", "loops"]
    where = f"Blender {bpy.app.version_string}, two cores of a shared machine; times are medians."
    verlet_addon.register()
    try:
        with tempfile.TemporaryDirectory() as name, quiet():
            folder = Path(name)
            if "forms" in asked:
                rows = [row for sample in SAMPLES for row in measure_forms(sample, folder)]
                fill_table(REPORT, "forms", where, rows)
            if "thousand" in asked:
                fill_table(REPORT, "thousand", where, measure_thousand(folder))
            if "loops" in asked:
                rows = [row for loop in LOOPS for row in measure_loop(*loop)]
                fill_table(REPORT, "loops", where, rows)
    finally:
        verlet_addon.unregister()


if __name__ == "__main__":
    main()
