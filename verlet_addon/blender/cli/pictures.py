"""Pictures as arrays, read and written by Blender, and text that Blender writes into them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..scene.file_context import file_context
from .output_capture import quiet

Pixels = NDArray[np.float32]
"""(height, width, 4) colors, the lowest row first."""

_LETTER_WIDTH = 0.6
"""Width of a letter, as a share of the font's size, that hardly any text exceeds."""
_LINE_HEIGHT = 1.5
"""Distance of lines, as a share of the font's size."""


def load_pixels(path: Path) -> Pixels:
    """Reads a picture."""
    image: Any = bpy.data.images.load(str(path))
    width, height = image.size
    pixels = np.empty(width * height * 4, np.float32)
    image.pixels.foreach_get(pixels)
    bpy.data.images.remove(image)
    return pixels.reshape(height, width, 4)


def save_pixels(pixels: Pixels, path: Path) -> None:
    """Saves a picture as a PNG, or as a JPEG of a tenth of that size."""
    height, width, _ = pixels.shape
    image: Any = bpy.data.images.new(path.stem, width, height)
    image.pixels.foreach_set(np.ascontiguousarray(pixels).ravel())
    image.filepath_raw = str(path)
    image.file_format = "JPEG" if path.suffix.lower() == ".jpg" else "PNG"
    image.save(quality=90)
    bpy.data.images.remove(image)


def render_labels(
    labels: Sequence[str], *, width: int, folder: Path, size: float | None = None
) -> list[Pixels]:
    """Renders texts as pictures of equal height, white on black, by Blender's video sequencer.

    Parameters
    ----------
    labels
        Texts of one or more lines; long ones are written in smaller letters.
    width
        Width of each picture [px].
    folder
        Folder for the pictures while they are made.
    size
        Size of the letters [px]; a twentieth of the width without it.
    """
    size = size or width / 20
    lines = max(label.count("\n") + 1 for label in labels)
    scene: Any = bpy.data.scenes.new("Labels")
    render = scene.render
    render.resolution_x, render.resolution_y = width, round(size * _LINE_HEIGHT * (lines + 0.5))
    render.resolution_percentage = 100
    render.image_settings.file_format, render.image_settings.color_mode = "PNG", "RGB"
    scene.view_settings.view_transform = "Standard"
    editor = scene.sequence_editor_create()
    # Blender 4.4 calls strips what were sequences.
    strips = editor.strips if hasattr(editor, "strips") else editor.sequences
    # Blender renders any scene at the frame of the active one.
    strip = _add_text(strips, file_context(bpy.context).scene.frame_current)
    pictures = []
    for label in labels:
        longest = max(map(len, label.split("\n")))
        strip.text = label
        strip.font_size = min(size, width / (_LETTER_WIDTH * max(longest, 1)))
        render.filepath = str(folder / "label.png")
        with quiet():
            bpy.ops.render.render(write_still=True, scene=scene.name)
        pictures.append(load_pixels(folder / "label.png"))
    bpy.data.scenes.remove(scene)
    return pictures


def _add_text(strips: Any, frame: int) -> Any:
    """Adds a white text that is shown at one frame, centred at the top."""
    length = {"length": 1} if bpy.app.version >= (5, 0, 0) else {"frame_end": frame + 1}
    strip = strips.new_effect(name="Label", type="TEXT", channel=1, frame_start=frame, **length)
    strip.color, strip.location = (1.0, 1.0, 1.0, 1.0), (0.5, 0.9)
    # Blender 4.4 calls anchors what were alignments of the whole text.
    anchor = ("anchor_x", "anchor_y") if hasattr(strip, "anchor_x") else ("align_x", "align_y")
    for name, value in zip(anchor, ("CENTER", "TOP"), strict=True):
        setattr(strip, name, value)
    if hasattr(strip, "alignment_x"):
        strip.alignment_x = "CENTER"
    return strip
