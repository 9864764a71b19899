"""The command `convert`, which gives the bakes of a file another form."""

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy

from ...core.errors import MeshError
from ..bake.bake_conversion import convert_bakes, convertible
from ..bake.cache_bake import check_cache_step
from ..bake.record import baked_objects
from ..scene.file_context import file_context
from .job import achieved, key_form, missing
from .name_patterns import matches
from .output_capture import stdout_on_stderr
from .results import Report


def convert_file(options: Namespace, output: Path, report: Report) -> dict[str, Any]:
    """Converts the chosen bakes of the open file's scene; returns values for JSON.

    Parameters
    ----------
    output : full path of the file that will be written, beside which a cache is.

    Raises
    ------
    VerletError
        As `convert_bakes`; or there is no object of a name, or no chosen object has a bake that can
        be converted.
    """
    here, mode = file_context(bpy.context), options.mode.upper()
    if options.step is not None and mode == "CACHE":
        check_cache_step(options.step)
    objects = convertible(
        baked_objects(here.scene) if options.names is None else _named(here.scene, options.names),
        mode,
        anew=options.step is not None,
    )
    if not objects:
        raise MeshError(
            f"No chosen object of {here.scene.name} has a bake in another form than {options.mode}"
            "; choose others with --object, or another form with --mode"
        )
    form = output if mode == "CACHE" else key_form(here.scene, options)
    with stdout_on_stderr():
        converted = convert_bakes(here.scene, here.view_layer, objects, form, step=options.step)
    if not converted.names:
        raise MeshError(". ".join(converted.refusals))
    report.warn(converted.refusals)
    return {
        "output": str(output),
        "converted": converted.names,
        "mode": options.mode,
        "bakes": list(map(achieved, objects)),
    }


def _named(scene: bpy.types.Scene, names: Sequence[str]) -> list[bpy.types.Object]:
    """The objects of a scene that have or match one of some names, each of which finds one."""
    for name in names:
        if not any(matches(obj.name, name) for obj in scene.objects):
            raise missing(name, scene)
    return [obj for obj in scene.objects if any(matches(obj.name, name) for name in names)]
