"""The command `report`, which prints a report of faults, without names of the user."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

import bpy

from ..bake.fault_report import fault_report
from ..scene.file_context import file_context
from ..scene.file_warnings import file_warnings
from .blend_files import open_blend
from .console import print_result
from .job import show_scene
from .results import Report


def add_report_arguments(command: ArgumentParser) -> None:
    """Adds the arguments of the command `report`."""
    add = command.add_argument
    add("inputs", metavar="IN.blend", nargs="?", type=_listed, default=[], help="file with bodies")
    add("--scene", metavar="NAME", help="scene to describe (default: the file's active one)")
    add("--json", action="store_true", help="print the report as JSON")
    command.set_defaults(check=False, batch=False, strict=False)


def _listed(path: str) -> list[Path]:
    """A list of one path, as other commands have several."""
    return [Path(path)]


def run_report(options: Namespace, report: Report) -> int:
    """Prints the report of a file, or of Blender alone; returns the exit code.

    Raises
    ------
    VerletError
        The file cannot be opened, or has no such scene.
    """
    warnings = []
    if options.input is not None:
        warnings = open_blend(options.input) + file_warnings()
    if options.scene is not None:
        show_scene(options.scene)
    text = fault_report(file_context(bpy.context).scene, warnings)
    *lines, last = text.splitlines()
    for line in () if options.json else lines:
        print_result(line)
    return report.succeed(last, {"report": text})
