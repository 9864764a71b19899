"""Contact sheets: a rendered frame of each of several files, with a text beneath."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from math import radians
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...core.errors import VerletError
from ..bake.bake import bodies, frame_range
from ..scene.file_context import file_context
from .blend_files import destination, open_blend
from .job import show_scene
from .output_capture import quiet
from .pictures import Pixels, load_pixels, render_labels, save_pixels
from .results import Report, UsageError

ENGINES = {"workbench": "BLENDER_WORKBENCH", "cycles": "CYCLES"}
"""Blender's names of the renderers."""
_SAMPLES = 16
"""Samples of Cycles."""
_MARGIN = 1.2
"""Size of what a new camera shows, as a multiple of that of the bodies."""
EMPTY = Path("-")
"""Argument in place of a file, for a place on the sheet that stays empty."""


def add_sheet_arguments(command: ArgumentParser) -> None:
    """Adds the arguments of the command that renders a contact sheet."""
    add = command.add_argument
    add("inputs", metavar="BAKED.blend", nargs="+", type=Path, help="file to show; - leaves a gap")
    add(
        "--output",
        metavar="SHEET.png",
        type=Path,
        required=True,
        help="picture to write, .png or .jpg",
    )
    add("--scene", metavar="NAME", help="scene to show (default: the file's active one)")
    add(
        "--label",
        metavar="TEXT",
        dest="labels",
        action="append",
        help="text beneath a file's pictures, one for each file (default: the files' names)",
    )
    add(
        "--frame",
        metavar="N",
        dest="frames",
        type=int,
        action="append",
        help="frame to show; may be given again (default: the last)",
    )
    add("--columns", metavar="N", type=int, help="pictures in a row (default: all)")
    add("--width", metavar="PX", type=int, default=320, help="width of a picture (default: 320)")
    add("--engine", choices=[*ENGINES], default="workbench", help="renderer (default: workbench)")
    add(
        "-y",
        "--enable-autoexec",
        action="store_true",
        dest="run_scripts",
        help="let the files' scripts and Python drivers run",
    )
    add("--json", action="store_true", help="print the result as JSON")
    command.set_defaults(check=False, strict=False)


def run_sheet(options: Namespace, report: Report) -> int:
    """Renders a contact sheet from the arguments; returns the exit code.

    Raises
    ------
    FileError
        A file cannot be read, or the sheet cannot be written.
    UsageError
        The numbers of files and labels differ, or the sheet has another ending than .png or .jpg.
    VerletError
        Blender cannot render.
    """
    labels = options.labels or [path.stem for path in options.inputs]
    if len(labels) != len(options.inputs):
        raise UsageError(f"Give a --label for each of the {len(options.inputs)} files, or none")
    if options.output.suffix.lower() not in (".png", ".jpg"):
        raise UsageError(f"{options.output} is no picture; name it with .png or .jpg")
    output = destination(options.output)
    with TemporaryDirectory(prefix="verlet_") as folder:
        cells = [*_cells(options, labels, Path(folder), report)]
        texts = render_labels([text for text, _ in cells], width=options.width, folder=Path(folder))
    shown = [picture for _, picture in cells if picture is not None]
    if not shown:
        raise UsageError("There is no file to render; give one or more")
    whole = [
        np.concatenate([text, _black(shown[0]) if picture is None else picture])
        for (_, picture), text in zip(cells, texts, strict=True)
    ]
    save_pixels(in_rows(whole, columns=options.columns or len(whole)), output)
    values = {"output": str(output), "pictures": len(shown), "engine": options.engine}
    return report.succeed(f"Rendered {len(shown)} pictures: {output}", values)


def in_rows(pictures: Sequence[Pixels], *, columns: int) -> Pixels:
    """Puts pictures of one size into rows, from the top left on; the last row is filled up."""
    rows = [[*pictures[start : start + columns]] for start in range(0, len(pictures), columns)]
    rows[-1] += [_black(pictures[0])] * (columns - len(rows[-1]))
    return np.concatenate([np.concatenate(row, axis=1) for row in rows[::-1]])


