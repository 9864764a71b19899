"""The first frames of sample files, as Blender bakes them."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from tests.same.bakes import hashed

FOLDER = Path(__file__).parents[2] / "sample_blends"
FRAMES, SUBSTEPS = 4, 3
"""Frames after the first, and steps in each."""
OTHER_FRAMES = {"dress": 2, "pond": 40, "beach_ball": 2}
"""One is slow with NumPy's kernels; into another something falls later."""
OTHER_SUBSTEPS = {"beach_ball": 10}
"""Less than its pressure needs is an error."""

LEFT_OUT = ["sitter", "jumper", "long_hair", "curls", "ponytail", "fur"]
"""The first frames of one are those of dancer, to the bit; jumper takes minutes; hair has caches in
place of keys, and a family of its own."""


def bake_file(path: Path) -> Iterator[str]:
    """Yields the hash of every frame's keys, of the bodies by name."""
    import bpy

    import verlet_addon
    from tests.blender.scenes import baked, verlet
    from verlet_addon.blender.cli.output_capture import quiet

    verlet_addon.register()
    try:
        with quiet():
            bpy.ops.wm.open_mainfile(filepath=str(path))
            scene: Any = bpy.context.scene
            scene.frame_end = scene.frame_start + OTHER_FRAMES.get(path.stem, FRAMES)
            scene.verlet.substeps = OTHER_SUBSTEPS.get(path.stem, SUBSTEPS)
            verlet.bake()
        bodies = {obj.name: obj for obj in scene.objects if obj.verlet.enabled}
        keys = [baked(bodies[name]) for name in sorted(bodies)]
        for name in sorted(keys[0]):
            yield hashed([body[name] for body in keys])
    finally:
        verlet_addon.unregister()  # or else Blender as a module does not end cleanly


SCENES: dict[str, Callable[[], Iterator[str]]] = {
    path.stem: partial(bake_file, path)
    for path in sorted(FOLDER.glob("*.blend"))
    if path.stem not in LEFT_OUT
}
