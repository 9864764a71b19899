"""Opens and saves .blend files; what goes wrong is one sentence that names the file."""

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy

from ...core.errors import DiskFullError, FileError, VerletError
from .output_capture import quiet
from .signals import check_signals, held_back
from .temporary_files import leftovers, partial_names, unused_name

# How a .blend begins: plain, compressed by Blender 3.0 and later, compressed by older ones.
_SIGNATURES = (b"BLENDER", b"\x28\xb5\x2f\xfd", b"\x1f\x8b")

# How one ends: with a block of this name, or with what closes a list of compressed frames.
_LAST_BLOCK, _LAST_FRAMES = b"ENDB", b"\xb1\xea\x92\x8f"

# Longer paths are cut off by Blender without a word.
_LONGEST_PATH = 1023

# What a system says where there is no room, or not for this user or a file so large.
_FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}

# What Blender's warnings say that `file_warnings` says better.
_SAID_BETTER = ("Unable to open", "Unrecognized file", "data-blocks are missing", "newer Blender")


def open_blend(path: Path, *, run_scripts: bool = False) -> list[str]:
    """Opens a .blend file.

    Parameters
    ----------
    path
        The file.
    run_scripts
        Whether its scripts and drivers run in any case; else Blender's own setting decides.

    Returns
    -------
    list of str
        What Blender warns of, but for what `file_warnings` finds.

    Raises
    ------
    FileError
        The file cannot be read, or is none of Blender's.
    """
    with _errors_named("read", path), path.open("rb") as file:
        known = file.read(7).startswith(_SIGNATURES)
    if not known:
        raise FileError(f"{path} is not a .blend file", path)
    trust: dict[str, Any] = {"use_scripts": True} if run_scripts else {}
    with _errors_named("read", path), held_back(), quiet() as printed:
        bpy.ops.wm.open_mainfile(filepath=str(path.absolute()), **trust)
    check_signals()
    warnings = [line.removeprefix("Warning: ") for line in printed if line.startswith("Warning: ")]
    return [line for line in warnings if not any(words in line for words in _SAID_BETTER)]


def close_blend() -> None:
    """Closes the file; with Python drivers in it, Blender 4.2 as a module would end in a crash."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


def destination(path: Path) -> Path:
    """Makes sure, before any work is done, that a file can be written.

    Parameters
    ----------
    path
        The file, or a link to it, which is followed.

    Returns
    -------
    Path
        The file's full path.

    Raises
    ------
    FileError
        There is no such folder, no permission, or something else than a file.
    """
    target = Path(os.path.realpath(path))
    with _errors_named("write", path.absolute()):
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
            raise VerletError("Blender cannot write to paths that long; choose a shorter one")
    return target


def check_no_library(path: Path) -> None:
    """Refuses to write over a library that the open file links from, as Blender does."""
    for library in bpy.data.libraries:
        if Path(os.path.realpath(bpy.path.abspath(library.filepath))) == path:
            raise FileError(f"Cannot write {path}: the file links from it; name another file", path)


def clean(folder: Path) -> Iterator[str]:
    """Removes what killed jobs left in a folder, and says so."""
    for path in leftovers(folder):
        try:
            path.unlink()
        except OSError as error:
            yield f"{path} is left from a job that was killed; delete it ({error.strerror})"
        else:
            yield f"{path} was left from a job that was killed, and is deleted"


def save_copy(path: Path) -> None:
    """Saves a copy under a name of its own, and puts it in place when it is complete.

    Jobs that write the same file at the same time thus each write a whole one, and the last stays.

    Parameters
    ----------
    path
        What `destination` gave.

    Raises
    ------
    DiskFullError, FileError
        There is no room, or whatever else the cause is; an older file is as it was.
    """
    with _errors_named("write", path), held_back():
        unfinished = unused_name(path.parent)
        try:
            _save(unfinished)
            if path.exists():
                shutil.copymode(path, unfinished)
            check_signals()
            unfinished.replace(path)
        finally:
            for each in partial_names(unfinished):
                each.unlink(missing_ok=True)


def _save(path: Path) -> None:
    """Saves a copy, all of it."""
    try:
        with quiet():
            bpy.ops.wm.save_as_mainfile(
                filepath=str(path), copy=True, check_existing=False, relative_remap=True
            )
    except RuntimeError as error:
        problem = _report(error)
    else:
        if _is_complete(path):
            return
        problem = "its end is missing"
    path.touch()  # or else the folder itself is the cause, which this tells
    # On a full disk, Blender says "No such file or directory", or nothing if it compresses.
    free = shutil.disk_usage(path.parent).free / 1e6
    raise DiskFullError(
        f"Blender could not finish it ({problem}), with {free:,.1f} MB left on the disk; "
        "make room there, or name another folder",
        path,
    )


def _is_complete(path: Path) -> bool:
    """Looks whether a file has its end."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 64))
        end = file.read()
    return _LAST_BLOCK in end or end.endswith(_LAST_FRAMES)


@contextmanager
def _errors_named(deed: str, path: Path) -> Iterator[None]:
    """Turns what goes wrong into one sentence of ours that begins with what was tried."""
    try:
        yield
    except (OSError, RuntimeError, VerletError) as error:
        full = isinstance(error, DiskFullError) or getattr(error, "errno", None) in _FULL
        kind = DiskFullError if full else FileError
        raise kind(f"Cannot {deed} {path}: {_report(error)}", path) from error


def _report(error: Exception) -> str:
    """Gives an error's text, which may be several lines from an operator, in one line."""
    text = error.strerror if isinstance(error, OSError) else None
    return " ".join((text or str(error)).removeprefix("Error: ").split())
