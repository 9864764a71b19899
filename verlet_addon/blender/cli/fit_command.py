"""The command `fit`, which drapes garments on the morphs of a body."""

from argparse import ArgumentParser, Namespace
from contextlib import closing
from pathlib import Path
from time import monotonic
from typing import Any

import bpy

from ...core.self_test import kernels
from ..live.fit import FRAMES, SECONDS, fit
from ..scene.file_context import file_context
from .console import log
from .job import missing
from .output_capture import stdout_on_stderr
from .results import Report
from .signals import check_signals


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


def fit_file(options: Namespace, output: Path, report: Report) -> dict[str, Any]:
    """Fits garments of the open file's scene; returns values for JSON.

    Parameters
    ----------
    output : full path of the file that will be written.

    Raises
    ------
    VerletError
        As `fit`; or there is no object of a name.
    """
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
    report.remark(last.remarks)
    return {
        "output": str(output),
        "sentence": last.result(),
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
