"""Take the pictures and films of docs/start and docs/how_to in a window of real Blender.

    blender --factory-startup --enable-event-simulate --python-exit-code 1 \
        --python docs/figures/in_window.py [-- flag]

They are taken on the way through the steps that tests/window/manual tries, of all pages or of those
that are named, where the extension is installed. A screen of 1400 by 2200 has room for the panels,
which are drawn at twice their resolution. It fails where one of the steps does.
"""

import json
import subprocess
import sys
import traceback
from collections.abc import Generator, Iterable, Iterator
from math import radians
from pathlib import Path
from typing import Any

import bpy
from mathutils import Matrix, Vector

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from docs.figures.drawn_texts import Drawn, record_panels  # noqa: E402
from tests.test_labels import labels  # noqa: E402
from tests.window.hand import Hand, Steps, play, wait  # noqa: E402
from tests.window.manual import bakes, cloth, garments, rigs, ropes, solids, start  # noqa: E402

EXTENSION = "bl_ext.user_default.verlet_soft_body"
IMAGES = ROOT / "docs" / "images"
LABELS = IMAGES / "labels.json"
"""Which of our labels each picture of a panel shows."""
PAGES = (start, cloth, garments, solids, ropes, rigs, bakes)
RATE = 12
"""Pictures a second of a film, each of which shows every other frame."""
SECONDS = 12
"""What a film lasts at most, with half a second before its first picture and one after its last."""
TURN, NEARER = radians(40.0), 0.85
"""The second camera of a film: its turn about the vertical, and its distance to the first's."""
ROW = 44
"""Height of a row of a panel [pixels of the screen]."""


