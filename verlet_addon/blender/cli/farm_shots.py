"""A batch as render farms divide it: files and scenes, wedges, and the options of every call."""

import os
from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path
from shlex import join

import bpy

from .results import UsageError
from .tasks import file_name, find_tasks
from .wedges import Wedge, variant_name, variants


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
    shots: tuple[Shot, ...]
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
    tasks = find_tasks(options)
    for wedge in options.wedges:
        for text in (wedge.setting, *wedge.values):
            if file_name(text) != text:
                raise UsageError(f"--wedge: {text} cannot stand in a file's name; use --set")
    paths = [task.input.absolute() for task in tasks]
    folder = Path(os.path.commonpath([path.parent for path in paths]))
    shots = {
        Shot(path.relative_to(folder).as_posix(), task.group, task.scene): None
        for path, task in zip(paths, tasks, strict=True)
    }
    return FarmJob(
        program=("blender", "--command", "verlet")
        if bpy.app.binary_path
        else ("python", "-m", "verlet_addon"),
        folder=folder,
        output_folder=options.output_dir.absolute(),
        shots=tuple(shots),
        wedges=tuple(options.wedges),
        frames=tuple(options.frames) if options.frames else None,
        options=tuple(options.passed_on),
    )


def command_lines(job: FarmJob) -> str:
    """The command of each bake, a line each, quoted as shells of Unix need it."""
    frames = [] if job.frames is None else ["--frames", *map(str, job.frames)]
    lines = []
    for shot in job.shots:
        scene = [] if shot.scene is None else [f"--scene={shot.scene}"]
        for values in variants(job.wedges):
            name = "_".join(filter(None, (shot.name, variant_name(values))))
            output = job.output_folder / f"{name}.blend"
            paths = [str(job.folder / shot.input), "--output", str(output), "--parents"]
            settings = [f"--set={setting}={value}" for setting, value in values]
            given = [*paths, *scene, *frames, *job.options, *settings, "--json"]
            lines.append(join([*job.program, "bake", *given]))
    return "".join(f"{line}\n" for line in lines)
