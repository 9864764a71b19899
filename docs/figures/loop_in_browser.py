"""Draw the picture of docs/how_to/loop.md: its web page, with a loop of the flag in the wind.

It needs Chromium and npm.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import bpy
import numpy as np

import verlet_addon
from tests.blender.browser import ROOT, pictures_of
from tests.blender.test_loop_page import as_the_docs_say, page
from verlet_addon.blender.cli.pictures import load_pixels, save_pixels

LENGTH = 48
"""Frames of the loop."""
TIMES = (0.0, 0.5, 1.0, 1.5)
"""Times that are shown [s]: the loop takes two."""
CROP = (slice(0, 500), slice(100, 700))
"""The flag in the page, in rows and columns of pixels."""


def main() -> None:
    """Bakes, exports, and draws the page."""
    operators: Any = bpy.ops
    verlet_addon.register()
    try:
        operators.verlet.open_sample(name="FLAG_IN_WIND")
        operators.verlet.bake(loop=LENGTH)
        operators.verlet.scene_range_to_loop()
        with TemporaryDirectory() as name:
            folder = Path(name)
            options = as_the_docs_say()
            operators.export_scene.gltf(filepath=str(folder / "Flag.glb"), **options)
            shown = []
            for number, data in enumerate(pictures_of(page(), TIMES, folder)):
                path = folder / f"{number}.png"
                path.write_bytes(data)
                shown.append(load_pixels(path)[CROP])
            path = ROOT / "docs" / "images" / "loop_in_browser.jpg"
            save_pixels(np.concatenate(shown, axis=1), path)
    finally:
        verlet_addon.unregister()


if __name__ == "__main__":
    main()
