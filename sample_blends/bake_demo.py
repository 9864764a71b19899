"""Bake every sample, and show what came out: `make demo`.

Into the folder given it writes the baked files, those with caches as archives too, contact.png
(six frames of each), samples.jpg (for docs/start/what_it_does.md), and flag.mp4.
"""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from time import monotonic
from typing import Any, cast
from zipfile import ZIP_DEFLATED, ZipFile

import bpy
import numpy as np

import verlet_addon
from verlet_addon.blender.cli.output_capture import quiet
from verlet_addon.blender.cli.pictures import Pixels, load_pixels, save_pixels

FOLDER = Path(__file__).parent
FRAMES_SHOWN = 6
ANIMATED = "flag"
SHOWN = {
    "covered_table": 72,
    "dress": 72,
    "flag_in_wind": 108,
    "pile": 72,
    "jellies": 12,
    "ragdoll": 12,
    "pond": 28,
    "rope_bridge": 60,
    "torn_banner": 18,
}
"""Samples that the manual shows, row by row, and which frame of each."""


def main(output: Path) -> None:
    """Bake, render and say where everything is."""
    output.mkdir(parents=True, exist_ok=True)
    cast(Any, bpy.context.preferences).filepaths.save_version = 0  # no .blend1 beside a file
    verlet_addon.register()
    try:
        strips = [demonstrate(sample, output) for sample in sorted(FOLDER.glob("*.blend"))]
        rows = [[picture(output, *item) for item in row] for row in in_threes(SHOWN.items())]
    finally:
        # Blender as a module does not end cleanly while classes of ours are registered.
        verlet_addon.unregister()
    sheet = output / "contact.png"
    save_pixels(np.concatenate(strips[::-1]), sheet)
    print(f"Rendered frames, side by side: {sheet}")
    chosen = output / "samples.jpg"
    save_pixels(np.concatenate([np.concatenate(row, axis=1) for row in rows[::-1]]), chosen)
    print(f"The picture of the manual: {chosen}")


def demonstrate(sample: Path, output: Path) -> Pixels:
    """Bakes one sample, saves it, and returns a strip of rendered frames."""
    baked = output / sample.name
    with quiet():
        bpy.ops.wm.open_mainfile(filepath=str(sample))
        bpy.ops.wm.save_as_mainfile(filepath=str(baked), compress=True)  # caches are beside it
    scene: Any = bpy.context.scene
    started = monotonic()
    cast(Any, bpy.ops).verlet.bake()
    seconds = monotonic() - started
    with quiet():
        bpy.ops.wm.save_mainfile(compress=True)
    pack(baked)
    print(f"Baked frames {scene.frame_start} to {scene.frame_end} in {seconds:.1f} s: {baked}")
    prepare_render(scene, width=320, samples=8)
    frames = np.linspace(scene.frame_start, scene.frame_end, FRAMES_SHOWN).round().astype(int)
    strip = render_strip(scene, frames.tolist(), output / "frame.png")
    if sample.stem == ANIMATED:
        prepare_render(scene, width=384, samples=8)
        print(f"A short animation: {render_film(scene, output / f'{ANIMATED}.mp4')}")
    return strip


def pack(baked: Path) -> None:
    """Packs a file that has a folder of caches beside it into one archive together with that."""
    caches = baked.with_name(f"{baked.stem}_verlet_cache")
    if caches.is_dir():
        with ZipFile(baked.with_suffix(".zip"), "w", ZIP_DEFLATED) as archive:
            for file in (baked, *sorted(each for each in caches.rglob("*") if each.is_file())):
                archive.write(file, file.relative_to(baked.parent))


def in_threes(items: Iterable[tuple[str, int]]) -> list[list[tuple[str, int]]]:
    """Puts three samples into a row."""
    everything = list(items)
    return [everything[start : start + 3] for start in range(0, len(everything), 3)]


def picture(output: Path, name: str, frame: int) -> Pixels:
    """Renders a frame of a baked sample for the manual."""
    with quiet():
        bpy.ops.wm.open_mainfile(filepath=str(output / f"{name}.blend"))
    scene: Any = bpy.context.scene
    prepare_render(scene, width=426, samples=32)
    return render_strip(scene, [frame], output / "frame.png")


def prepare_render(scene: Any, *, width: int, samples: int) -> None:
    """Makes rendering quick: small, and few samples; denoised they look like four times as many."""
    scene.render.engine = "CYCLES"
    scene.render.resolution_x, scene.render.resolution_y = width, width * 9 // 16
    scene.render.resolution_percentage = 100
    scene.render.use_persistent_data = True
    scene.cycles.samples = samples
    scene.cycles.use_denoising, scene.cycles.denoising_quality = True, "FAST"


def render_strip(scene: Any, frames: Sequence[int], passing: Path) -> Pixels:
    """Renders frames and puts them side by side; `passing` is where each is kept meanwhile."""
    scene.render.image_settings.file_format = "PNG"
    scene.render.filepath = str(passing)
    pictures = []
    for frame in frames:
        scene.frame_set(frame)
        with quiet():
            bpy.ops.render.render(write_still=True)
        pictures.append(load_pixels(passing))
    passing.unlink()
    return np.concatenate(pictures, axis=1)


def render_film(scene: Any, path: Path) -> Path:
    """Renders the scene's frames into a film that any player opens."""
    image = scene.render.image_settings
    if bpy.app.version >= (5, 0, 0):
        image.media_type = "VIDEO"
    image.file_format = "FFMPEG"
    scene.render.ffmpeg.format, scene.render.ffmpeg.codec = "MPEG4", "H264"
    scene.render.ffmpeg.constant_rate_factor = "HIGH"
    scene.render.filepath, scene.render.use_file_extension = str(path), False
    # Every other frame, shown for twice as long.
    scene.frame_step, scene.render.fps = 2, scene.render.fps // 2
    with quiet():
        bpy.ops.render.render(animation=True)
    return path


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
