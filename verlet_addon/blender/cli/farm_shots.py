"""A batch as render farms divide it: files and scenes, wedges, and the options of every call."""

import os
from argparse import Namespace
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import join

import bpy

from .results import UsageError
from .tasks import Task, file_name, find_tasks
from .wedges import Wedge


@dataclass(frozen=True)
class Shot:
    """A scene of a file."""

    input: str
    """Path of the file in the folder of all files, with forward slashes."""
    name: str
    """File name of its outputs, without wedges and without its ending."""
    scene: str | None
    """Name of the scene; None for the file's active one."""


@dataclass(frozen=True)
class FarmJob:
    """A batch whose bakes a farm distributes."""

    program: tuple[str, ...]
    """The program and its arguments before those of `bake`."""
    folder: Path
    """Folder that holds all files."""
    output_folder: Path
    tasks: tuple[Task, ...]
    """All bakes, with absolute paths."""
    shots: tuple[Shot, ...]
    """Files and scenes of the shots, without wedges."""
    wedges: tuple[Wedge, ...]
    frames: tuple[int, int] | None
    """First and last frame; None for those of each scene."""
    options: tuple[str, ...]
    """All further options of each bake."""


def find_farm_job(options: Namespace) -> FarmJob:
    """Finds the shots that the arguments name.

    Raises
    ------
    UsageError
        A pattern matches no file, two bakes have the same output, or a name holds characters that
        a file's name cannot have.
    """
    found = find_tasks(options)
    for wedge in options.wedges:
        for text in (wedge.setting, *wedge.values):
            if file_name(text) != text:
                raise UsageError(f"--wedge: {text} cannot stand in a file's name; use --set")
    output_folder = options.output_dir.absolute()
    tasks = [
        replace(task, input=task.input.absolute(), output=output_folder / f"{task.name}.blend")
        for task in found
    ]
    folder = Path(os.path.commonpath([task.input.parent for task in tasks]))
    shots = {
        Shot(task.input.relative_to(folder).as_posix(), task.group, task.scene): None
        for task in tasks
    }
    return FarmJob(
        program=("blender", "--command", "verlet")
        if bpy.app.binary_path
        else ("python", "-m", "verlet_addon"),
        folder=folder,
        output_folder=output_folder,
        tasks=tuple(tasks),
        shots=tuple(shots),
        wedges=tuple(options.wedges),
        frames=tuple(options.frames) if options.frames else None,
        options=tuple(options.passed_on),
    )


def command_lines(job: FarmJob) -> str:
    """The command of each bake, a line each, quoted as shells of Unix need it."""
    frames = [] if job.frames is None else ["--frames", *map(str, job.frames)]
    given = ["--parents", *frames, *job.options, "--json"]
    return "".join(f"{join([*job.program, *task.arguments(given)])}\n" for task in job.tasks)
