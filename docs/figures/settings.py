"""Draw the pictures of settings that docs/site/pictures.toml tells of: what each value does.

`make pictures` draws all of them, which takes minutes; names of pictures, or beginnings of names,
draw those alone.
"""

import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from math import radians
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import bpy
import numpy as np

import verlet_addon
from docs.figures.measures import MEASURES
from docs.figures.svg import Curve, Panel, draw
from docs.site.pictures import Picture, Result, symptoms
from docs.site.settings_pages import pictures
from sample_blends.bake_demo import prepare_render
from verlet_addon.blender.cli.output_capture import quiet
from verlet_addon.blender.cli.pictures import Pixels, load_pixels, render_labels

WIDTH, HEIGHT = 320, 270
"""Of each result in a picture [pixels]."""
GAP = 4
"""Between results [pixels]."""
LETTERS = 30.0
"""Size of the captions [pixels]."""
PAPER, INK = (0.957, 0.961, 0.969), (0.14, 0.16, 0.18)
"""Colors of captions."""
COLOURS = ("#0072b2", "#24292f", "#d55e00", "#009e73")
"""Of the curves of a plot, which color-blind people tell apart."""


def main(names: list[str]) -> None:
    """Draws pictures whose names begin so, or all."""
    verlet_addon.register()
    try:
        for picture in (*pictures(), *symptoms()):
            if not names or picture.name.startswith(tuple(names)):
                (plot if picture.measure else render)(picture)
                print(picture.path.name, picture.path.stat().st_size, flush=True)
    finally:
        verlet_addon.unregister()


def render(picture: Picture) -> None:
    """Renders the results at the picture's frame, side by side with captions beneath."""
    with TemporaryDirectory() as folder:
        passing = Path(folder) / "result.png"
        rendered = []
        for result in picture.results:
            scene = baked(result, picture.frame)
            prepare_render(scene, width=WIDTH, samples=4)
            scene.cycles.max_bounces = 3
            scene.render.resolution_y = HEIGHT
            scene.render.image_settings.file_format = "PNG"
            scene.render.filepath = str(passing)
            with quiet():
                bpy.ops.render.render(write_still=True)
            rendered.append(load_pixels(passing))
        captions = [result.caption for result in picture.results]
        labels = render_labels(captions, width=WIDTH, folder=Path(folder), size=LETTERS)
    tiles = [np.concatenate(pair) for pair in zip(map(inked, labels), rendered, strict=True)]
    rows = [beside(tiles[first : first + 3]) for first in range(0, len(tiles), 3)]
    save(np.concatenate(rows[::-1]), picture.path)


def beside(tiles: Sequence[Pixels]) -> Pixels:
    """Up to three pictures in a row, with gaps between."""
    gap = np.full((len(tiles[0]), GAP, 4), (*PAPER, 1.0), np.float32)
    return np.concatenate([part for tile in tiles for part in (gap, tile)][1:], axis=1)


def inked(label: Pixels) -> Pixels:
    """A label of white on black as ink on paper, without the lower half line that is empty."""
    share = label[round(LETTERS / 2) :, :, :1]
    paper, ink = (np.array((*color, 1.0), np.float32) for color in (PAPER, INK))
    return np.asarray(paper + share * (ink - paper))


def save(pixels: Pixels, path: Path) -> None:
    """Saves a picture as WebP."""
    height, width, _ = pixels.shape
    image: Any = bpy.data.images.new(path.stem, width, height)
    image.pixels.foreach_set(np.ascontiguousarray(pixels, np.float32).ravel())
    image.filepath_raw, image.file_format = str(path), "WEBP"
    image.save(quality=80)
    bpy.data.images.remove(image)


def plot(picture: Picture) -> None:
    """Draws what the results measure, over time."""
    axis, measure = MEASURES[picture.measure]
    curves = []
    for result, colour in zip(picture.results, COLOURS, strict=False):
        scene = baked(result, picture.frame)
        points = [(frame / 24.0, measure(places)) for frame, places in enumerate(shown(scene))]
        label = result.caption.replace("\n", ", ")
        curves.append(Curve(label=label, points=points, colour=colour, width=2.0))
    values = [value for curve in curves for _, value in curve.points]
    margin = 0.05 * (max(values) - min(values))
    panel = Panel(
        title="",
        x_label="time [s]",
        y_label=axis,
        x_range=(0.0, (picture.frame - 1) / 24.0),
        y_range=(min(values) - margin, max(values) + margin),
        curves=curves,
    )
    picture.path.write_text(draw("", [panel]), encoding="utf-8")


def shown(scene: Any) -> Iterator[Any]:
    """World positions (n, 3) of the body at each frame: vertices, points or ends of bones."""
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        body: Any = bpy.data.objects["Body"]
        body = body.evaluated_get(cast(Any, bpy.context).evaluated_depsgraph_get())
        if body.type == "ARMATURE":
            points = np.array([bone.tail[:] for bone in body.pose.bones])
        elif body.type == "CURVES":
            points = np.array([point.position[:] for point in body.data.points])
        else:
            points = np.array([vertex.co[:] for vertex in body.data.vertices])
        turn = np.array(body.matrix_world)
        yield points @ turn[:3, :3].T + turn[:3, 3]


def baked(result: Result, frame: int) -> Any:
    """The scene of a result, baked up to a frame, where it stands."""
    module, function = result.scene.split(".")
    getattr(import_module(f"docs.figures.scenes.{module}"), function)(**result.options)
    scene: Any = bpy.context.scene
    scene.frame_end = frame
    for path, value in result.settings.items():
        put(bpy.data.objects[result.object], path, value)
    with quiet():
        bpy.ops.wm.save_as_mainfile(
            filepath=f"{bpy.app.tempdir}scene.blend"
        )  # beside it are caches
        cast(Any, bpy.ops).verlet.bake()
    scene.frame_set(frame)
    return scene


def put(body: Any, path: str, value: Any) -> None:
    """Gives a setting a value as its field shows it: angles in degrees, datablocks by name."""
    owner, _, name = path.rpartition(".")
    if owner == "pose_bone":
        targets = list(body.pose.bones)
    elif owner == "scene.verlet":
        targets = [cast(Any, bpy.context.scene).verlet]
    elif owner == "object.verlet.attachments[0]":
        targets = [body.verlet.attachments[0]]
    else:
        targets = [body if owner == "object" else body.verlet]
    for target in targets:
        setattr(target, name, in_blender(target.bl_rna.properties[name], value))


def in_blender(known: Any, value: Any) -> Any:
    """A value as a property of Blender takes it."""
    if known.type == "POINTER":
        kind = "collections" if known.fixed_type.identifier == "Collection" else "objects"
        return getattr(bpy.data, kind)[value] if value else None
    return radians(value) if getattr(known, "unit", "") == "ROTATION" else value


if __name__ == "__main__":
    main(sys.argv[1:])
