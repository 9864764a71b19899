"""Make all that a listing of the extension shows, in dist/listing: `make listing`.

Icon, featured picture, six previews and four films, from the samples, and the picture of the
manual of how the repository is added, from the files of `make release`. What needs a window is done
by the Blender that is named; the add-on has to be installed there. Where the command has {size} in
it, that stands for the size of the screen that its window is to fill:

    make listing BLENDER_WINDOW='xvfb-run -a -s "-screen 0 {size}x24" blender'
"""

import argparse
import shlex
import subprocess
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, cast

import bpy
import numpy as np

import verlet_addon
from verlet_addon.blender.cli.output_capture import quiet
from verlet_addon.blender.cli.pictures import load_pixels, save_pixels

from . import repository
from .clips import FILMS, HEIGHT, RATE, WIDTH
from .films import prepare
from .icon import icon
from .pictures import PICTURES, SAMPLES, render_picture

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "dist" / "listing"
WORK = OUTPUT / "work"
"""Folder of what is made on the way: baked samples and frames."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Makes everything, or some steps of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("steps", nargs="*", metavar="STEP", help=f"one of {', '.join(STEPS)}")
    parser.add_argument("--blender", default="blender", help="command of a Blender with a window")
    options = parser.parse_args(arguments)
    if unknown := set(options.steps) - set(STEPS):
        parser.error(f"there is no step {', '.join(unknown)}")
    if "repository" in (options.steps or STEPS) and not repository.FILES.exists():
        parser.error("make release has to fill dist/repository first")
    WORK.mkdir(parents=True, exist_ok=True)
    for name, make in STEPS.items():
        if name in (options.steps or STEPS):
            make(options.blender)


def make_pictures() -> None:
    """Renders featured picture and previews, and the former smaller for README."""
    for name in PICTURES:
        path = OUTPUT / f"{name}.png"
        render_picture(name, WORK, path, width=1920, samples=SAMPLES)
        print(path)
    save_small(OUTPUT / "featured.png", ROOT / "docs" / "images" / "featured.jpg")


def save_icon(path: Path) -> None:
    """Saves the icon, with its opacity."""
    image: Any = bpy.data.images.new("Icon", 256, 256, alpha=True)
    image.pixels.foreach_set(icon().astype(np.float32).ravel())
    image.filepath_raw, image.file_format = str(path), "PNG"
    image.save()


def save_small(picture: Path, path: Path) -> None:
    """Saves a picture at half its size, for README."""
    pixels = load_pixels(picture)
    height, width, channels = pixels.shape
    halves = pixels.reshape(height // 2, 2, width // 2, 2, channels)
    save_pixels(halves.mean(axis=(1, 3)), path)


def show_repository(blender: str) -> None:
    """Takes a picture of Blender's preferences for the manual, of the rows that matter."""
    in_window(blender, "repository", *repository.SIZE)
    pixels = load_pixels(WORK / "repository.png")
    top, bottom = repository.ROWS
    rows = pixels[len(pixels) - bottom : len(pixels) - top]
    save_pixels(rows, ROOT / "docs" / "images" / "repository.png")


def bake() -> None:
    """Bakes all samples that are shown."""
    shots = [*PICTURES.values(), *(shot for film in FILMS.values() for shot in film.values())]
    cast(Any, bpy.context.preferences).filepaths.save_version = 0
    verlet_addon.register()
    try:
        for sample in dict.fromkeys(shot.sample for shot in shots):
            path = WORK / f"{sample}.blend"
            with quiet():
                bpy.ops.wm.open_mainfile(filepath=str(ROOT / "sample_blends" / path.name))
                bpy.ops.wm.save_as_mainfile(filepath=str(path))  # caches are beside it
            cast(Any, bpy.ops).verlet.bake()
            with quiet():
                bpy.ops.wm.save_mainfile()
            print(path)
    finally:
        verlet_addon.unregister()


def make_clips(blender: str) -> None:
    """Renders the frames of all clips as the viewport of Blender shows them."""
    for film in FILMS.values():
        for shot in film.values():
            prepare(shot, WORK / f"{shot.sample}.blend", WORK)
    in_window(blender, "clips", 1280, 720)


