"""Times Verlet beside the Cloth Dynamics of Blender 5.2, for docs/how_it_works/benchmarks.md.

blender --background --factory-startup --python tests/benchmarks/cloth_dynamics.py

Its node group is an asset of Blender's own; the bpy wheels do not have it.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy as blender

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

import verlet_addon  # noqa: E402 - the path has to be set first
from tests.benchmarks.cloth import Row, make_sheet, play, run_cloth, run_verlet, write_table  # noqa: E402

bpy: Any = blender

ASSETS = "datafiles/assets/nodes/geometry_nodes_dynamics_assets.blend"
GROUP = "Cloth Dynamics (Experimental)"
FRAMES = 48


def run_dynamics(
    side: int, pinned: str, substeps: int, constraint_steps: int
) -> tuple[float, float, float]:
    """Plays Cloth Dynamics; its stock settings are 5 substeps of 15 constraint steps."""
    sheet = make_sheet(side, pinned)
    bpy.context.scene.frame_end = FRAMES
    path = Path(bpy.utils.resource_path("LOCAL")) / ASSETS
    if not path.exists():
        path = Path(bpy.utils.resource_path("SYSTEM")) / ASSETS
    with bpy.data.libraries.load(str(path)) as (_, wanted):
        wanted.node_groups = [GROUP]
    modifier = sheet.modifiers.new("Cloth Dynamics", "NODES")
    modifier.node_group = wanted.node_groups[0]
    inputs = {
        item.name: getattr(modifier.properties.inputs, item.identifier)
        for item in modifier.node_group.interface.items_tree
        if item.item_type == "SOCKET" and item.in_out == "INPUT"
    }
    inputs["Pin Group"].type, inputs["Pin Group"].attribute_name = "ATTRIBUTE", "Pin"
    inputs["Substeps"].value, inputs["Constraint Steps"].value = substeps, constraint_steps
    return play(sheet, side, FRAMES)


def measure(side: int, pinned: str) -> list[Row]:
    """Four lines of the table."""
    rivals: dict[str, Callable[[], tuple[float, float, float]]] = {
        "Verlet": lambda: run_verlet(side, pinned, FRAMES),
        "Cloth, quality 5": lambda: run_cloth(side, pinned, FRAMES),
        "Cloth Dynamics, 5 × 15": lambda: run_dynamics(side, pinned, 5, 15),
        "Cloth Dynamics, 20 × 15": lambda: run_dynamics(side, pinned, 20, 15),
    }
    rows: list[Row] = []
    for name, run in rivals.items():
        seconds, worst, nearly_all = run()
        rows.append(
            {
                "pinned": pinned,
                "vertices": side * side,
                "solver": name,
                "ms/frame": 1000 * seconds / FRAMES,
                "worst stretch %": 100 * worst,
                "99th percentile %": 100 * nearly_all,
            }
        )
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    """Measures two sizes, pinned at an edge and at two corners."""
    verlet_addon.register()
    rows = [
        row
        for pinned in ("edge", "two corners")
        for side in (51, 101)
        for row in measure(side, pinned)
    ]
    write_table("dynamics", rows)


main()