class Camera(Hand):
    """A hand that keeps pictures of what its steps come to."""

    frames = 250

    def take(self, name: str, *panels: str, mark: str = "") -> Steps:
        """Saves what the tab shows of panels as docs/images/NAME.png, with a frame around a row."""
        yield from self.over_view()
        yield from self.redrawn()
        drawn = [DRAWN[panel] for panel in panels]
        places = yield from self.buttons()
        if mark and mark not in places:
            places |= yield from self.buttons(0.3, until=mark)
        rows = {what: y for what, (_, y) in places.items() if any(each.has(what) for each in drawn)}
        for what in {max(rows, key=rows.__getitem__), min(rows, key=rows.__getitem__), mark} & {
            *rows
        }:
            rows[what] = yield from self._upper_edge(*places[what])
        yield from self.over_view()
        yield from wait(1.0)
        top = max(rows.values()) + drawn[0].lines_above * ROW + 24
        low = min(rows.values()) - drawn[-1].lines_below * ROW - 56
        region = self.region("UI")
        cut(
            self.picture(name),
            name,
            (region.x + 18, low, region.width - 78, top - low),
            rows.get(mark),
        )
        texts = sorted({text for each in drawn for text in each.texts if labels().fullmatch(text)})
        note(name, texts)

    def _upper_edge(self, x: int, y: int) -> Generator[None, None, int]:
        """The upper edge of the button at a place [pixels]."""
        what = None
        for higher in range(y, y + ROW, 3):
            yield from self.move(x, higher)
            what = what or self.under_mouse()
            if self.under_mouse() != what:
                return higher
        return y

    def film(self, name: str) -> Steps:
        """Saves the frames of the scene as docs/images/NAME.webp: by its camera, then nearer by.

        The second time from another side, and each frame of them where there is time for that,
        which is half as fast; of long ones the end.
        """
        scene: Any = bpy.context.scene
        self._light(scene)
        frames = range(scene.frame_start, scene.frame_end + 1)
        fast = frames[:: scene.render.fps // RATE]
        first = yield from self._pictures(name, fast)
        left = round((SECONDS - 1.5) * RATE) - len(first)
        again = frames if len(frames) <= left else fast[-left:]
        camera = self._nearer(scene)
        second = yield from self._pictures(f"{name}_nearer", again)
        bpy.data.objects.remove(camera)
        save(name, [*first[:1] * (RATE // 2), *first, *second, *second[-1:] * RATE])

    def film_loop(self, name: str) -> Steps:
        """Saves a loop as docs/images/NAME.webp, which has no end."""
        scene: Any = bpy.context.scene
        self._light(scene)
        frames = range(scene.frame_start, scene.frame_end)  # the last frame is the first
        save(name, (yield from self._pictures(name, frames[:: scene.render.fps // RATE])))

    def _pictures(self, name: str, frames: Iterable[int]) -> Generator[None, None, list[Path]]:
        """Frames of the scene by its camera, as pictures in build/films/NAME."""
        scene: Any = bpy.context.scene
        folder, pictures = ROOT / "build" / "films" / name, []
        for frame in frames:
            scene.frame_set(frame)
            pictures.append(folder / f"{frame:04}.png")
            scene.render.filepath = str(pictures[-1])
            with self.override():
                bpy.ops.render.opengl(write_still=True, view_context=True)
            yield
        return pictures

    def _nearer(self, scene: Any) -> Any:
        """A new camera of the scene, turned and nearer by: it looks at where the bodies are.

        It goes along with the scene's, where that follows them.
        """
        bodies = [obj for obj in scene.objects if obj.verlet.enabled]
        corners = []
        for frame in (scene.frame_start, scene.frame_end):
            scene.frame_set(frame)
            now, here = bpy.context.evaluated_depsgraph_get(), scene.camera.matrix_world.translation
            for obj in (each.evaluated_get(now) for each in bodies):
                corners += [obj.matrix_world @ Vector(corner) - here for corner in obj.bound_box]
        ahead = sum(corners, Vector()) / len(corners)
        away = -ahead
        away.rotate(Matrix.Rotation(TURN, 3, "Z"))
        camera: Any = bpy.data.objects.new("Nearer", scene.camera.data)
        scene.collection.objects.link(camera)
        camera.matrix_world = away.to_track_quat("Z", "Y").to_matrix().to_4x4()
        camera.location = ahead + NEARER * away
        along = camera.constraints.new("COPY_LOCATION")
        along.target, along.use_offset = scene.camera, True
        scene.camera = camera
        return camera

    def _light(self, scene: Any) -> None:
        """Gives the view bright plain light, so that folds are seen, and nothing but the scene."""
        space = self.area.spaces.active
        space.overlay.show_overlays, shading = False, space.shading
        shading.type, shading.color_type, shading.studio_light = "SOLID", "MATERIAL", "paint.sl"
        shading.show_shadows, shading.shadow_intensity = True, 0.3
        shading.show_specular_highlight = False
        shading.background_type, shading.background_color = "VIEWPORT", (0.45, 0.55, 0.65)
        scene.render.resolution_x, scene.render.resolution_y = 720, 405
        scene.display.render_aa, scene.render.resolution_percentage = "OFF", 200  # made half as big


def cut(screen: Path, name: str, box: tuple[int, int, int, int], row: int | None) -> None:
    """Saves a part of the screen, whose left, bottom, width and height are given, as a picture."""
    left, low, width, height = box
    whole = subprocess.run(
        ["convert", screen, "-format", "%h", "info:"], check=True, capture_output=True
    )
    top = int(whole.stdout) - low - height
    frame: list[str] = []
    if row is not None:
        y = low + height - row + 20
        corners = f"6,{y - 28} {width - 8},{y + 28} 10,10"
        frame = ["-fill", "none", "-stroke", "#ff9a3c", "-strokewidth", "4"]
        frame += ["-draw", f"roundrectangle {corners}"]
    path = IMAGES / f"{name}.png"
    crop = ["-crop", f"{width}x{height}+{left}+{top}", "+repage", *frame]
    small = ["-dither", "None", "-colors", "64", f"PNG8:{path}"]
    subprocess.run(["convert", screen, *crop, *small], check=True)
    print(path, path.stat().st_size // 1000, "kB", flush=True)


def save(name: str, pictures: list[Path]) -> None:
    """Saves pictures as a film, which begins anew when it ends."""
    path = IMAGES / f"how_to_{name}.webp"
    looks = ["-resize", "50%", "-quality", "40", "-loop", "0"]
    run: list[str | Path] = ["convert", "-delay", str(100 // RATE), *pictures, *looks, path]
    subprocess.run(run, check=True)
    print(path, path.stat().st_size // 1000, "kB", flush=True)


def note(name: str, texts: list[str]) -> None:
    """Writes which labels a picture shows."""
    known = json.loads(LABELS.read_text(encoding="utf-8")) if LABELS.exists() else {}
    known[f"{name}.png"] = texts
    text = json.dumps(dict(sorted(known.items())), indent=1, ensure_ascii=False)
    LABELS.write_text(text + "\n", encoding="utf-8")


def follow(wanted: list[str]) -> Iterator[None]:
    """Takes the steps of pages, one after the other, each in the file that Blender opens with."""
    found = {
        name.removeprefix("test_page_"): steps
        for module in PAGES
        for name, steps in vars(module).items()
        if name.startswith("test_page_")
    }
    failed: list[str] = []
    for name in wanted or found:
        bpy.ops.wm.read_homefile(use_factory_startup=True)
        yield from wait(1.0)
        print(name, flush=True)
        try:
            yield from found[name](Camera())
        except Exception:
            traceback.print_exc()
            failed.append(name)
    assert not failed, failed


DRAWN: dict[str, Drawn] = {}
"""What the panels of the tab have drawn last, by their titles."""
preferences: Any = bpy.context.preferences
preferences.view.show_splash, preferences.view.ui_scale = False, 2.0
preferences.system.viewport_aa, preferences.system.use_region_overlap = "OFF", False
bpy.ops.preferences.addon_enable(module=EXTENSION)
record_panels(f"{EXTENSION}.verlet_addon.blender.ui.panel_base", DRAWN)
play(follow(sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []), after=3.0)
