"""The tasks of a batch: a bake each of a scene of a file, with its settings and its output."""

import os
import re
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from glob import glob
from itertools import takewhile
from pathlib import Path

from ...core.errors import FileError
from .blend_files import scene_names
from .name_patterns import is_pattern
from .results import UsageError
from .wedges import Values, variant_name, variants


@dataclass(frozen=True)
class Task:
    """One bake of a batch."""

    input: Path
    """The file to read."""
    name: str
    """File name of the output, without its ending."""
    scene: str | None
    """Name of the scene; None for the file's active one."""
    output: Path | None
    """The file to write; None with --check."""
    group: str
    """The name without the variant."""
    settings: Values
    """The variant of a wedge; empty without one."""

    def arguments(self, options: Sequence[str]) -> list[str]:
        """The arguments of the command line for this bake alone, with options of the whole batch.

        The variant comes last, since a material that is set brings values of its own.
        """
        scene = [] if self.scene is None else [f"--scene={self.scene}"]
        output = [] if self.output is None else ["--output", str(self.output)]
        settings = [f"--set={setting}={value}" for setting, value in self.settings]
        return ["bake", str(self.input), *scene, *output, *options, *settings]

    def describe(self) -> dict[str, object]:
        """Values of the task for JSON."""
        return {
            "input": str(self.input),
            "scene": self.scene,
            "output": None if self.output is None else str(self.output),
            "settings": dict(self.settings),
        }


def find_tasks(options: Namespace) -> list[Task]:
    """Finds the files and scenes that the arguments name.

    Raises
    ------
    UsageError
        A pattern matches no file, two tasks have the same output, or an output is an input.
    """
    tasks = [
        _task(path, name, scene, settings, options.output_dir)
        for path, name in _files(options.inputs)
        for scene in _scenes(path, options.scenes)
        for settings in variants(options.wedges)
    ]
    _check_outputs(tasks)
    return tasks


def file_name(text: str) -> str:
    """A text as part of a file name; characters that some platforms forbid become `_`."""
    return re.sub(r'[<>:"/\\|?*\x00-\x1f]', "_", text)


def _task(path: Path, name: str, scene: str | None, settings: Values, folder: Path | None) -> Task:
    """The task for a variant of a scene of a file."""
    group = "_".join(map(file_name, filter(None, (name, scene))))
    name = "_".join(filter(None, (group, file_name(variant_name(settings)))))
    output = None if folder is None else folder / f"{name}.blend"
    return Task(path, name, scene, output, group, settings)


def _files(inputs: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    """Files that paths and patterns name, each with the name of its output.

    That of `shots/010/anim.blend`, found by `shots/*/anim.blend`, is `010_anim`.
    """
    plain = [given for given in inputs if given.exists() or not is_pattern(str(given))]
    names = _names(plain)
    for given in inputs:
        if given in names:
            yield given, names[given]
        else:
            yield from _matching(given)


def _names(files: Sequence[Path]) -> dict[Path, str]:
    """Names of the outputs of files that are listed one by one.

    Where two are the same, as of a pattern that a shell has replaced, those of folders are added.
    """
    stems = {path: path.stem for path in files}
    if len({name.casefold() for name in stems.values()}) == len(stems):
        return stems
    places = {path: Path(os.path.abspath(path)) for path in files}
    try:
        root = os.path.commonpath([place.parent for place in places.values()])
    except ValueError:  # on several drives
        return stems
    return {path: _joined(place.relative_to(root)) for path, place in places.items()}


def _matching(pattern: Path) -> Iterator[tuple[Path, str]]:
    """Files that match a pattern, each with the name of its output."""
    root = Path(*takewhile(lambda part: not is_pattern(part), pattern.parts))
    found = sorted(path for path in map(Path, glob(str(pattern), recursive=True)) if path.is_file())
    if not found:
        raise UsageError(f"No file matches {pattern}; check the folder and the pattern")
    for path in found:
        yield path, _joined(path.relative_to(root))


def _joined(path: Path) -> str:
    """Names of a file's folders and its own, without its ending, as one."""
    return "_".join(path.with_suffix("").parts)


def _scenes(path: Path, patterns: Sequence[str]) -> list[str | None]:
    """Names of the file's scenes that match; a name that matches none stays, for its error."""
    if not patterns:
        return [None]
    try:
        there = scene_names(path)
    except FileError:
        there = []
    found: dict[str | None, None] = {}
    for pattern in patterns:
        matching = [name for name in there if pattern == name] or [
            name for name in there if fnmatchcase(name, pattern)
        ]
        found |= dict.fromkeys(matching or [pattern])
    return [*found]


def _check_outputs(tasks: Sequence[Task]) -> None:
    """Raises UsageError if two tasks have the same output, or an output is an input."""
    inputs = {os.path.realpath(task.input) for task in tasks}
    outputs: dict[str, Task] = {}
    for task in tasks:
        if task.output is None:
            continue
        # Windows and macOS do not distinguish names by case.
        place = os.path.realpath(task.output)
        other = outputs.setdefault(place.casefold(), task)
        if other is not task:
            raise UsageError(
                f"{other.input} and {task.input} would both be written to {task.output}; rename "
                "one of them, or bake them apart"
            )
        if place in inputs:
            raise UsageError(
                f"{task.output} would replace a file that is read; name another --output-dir"
            )
