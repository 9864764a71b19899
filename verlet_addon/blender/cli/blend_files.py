"""Opening and saving of .blend files; each error is one sentence that names the file."""

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy

from ...core.errors import DiskFullError, FileError, VerletError
from ..scene.file_errors import errors_named, in_one_line
from .output_capture import quiet
from .signals import check_signals, ignore_signals, signals_deferred
from .temporary_files import leftovers, partial_names, unused_name

# First bytes of a .blend file: plain, compressed by Blender 3.0 and later, compressed before.
_SIGNATURES = (b"BLENDER", b"\x28\xb5\x2f\xfd", b"\x1f\x8b")

# Last bytes of a .blend file: the name of its last block, or the end mark of compressed frames.
_LAST_BLOCK, _LAST_FRAMES = b"ENDB", b"\xb1\xea\x92\x8f"

# Blender truncates longer paths without an error.
_LONGEST_PATH = 1023

# Parts of those warnings of Blender that `file_warnings` replaces by better ones.
_REPLACED = ("Unable to open", "Unrecognized file", "data-blocks are missing", "newer Blender")


def open_blend(path: Path, *, run_scripts: bool = False) -> list[str]:
    """Opens a .blend file.

    Parameters
    ----------
    path
        The file.
    run_scripts
        Whether its scripts and drivers run in any case; otherwise Blender's preferences decide.

    Returns
    -------
    list of str
        Blender's warnings, without those that `file_warnings` replaces.

    Raises
    ------
    FileError
        The file cannot be read, or is not a .blend file.
    """
    with errors_named("read", path), path.open("rb") as file:
        known = file.read(7).startswith(_SIGNATURES)
    if not known:
        raise FileError(f"{path} is not a .blend file", path)
    trust: dict[str, Any] = {"use_scripts": True} if run_scripts else {}
    with errors_named("read", path), signals_deferred(), quiet() as printed:
        bpy.ops.wm.open_mainfile(filepath=str(path.absolute()), **trust)
    check_signals()
    warnings = [line.removeprefix("Warning: ") for line in printed if line.startswith("Warning: ")]
    return [line for line in warnings if not any(words in line for words in _REPLACED)]


def scene_names(path: Path) -> list[str]:
    """Names of the scenes of a .blend file, which is not opened, and is not the open one.

    Raises
    ------
    FileError
        The file cannot be read, or is not a .blend file.
    """
    libraries: Any = bpy.data.libraries
    with (
        errors_named("read", path),
        signals_deferred(),
        quiet(),
        libraries.load(str(path.absolute())) as (there, _),
    ):
        names = [str(name) for name in there.scenes]
    check_signals()
    return names


def close_blend() -> None:
    """Closes the open file, since Blender 4.2 as a module crashes at exit with Python drivers."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


def destination(path: Path) -> Path:
    """Checks, before any work is done, that a file can be written.

    Parameters
    ----------
    path
        The file, or a symbolic link to it.

    Returns
    -------
    Path
        The file's full path.

    Raises
    ------
    FileError
        The folder is missing, permission is denied, or the path is no regular file.
    """
    target = Path(os.path.realpath(path))
    with errors_named("write", path.absolute()):
        try:
            mode = path.stat().st_mode
        except FileNotFoundError:
            mode = stat.S_IFREG
        else:
            if stat.S_ISREG(mode) and not os.access(target, os.W_OK):
                raise VerletError("permission denied")
        if stat.S_ISDIR(mode):
            raise VerletError("it is a folder; name a file")
        if not stat.S_ISREG(mode):
            raise VerletError("it is a device, a pipe or a socket; name a file")
        if not target.parent.is_dir():
            raise VerletError(f"there is no folder {target.parent}")
        if len(os.fsencode(unused_name(target.parent))) >= _LONGEST_PATH:
            raise VerletError("Blender cannot write to so long a path; choose a shorter one")
    return target


def make_folder(path: Path) -> None:
    """Makes a folder and those above it, where they are missing; raises FileError on failure."""
    with errors_named("make the folder", path):
        path.mkdir(parents=True, exist_ok=True)


def check_no_library(path: Path) -> None:
    """Raises FileError for a path of a library that the open file links; Blender refuses it too."""
    for library in bpy.data.libraries:
        if Path(os.path.realpath(bpy.path.abspath(library.filepath))) == path:
            raise FileError(f"Cannot write {path}: the file links from it; name another file", path)


def remove_leftovers(folder: Path) -> Iterator[str]:
    """Deletes the temporary files of killed jobs in a folder; yields a sentence for each."""
    for path in leftovers(folder):
        try:
            path.unlink()
        except OSError as error:
            yield f"{path} is left over from a killed job; delete it ({error.strerror})"
        else:
            yield f"{path} was left over from a killed job, and has been deleted"


def save_copy(path: Path) -> None:
    """Saves a copy of the open file under a temporary name, and renames it when it is complete.

    Jobs that write the same file at once each write a complete one; the last one remains. Signals
    are ignored from then on, so that no job denies a file that it has written.

    Parameters
    ----------
    path
        Full path, as `destination` returns it.

    Raises
    ------
    DiskFullError, FileError
        The disk is full, or the file cannot be written; an older file stays unchanged.
    """
    with errors_named("write", path), signals_deferred():
        unfinished = unused_name(path.parent)
        try:
            _save(unfinished)
            if path.exists():
                shutil.copymode(path, unfinished)
            check_signals()
            ignore_signals()
            unfinished.replace(path)
        finally:
            for each in partial_names(unfinished):
                each.unlink(missing_ok=True)


def _save(path: Path) -> None:
    """Saves a copy of the open file; raises DiskFullError if it is incomplete."""
    try:
        with quiet():
            bpy.ops.wm.save_as_mainfile(
                filepath=str(path), copy=True, check_existing=False, relative_remap=True
            )
    except RuntimeError as error:
        problem = in_one_line(error)
    else:
        if _is_complete(path):
            return
        problem = "its end is missing"
    path.touch()  # raises OSError where the folder itself is the cause
    # On a full disk, Blender reports "No such file or directory", or nothing if it compresses.
    free = shutil.disk_usage(path.parent).free / 1e6
    raise DiskFullError(
        f"Blender could not finish it ({problem}), with {free:,.1f} MB left on the disk; "
        "make room there, or name another folder",
        path,
    )


def _is_complete(path: Path) -> bool:
    """Whether a .blend file ends as Blender ends one."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 64))
        end = file.read()
    return _LAST_BLOCK in end or end.endswith(_LAST_FRAMES)
