"""Holds on the folders of caches: no other process deletes or goes on with what one writes.

A hold is a lock of the operating system, which ends with its process, however that ends.
"""

import sys
from errno import EACCES, EAGAIN, EDEADLK
from pathlib import Path
from typing import BinaryIO

from .cache_record import NAME

if sys.platform == "win32":
    import msvcrt

    def _lock(file: BinaryIO) -> None:
        """Locks a file; raises OSError where it is locked already."""
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(file: BinaryIO) -> None:
        """Locks a file; raises OSError where it is locked already."""
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


_LOCKED = (EAGAIN, EACCES, EDEADLK)
"""Errors of files that are locked; file systems without locks have others."""
_held: dict[Path, BinaryIO] = {}
"""By folder, the locked file of each hold of this process."""


def hold(folder: Path) -> bool:
    """Holds a folder until `release` or the end of this process.

    Returns whether no other process holds it.
    """
    place = folder.resolve()
    if place in _held:
        return True
    file = _lock_of(place).open("ab")
    if _is_locked(file):
        file.close()
        return False
    _held[place] = file
    return True


def release(folder: Path) -> None:
    """Ends the hold of this process on a folder, if it has one."""
    if (file := _held.pop(folder.resolve(), None)) is not None:
        file.close()


def release_all() -> None:
    """Ends all holds of this process."""
    for folder in [*_held]:
        release(folder)


def is_held_elsewhere(folder: Path) -> bool:
    """Whether another process holds a folder."""
    place = folder.resolve()
    if place in _held or not _lock_of(place).is_file():
        return False
    with _lock_of(place).open("ab") as file:
        return _is_locked(file)


def _is_locked(file: BinaryIO) -> bool:
    """Whether another process has locked a file; if not, it is locked until it is closed."""
    try:
        _lock(file)
    except OSError as error:
        return error.errno in _LOCKED
    return False


def _lock_of(folder: Path) -> Path:
    """The file that is locked to hold a folder."""
    return folder / f"{NAME}.lock"
