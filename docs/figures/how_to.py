"""Draw the pictures of pages in docs/how_to: samples at their first frame and in motion.

`make pictures` draws all of them, which takes minutes; names of samples draw those alone.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import bpy

import verlet_addon
from sample_blends.bake_demo import prepare_render, render_strip
from verlet_addon.blender.cli.output_capture import quiet
from verlet_addon.blender.cli.pictures import save_pixels

ROOT = Path(__file__).parents[2]
FRAMES = {
    "beach_ball": (20, 110),
    "cape": (1, 60),
    "covered_table": (8, 72),
    "curtain": (1, 60),
    "dancer": (1, 60),
    "dress": (1, 72),
    "flag_in_wind": (1, 108),
    "pond": (12, 40),
    "ragdoll": (8, 40),
    "rope_bridge": (1, 60),
    "torn_banner": (8, 30),
}
"""Samples that pages show, and which two frames of each."""


def main(names: list[str]) -> None:
    """Bakes samples up to the frames that are shown, and renders these side by side."""
    verlet_addon.register()
    try:
        for name in names or FRAMES:
            draw(name)
    finally:
        verlet_addon.unregister()


def draw(name: str) -> None:
    """Draws the picture of one sample."""
    operators: Any = bpy.ops
    with TemporaryDirectory() as folder:
        with quiet():
            bpy.ops.wm.open_mainfile(filepath=str(ROOT / "sample_blends" / f"{name}.blend"))
            bpy.ops.wm.save_as_mainfile(filepath=f"{folder}/{name}.blend")
        scene: Any = bpy.context.scene
        scene.frame_end = FRAMES[name][-1]
        operators.verlet.bake()
        prepare_render(scene, width=480, samples=48)
        pixels = render_strip(scene, FRAMES[name], Path(folder) / "frame.png")
    path = ROOT / "docs" / "images" / f"how_to_{name}.jpg"
    save_pixels(pixels, path)
    print(path.relative_to(ROOT), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