def show_window(blender: str) -> None:
    """Takes pictures of Blender's window: for the film of the first cloth, and the last preview."""
    in_window(blender, "first", WIDTH, HEIGHT)
    in_window(blender, "window", 1920, 1080)
    (WORK / "window.png").replace(OUTPUT / "preview_6_window.png")


def in_window(blender: str, what: str, width: int, height: int) -> None:
    """Runs a part of `in_window` in a Blender of a size [pixels]."""
    script = ROOT / "listing" / "in_window.py"
    command = shlex.split(blender.replace("{size}", f"{width}x{height}"))
    options = ["--factory-startup", "--enable-event-simulate", "--window-fullscreen"]
    subprocess.run([*command, *options, "--python", script, "--", what, WORK], check=True)


def make_films() -> None:
    """Writes the films."""
    first = sorted((WORK / "first").glob("*.png"))
    write_film(OUTPUT / "film_1_first_cloth.mp4", [("", first)])
    for name, film in FILMS.items():
        parts = [(text, sorted((WORK / shot.sample).glob("*.jpg"))) for text, shot in film.items()]
        write_film(OUTPUT / f"{name}.mp4", parts)


def write_film(path: Path, parts: Iterable[tuple[str, Sequence[Path]]]) -> None:
    """Writes pictures as a film, with a caption over each part of it."""
    scene: Any = bpy.data.scenes.new(path.stem)
    strips = scene.sequence_editor_create().strips
    start = 1
    for text, frames in parts:
        image = strips.new_image(path.stem, str(frames[0]), channel=1, frame_start=start)
        for frame in frames[1:]:
            image.elements.append(frame.name)
        if text:
            _add_caption(strips, text, start, len(frames))
        start += len(frames)
    scene.frame_start, scene.frame_end = 1, start - 1
    render = scene.render
    render.resolution_x, render.resolution_y, render.resolution_percentage = WIDTH, HEIGHT, 100
    render.fps, render.fps_base = RATE, 1.0
    scene.view_settings.view_transform = "Standard"
    render.image_settings.media_type, render.image_settings.file_format = "VIDEO", "FFMPEG"
    render.ffmpeg.format, render.ffmpeg.codec = "MPEG4", "H264"
    render.ffmpeg.constant_rate_factor, render.ffmpeg.ffmpeg_preset = "HIGH", "GOOD"
    render.filepath, render.use_file_extension = str(path), False
    with quiet():
        bpy.ops.render.render(animation=True, scene=scene.name)
    bpy.data.scenes.remove(scene)
    print(f"{path}: {(start - 1) / RATE:.1f} s")


def _add_caption(strips: Any, text: str, start: int, length: int) -> None:
    """Adds a text at the lower left, for so many frames."""
    caption = strips.new_effect(name=text, type="TEXT", channel=2, frame_start=start, length=length)
    caption.text, caption.font_size = text, 44
    # Where there is no interface, Blender takes the font of its text editor.
    utils: Any = bpy.utils
    fonts = Path(utils.system_resource("DATAFILES", path="fonts"))
    caption.font = bpy.data.fonts.load(str(fonts / "Inter.woff2"), check_existing=True)
    caption.color, caption.location = (1.0, 1.0, 1.0, 1.0), (0.035, 0.06)
    caption.anchor_x, caption.anchor_y = "LEFT", "BOTTOM"
    caption.use_shadow, caption.shadow_color = True, (0.0, 0.0, 0.0, 0.35)


STEPS: dict[str, Callable[[str], None]] = {
    "icon": lambda _: save_icon(ROOT / "listing" / "icon.png"),
    "bake": lambda _: bake(),
    "pictures": lambda _: make_pictures(),
    "clips": make_clips,
    "window": show_window,
    "films": lambda _: make_films(),
    "repository": show_repository,
}
"""What each step does, given the command of a Blender with a window."""


if __name__ == "__main__":
    main()
