"""Film the first cloth in a window of real Blender, where the extension is installed.

    blender --factory-startup --enable-event-simulate --python docs/figures/first_cloth.py

The whole window, so that README shows what Blender looks like with the add-on; in_window.py takes
all other pictures and films.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

import bpy

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from tests.window.hand import Hand, Steps, play, wait, wait_until  # noqa: E402

EXTENSION = "bl_ext.user_default.verlet_soft_body"
IMAGES = ROOT / "docs" / "images"
END = 60
"""Last frame of the first cloth."""
RATE = 12
"""Pictures a second of a film, each of which shows every other frame."""


def first_cloth() -> Steps:
    """The steps of docs/start/first_cloth.md."""
    hand = Hand()
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    operators: Any = bpy.ops
    with hand.override():
        operators.verlet.add_cloth()
    scene: Any = bpy.context.scene
    scene.frame_end = END
    view = hand.area.spaces.active.region_3d
    view.view_location, view.view_distance = (0.2, 0.9, 1.2), 7.0
    yield from hand.sidebar()
    yield from wait(1.0)
    added = hand.picture("first_cloth_added")
    place = yield from hand.find("bpy.ops.verlet.bake()")
    yield from hand.click(place)
    cloth: Any = bpy.data.objects["Cloth"]
    yield from wait_until(lambda: len(cloth.verlet.baked_keys) == END, seconds=300.0)
    yield from hand.over_view()
    yield from wait(1.0)
    frames = []
    for frame in range(1, END + 1, scene.render.fps // RATE):
        scene.frame_set(frame)
        yield from hand.redrawn()
        frames.append(hand.picture(f"film_{frame:04}"))
    film("first_cloth", [*[added] * RATE, *frames[:1] * RATE, *frames * 2, *frames[-1:] * RATE])


def film(name: str, frames: list[Path]) -> None:
    """Writes pictures of the screen as docs/images/NAME.webp, which plays without end."""
    path = IMAGES / f"{name}.webp"
    shown = ["-resize", "960x", "-quality", "60", "-loop", "0"]
    command: list[str | Path] = ["convert", "-delay", str(100 // RATE), *frames, *shown, path]
    subprocess.run(command, check=True)
    print(path, flush=True)


preferences: Any = bpy.context.preferences
preferences.view.show_splash, preferences.view.ui_scale = False, 2.0
bpy.ops.preferences.addon_enable(module=EXTENSION)
play(first_cloth(), after=3.0)