def _black(picture: Pixels) -> Pixels:
    """A black picture of the same size."""
    black = np.zeros_like(picture)
    black[..., 3] = 1.0
    return black


def _cells(
    options: Namespace, labels: Sequence[str], folder: Path, report: Report
) -> Iterator[tuple[str, Pixels | None]]:
    """Renders the frames of all files; yields each text and picture, None for an empty place."""
    view: Matrix | None = None
    size: tuple[int, int] | None = None
    for path, label in zip(options.inputs, labels, strict=True):
        if path == EMPTY:
            yield from ((f"{label}\nnot baked", None) for _ in options.frames or [None])
            continue
        report.warn(open_blend(path, run_scripts=options.run_scripts))
        show_scene(options.scene or file_context(bpy.context).scene.name)
        scene = file_context(bpy.context).scene
        size = size or _size(scene, options.width)
        _prepare(scene, size, options.engine)
        for frame in options.frames or [frame_range(scene)[1]]:
            scene.frame_set(frame)
            if scene.camera is None:
                view = _add_camera(scene, view)
            yield f"{label}\nframe {frame}", _render(scene, folder / "frame.png", path)


def _size(scene: Any, width: int) -> tuple[int, int]:
    """Width and height of a picture [px], in the proportions of the scene's."""
    render = scene.render
    across = render.resolution_x * render.pixel_aspect_x
    up = render.resolution_y * render.pixel_aspect_y
    return width, max(1, round(width * up / across))


def _prepare(scene: Any, size: tuple[int, int], engine: str) -> None:
    """Sets a scene up for quick renders of a size [px]."""
    render = scene.render
    render.engine = ENGINES[engine]
    render.resolution_x, render.resolution_y = size
    render.pixel_aspect_x = render.pixel_aspect_y = 1.0
    render.resolution_percentage = 100
    render.use_border = render.use_compositing = render.use_sequencer = False
    if bpy.app.version >= (5, 0, 0):
        render.image_settings.media_type = "IMAGE"
    render.image_settings.file_format, render.image_settings.color_mode = "PNG", "RGB"
    if engine == "cycles":
        # Not every build of Blender can denoise.
        scene.cycles.samples, scene.cycles.use_denoising = _SAMPLES, False
        if not any(obj.type == "LIGHT" for obj in scene.objects):
            sun: Any = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
            sun.data.energy, sun.rotation_euler = 3.0, (0.6, 0.2, 0.4)
            scene.collection.objects.link(sun)


def _add_camera(scene: Any, view: Matrix | None) -> Matrix:
    """Adds a camera to a scene without one; returns its matrix.

    Parameters
    ----------
    scene
        The scene, at a frame.
    view
        The camera's matrix; None for one that shows all bodies.

    Raises
    ------
    VerletError
        There is nothing to show.
    """
    context: Any = bpy.context
    camera: Any = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    scene.camera = camera
    if view is None:
        corners = [
            obj.matrix_world @ Vector(each) for obj in bodies(scene) for each in obj.bound_box
        ]
        if not corners:
            raise VerletError(f"The scene {scene.name} has no camera and no soft body to show")
        middle = sum(corners, Vector()) / len(corners)
        camera.rotation_euler = (radians(65.0), 0.0, radians(30.0))
        context.view_layer.update()
        around = np.array([middle + (each - middle) * _MARGIN for each in corners]).ravel()
        camera.location, _ = camera.camera_fit_coords(
            context.evaluated_depsgraph_get(), around.tolist()
        )
        context.view_layer.update()
        view = camera.matrix_world.copy()
    camera.matrix_world = view
    return view


def _render(scene: Any, passing: Path, path: Path) -> Pixels:
    """Renders the current frame of a scene of a file."""
    scene.render.filepath = str(passing)
    try:
        with quiet():
            bpy.ops.render.render(write_still=True)
    except RuntimeError as error:
        raise VerletError(
            f"Blender cannot render {path}: {' '.join(str(error).split())}"
        ) from error
    return load_pixels(passing)
