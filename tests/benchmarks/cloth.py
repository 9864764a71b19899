"""Times Verlet beside Blender's own Cloth, in one run, and writes docs/how_it_works/benchmarks.md.

    make bench                         every size; about a quarter of an hour
    python tests/benchmarks/cloth.py 51 101     only sheets of 51² and 101² vertices

Times are of this machine and noisy; the ratio of the two is what to read.
"""

import os
import platform
import sys
import time
from pathlib import Path
from typing import Any

import bpy as blender
import numpy as np

import verlet_addon
from docs.figures import svg
from tests.benchmarks.pages import fill_table
from verlet_addon.core.arrays import Floats

# The add-on's own properties are unknown to the stubs.
bpy: Any = blender

SIZE = 2.0
SIDES = (21, 51, 101, 151, 301)
REPORT = Path(__file__).parents[2] / "docs" / "how_it_works" / "benchmarks.md"
PLOT = REPORT.parent / "images" / "benchmarks.svg"
Row = dict[str, float | str]


def make_sheet(side: int, pinned: str) -> Any:
    """A flat 2 × 2 m sheet of side² vertices in an empty file, its pins in the group "Pin"."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.mesh.primitive_grid_add(
        x_subdivisions=side - 1, y_subdivisions=side - 1, size=SIZE, location=(0, 0, 3)
    )
    sheet = bpy.context.object
    positions = np.array([vertex.co[:] for vertex in sheet.data.vertices])
    held = positions[:, 1] > SIZE / 2 - 1e-4
    if pinned == "two corners":
        held &= np.abs(positions[:, 0]) > SIZE / 2 - 1e-4
    sheet.vertex_groups.new(name="Pin").add(np.flatnonzero(held).tolist(), 1.0, "REPLACE")
    return sheet


def edge_strains(sheet: Any, side: int) -> Floats:
    """(m,) strain of every edge of the evaluated mesh at the current frame."""
    mesh = sheet.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    positions = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", positions)
    edges = np.empty(2 * len(mesh.edges), dtype=np.int32)
    mesh.edges.foreach_get("vertices", edges)
    ends = positions.astype(float).reshape(-1, 3)[edges.reshape(-1, 2)]
    lengths: Floats = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    return lengths * ((side - 1) / SIZE) - 1.0


def play(sheet: Any, side: int, frames: int) -> tuple[float, float, float]:
    """Seconds of `frame_set` over all frames, and the worst and 99th percentile strain seen."""
    seconds, worst, nearly_all = 0.0, 0.0, 0.0
    for frame in range(1, frames + 1):
        start = time.perf_counter()
        bpy.context.scene.frame_set(frame)
        seconds += time.perf_counter() - start
        strains = edge_strains(sheet, side)
        worst = max(worst, float(strains.max()))
        nearly_all = max(nearly_all, float(np.percentile(strains, 99)))
    return seconds, worst, nearly_all


def run_verlet(side: int, pinned: str, frames: int) -> tuple[float, float, float]:
    """Bakes with stock settings; seconds of the whole bake, and the strains it shows."""
    sheet = make_sheet(side, pinned)
    bpy.context.scene.frame_end = frames
    bpy.ops.verlet.convert(body_type="CLOTH", use_material=False)
    sheet.verlet.pin_group = "Pin"
    start = time.perf_counter()
    bpy.ops.verlet.bake()
    seconds = time.perf_counter() - start
    return seconds, *play(sheet, side, frames)[1:]


def run_cloth(side: int, pinned: str, frames: int) -> tuple[float, float, float]:
    """Plays Blender's Cloth at its stock quality of 5."""
    sheet = make_sheet(side, pinned)
    bpy.context.scene.frame_end = frames
    cloth = sheet.modifiers.new("Cloth", "CLOTH")
    cloth.settings.vertex_group_mass = "Pin"
    cloth.point_cache.frame_end = frames
    return play(sheet, side, frames)


def measure(side: int, pinned: str) -> Row:
    """One line of the table."""
    frames = 48 if side < 151 else 24
    ours, stretch, nearly_all = run_verlet(side, pinned, frames)
    theirs, cloth_stretch, _ = run_cloth(side, pinned, frames)
    row: Row = {
        "pinned": pinned,
        "vertices": side * side,
        "Verlet ms/frame": 1000 * ours / frames,
        "Cloth ms/frame": 1000 * theirs / frames,
        "time ratio": ours / theirs,
        "Verlet worst stretch %": 100 * stretch,
        "Verlet 99th percentile %": 100 * nearly_all,
        "Cloth worst stretch %": 100 * cloth_stretch,
    }
    print(row, flush=True)
    return row


def write_table(name: str, rows: list[Row]) -> None:
    """Puts rows into the page, between the marks of that name."""
    machine = f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}"
    where = f"Blender {bpy.app.version_string}, NumPy {np.__version__}, {machine}."
    fill_table(REPORT, name, where, rows)


def write_plot(rows: list[Row]) -> None:
    """Time ratio and worst stretch over the number of vertices."""
    colours = {"edge": "#0969da", "two corners": "#cf222e"}

    def curves(key: str, label: str, width: float = 1.5) -> list[svg.Curve]:
        return [
            svg.Curve(
                label=f"{label}, {pinned}",
                points=[
                    (float(r["vertices"]), float(r[key])) for r in rows if r["pinned"] == pinned
                ],
                colour=colour,
                marker="<circle r='3'/>",
                width=width,
            )
            for pinned, colour in colours.items()
        ]

    most = max(float(row["vertices"]) for row in rows)
    ratio = svg.Panel(
        title="Time of a bake, as a share of Cloth's",
        x_label="vertices",
        y_label="ratio",
        x_range=(0.0, most),
        y_range=(0.0, max(1.0, *(float(row["time ratio"]) for row in rows))),
        curves=curves("time ratio", "Verlet / Cloth"),
    )
    stretch = svg.Panel(
        title="Worst stretch of any edge",
        x_label="vertices",
        y_label="%",
        x_range=(0.0, most),
        y_range=(0.001, 1000.0),
        curves=[
            *curves("Verlet worst stretch %", "Verlet", 2.5),
            *curves("Cloth worst stretch %", "Cloth", 1.0),
        ],
        is_log=True,
    )
    PLOT.write_text(svg.draw("Verlet beside Blender's Cloth", [ratio, stretch]))


def main() -> None:
    """Measures the sides asked for, or all."""
    verlet_addon.register()
    sides = [int(word) for word in sys.argv[1:]] or list(SIDES)
    rows = [measure(side, pinned) for pinned in ("edge", "two corners") for side in sides]
    if not sys.argv[1:]:
        write_table("table", rows)
        write_plot(rows)
    verlet_addon.unregister()


if __name__ == "__main__":
    main()
