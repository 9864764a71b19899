"""The part of the listing that needs a window.

`blender --python listing/in_window.py -- WHAT FOLDER`; WHAT is `clips`, for those of samples that
`films.prepare` has written into FOLDER, `first`, for the film of the first cloth, `window`, for a
picture of a baked sample in Blender's window, or `repository`, for one of Blender's preferences.
`first` and `window` need the installed extension, and all but `clips` --enable-event-simulate.
"""

import os
import subprocess
import sys
from math import radians
from pathlib import Path
from typing import Any

import bpy
from mathutils import Euler

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from listing.clips import FILMS, RATE  # noqa: E402
from listing.repository import repository  # noqa: E402
from tests.window.hand import Hand, Steps, play, wait, wait_until  # noqa: E402

EXTENSION = "bl_ext.user_default.verlet_soft_body"
LAST = 96
"""Last frame of the first cloth, at 24 a second."""
LONG = 600.0
"""Time within which a busy machine has baked it [s]."""
blender: Any = bpy


def clips(folder: Path) -> Steps:
    """Renders the frames of all clips, as the viewport shows them."""
    bpy.context.preferences.system.viewport_aa = "FXAA"
    for shots in FILMS.values():
        for shot in shots.values():
            bpy.ops.wm.open_mainfile(filepath=str(folder / f"clip_{shot.sample}.blend"))
            yield
            render_clip(folder / shot.sample, shot.frame, shot.last)
            yield


def render_clip(folder: Path, first: int, last: int) -> None:
    """Renders a clip's frames into a folder, so many a second as films have."""
    scene: Any = bpy.context.scene
    folder.mkdir(exist_ok=True)
    step = scene.render.fps / scene.render.fps_base / RATE
    for number in range(int((last - first) / step) + 1):
        at = first + number * step
        scene.frame_set(int(at), subframe=at % 1)
        scene.render.filepath = str(folder / f"{number:04}.jpg")
        with Hand().override():
            bpy.ops.render.opengl(write_still=True, view_context=False)


class Film:
    """Pictures of the window, numbered in the order in which a film shows them."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self._folder, self._number = folder, 0

    def hold(self, seconds: float) -> Steps:
        """Shows what the window shows, for a while."""
        yield
        path = self._folder / f"{self._number:04}.png"
        take_picture(path)
        copies = max(round(seconds * RATE), 1)
        for copy in range(self._number + 1, self._number + copies):
            os.link(path, self._folder / f"{copy:04}.png")
        self._number += copies


def take_picture(path: Path) -> None:
    """Keeps what the screen shows."""
    subprocess.run(["import", "-silent", "-window", "root", path], check=True)


def first(folder: Path) -> Steps:
    """The first cloth of the readme: Add, Bake, play."""
    hand, film = Hand(), Film(folder / "first")
    enable()
    yield from hand.over_view()
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    bpy.context.scene.frame_end = LAST
    yield from hand.sidebar()
    look_at_cloth(hand)
    yield from hand.over_view()
    yield from film.hold(0.6)
    yield from hand.press("A", shift=True)
    yield from wait(0.5)
    yield from film.hold(0.4)
    for letters in ("verlet", " cloth"):
        yield from hand.type(letters)
        yield from wait(0.5)
        yield from film.hold(0.5)
    yield from hand.press("RET")
    yield from wait_until(lambda: "Cloth" in bpy.data.objects, seconds=LONG)
    yield from wait(0.5)
    yield from film.hold(0.8)
    place = yield from hand.find("bpy.ops.verlet.bake()")
    yield from hand.move(*place)
    yield from wait(0.3)
    yield from film.hold(0.5)
    yield from hand.press("LEFTMOUSE")
    for _ in range(3):
        yield from wait(0.15)
        yield from film.hold(0.15)
    yield from wait_until(
        lambda: len(blender.data.objects["Cloth"].verlet.baked_keys) == LAST, seconds=LONG
    )
    yield from hand.over_view()
    yield from wait(0.5)
    yield from film.hold(0.7)
    for frame in range(1, LAST + 1, 24 // RATE):
        bpy.context.scene.frame_set(frame)
        yield from film.hold(0)


def look_at_cloth(hand: Hand) -> None:
    """Turns the view to where the cloth will hang, and shows it shaded."""
    view = hand.area.spaces.active
    view.region_3d.view_location, view.region_3d.view_distance = (0.2, 0.6, 1.3), 6.2
    view.region_3d.view_rotation = Euler((radians(78), 0, radians(28))).to_quaternion()
    view.shading.light, view.shading.studio_light = "STUDIO", "paint.sl"


def window(folder: Path) -> Steps:
    """A baked sample in Blender's window, with the tab beside it."""
    enable()
    bpy.ops.wm.open_mainfile(filepath=str(folder / "clip_dancer.blend"))
    hand = Hand()
    scene: Any = bpy.context.scene
    cape = scene.objects["Cape"]
    for obj in scene.objects:
        obj.select_set(obj == cape)
    bpy.context.view_layer.objects.active = cape
    scene.frame_set(60)
    view = hand.area.spaces.active
    view.region_3d.view_perspective, view.lock_camera = "CAMERA", False
    view.region_3d.view_camera_zoom = 20
    view.shading.light, view.shading.studio_light = "STUDIO", "paint.sl"
    view.shading.show_shadows, view.shading.shadow_intensity = True, 0.45
    view.overlay.show_extras = False
    view.overlay.show_floor = view.overlay.show_axis_x = view.overlay.show_axis_y = False
    yield from hand.sidebar()
    yield from hand.over_view()
    yield from wait(2.0)
    take_picture(folder / "window.png")


def added_repository(folder: Path) -> Steps:
    """Blender's preferences with the repository of the extension."""
    yield from repository(Hand())
    take_picture(folder / "repository.png")


def enable() -> None:
    """Enables the installed extension."""
    bpy.ops.preferences.addon_enable(module=EXTENSION)


bpy.context.preferences.view.show_splash = False
what, where = sys.argv[sys.argv.index("--") + 1 :]
parts = {"clips": clips, "first": first, "window": window, "repository": added_repository}
play(parts[what](Path(where)))
