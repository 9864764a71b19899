"""Files that are written whole or not at all."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import bpy

from ...core.errors import FileError
from ..scene.file_errors import errors_named
from ..scene.file_warnings import some


def target(filepath: str, suffix: str) -> Path:
    """Absolute path of a file to write, with its suffix.

    Raises
    ------
    FileError
        The path is empty or a folder, or its folder is missing or read-only.
    """
    if not filepath:
        raise FileError("No file is chosen; choose one to write", Path())
    path = Path(os.path.normpath(bpy.path.abspath(filepath)))
    if path.suffix.lower() != suffix and not path.is_dir():
        path = path.with_name(path.name + suffix)
    if path.is_dir():
        raise FileError(f"Cannot write {path}: it is a folder; name a file in it", path)
    if not path.parent.is_dir():
        raise FileError(
            f"Cannot write {path}: there is no folder {path.parent}; make it, or choose another",
            path,
        )
    if not os.access(path.parent, os.W_OK):
        raise FileError(
            f"Cannot write {path}: the folder {path.parent} is read-only; choose another", path
        )
    return path


def check_others(paths: Iterable[Path]) -> None:
    """Raises FileError where a file exists of those that an export writes without being named."""
    if there := [path for path in paths if path.exists()]:
        raise FileError(
            f"{some(path.name for path in there)} in {there[0].parent} would be replaced; choose "
            "another name, or turn on Replace Others",
            there[0],
        )


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Yields a path to write, which takes the name `path` in the end; after an error it is deleted.

    Raises
    ------
    FileError, DiskFullError
        The file cannot be written.
    """
    partial = path.with_name(f".verlet_{os.getpid()}_{path.name}")
    try:
        with errors_named("write", path):
            yield partial
            partial.replace(path)
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
