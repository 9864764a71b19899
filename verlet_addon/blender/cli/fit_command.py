"""The command `fit`, which drapes garments on the morphs of a body."""

from argparse import ArgumentParser, Namespace
from contextlib import closing
from pathlib import Path
from time import monotonic

import bpy

from ...core.self_test import kernels
from ..live.fit import FRAMES, SECONDS, fit
from ..scene.file_context import file_context
from ..scene.file_warnings import file_warnings
from .blend_files import (
    check_no_library,
    destination,
    make_folder,
    open_blend,
    remove_leftovers,
    save_copy,
)
from .console import log
from .job import missing, show_scene
from .output_capture import stdout_on_stderr
from .results import Report
from .signals import check_signals, ignore_signals


def add_fit_arguments(command: ArgumentParser) -> None:
    """Adds the arguments of the command that fits garments to morphs."""
    add = command.add_argument
    add("inputs", metavar="IN.blend", nargs=1, type=Path, help="file to read")
    add(
        "--garment",
        metavar="NAME",
        dest="garments",
        action="append",
        required=True,
        help="soft body to fit; given again, several together",
    )
    add("--on", metavar="NAME", required=True, help="collider whose shape keys are the morphs")
    add(
        "--morphs",
        metavar="NAME",
        nargs="+",
        default=[],
        help="names of its shape keys (default: all of them)",
    )
    add("--scene", metavar="NAME", help="scene to fit in (default: the file's active one)")
    add("--frame", metavar="N", type=int, help="frame at which to fit (default: the file's)")
    add(
        "--morph-frames",
        metavar="N",
        type=int,
        default=FRAMES,
        help=f"frames over which a morph grows (default: {FRAMES})",
    )
    add(
        "--seconds",
        metavar="S",
        type=float,
        default=SECONDS,
        help=f"longest time that each shape is simulated (default: {SECONDS:g})",
    )
    _add_output(command)
    command.set_defaults(check=False)


def _add_output(command: ArgumentParser) -> None:
    """Adds the arguments on what is written, and on scripts, warnings and the result."""
    add = command.add_argument
    add(
        "--output",
        metavar="OUT.blend",
        type=Path,
        required=True,
        help="file to write; replaces an older one once it is complete",
    )
    add("--parents", action="store_true", help="make the folder of --output where it is missing")
    add(
        "-y",
        "--enable-autoexec",
        action="store_true",
        dest="run_scripts",
        help="let the file's scripts and Python drivers run",
    )
    add("--strict", action="store_true", help="treat a warning as an error, with exit code 1")
    add("--json", action="store_true", help="print the result as JSON")


def run_fit(options: Namespace, report: Report) -> int:
    """Fits garments as the arguments say, and saves a copy; returns the exit code.

    Raises
    ------
    VerletError
        A file cannot be read or written, or the garments cannot be fitted.
    """
    if options.parents:
        make_folder(options.output.parent)
    output = destination(options.output)
    for sentence in remove_leftovers(output.parent):
        report.note(sentence)
    (path,) = options.inputs
    report.warn(open_blend(path, run_scripts=options.run_scripts) + file_warnings())
    check_no_library(output)
    shown = file_context(bpy.context).scene.name
    show_scene(options.scene or shown)
    sentence, result = _fit(options)
    show_scene(shown)
    save_copy(output)
    ignore_signals()
    return report.succeed(f"{sentence}: {output}", {"output": str(output), **result})


def _fit(options: Namespace) -> tuple[str, dict[str, object]]:
    """Fits garments; returns the result as a sentence, and values for JSON."""
    here, started = file_context(bpy.context), monotonic()
    scene = here.scene
    garments = [_find(scene, name) for name in options.garments]
    body = _find(scene, options.on)
    with stdout_on_stderr():
        if options.frame is not None:
            scene.frame_set(options.frame)
        running = fit(
            scene,
            here.view_layer,
            garments,
            body,
            options.morphs,
            frames=options.morph_frames,
            seconds=options.seconds,
        )
        with closing(running):
            for last in running:
                check_signals()
                if last.settling.is_at_rest:
                    log(last.describe())
    for remark in last.remarks:
        log(f"warning: {remark}")
    return last.result(), {
        "garments": [obj.name for obj in garments],
        "body": body.name,
        "shapes": last.total,
        "seconds": round(monotonic() - started, 3),
        "kernels": kernels(),
        "worst_stretch": last.stretch,
        "most_stretched": last.most_stretched,
        "remarks": list(last.remarks),
    }


def _find(scene: bpy.types.Scene, name: str) -> bpy.types.Object:
    """The object of a scene with a name; raises VerletError without one."""
    if name not in scene.objects:
        raise missing(name, scene)
    return scene.objects[name]
