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
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import bpy

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
        """Saves the frames of the scene through its camera as docs/images/NAME.webp."""
        scene: Any = bpy.context.scene
        self._light(scene)
        folder, frames = ROOT / "build" / "films" / name, []
        for frame in range(scene.frame_start, scene.frame_end + 1, scene.render.fps // RATE):
            scene.frame_set(frame)
            frames.append(folder / f"{frame:04}.png")
            scene.render.filepath = str(frames[-1])
            with self.override():
                bpy.ops.render.opengl(write_still=True, view_context=True)
            yield
        film = [*frames[:1] * (RATE // 2), *frames, *frames[-1:] * RATE]
        path = IMAGES / f"how_to_{name}.webp"
        looks = ["-quality", "55", "-loop", "0"]
        run: list[str | Path] = ["convert", "-delay", str(100 // RATE), *film, *looks, path]
        subprocess.run(run, check=True)
        print(path, path.stat().st_size // 1000, "kB", flush=True)

    def _light(self, scene: Any) -> None:
        """Gives the view bright plain light, so that folds are seen, and nothing but the scene."""
        space = self.area.spaces.active
        space.overlay.show_overlays, shading = False, space.shading
        shading.type, shading.color_type, shading.studio_light = "SOLID", "MATERIAL", "paint.sl"
        shading.show_shadows, shading.shadow_intensity = True, 0.3
        shading.show_specular_highlight = False
        shading.background_type, shading.background_color = "VIEWPORT", (0.45, 0.55, 0.65)
        scene.display.render_aa = "FXAA"
        scene.render.resolution_x, scene.render.resolution_y = 720, 405
        scene.render.resolution_percentage = 100


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
