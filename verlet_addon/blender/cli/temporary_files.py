"""Temporary files, which are renamed when complete, and those that killed jobs have left."""

import os
import platform
import sys
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from time import time

PREFIX = ".verlet_"
_CERTAIN = 24 * 3600.0
"""Age from which a temporary file counts as left over, on whatever machine its job ran [s]."""


def unused_name(folder: Path) -> Path:
    """A temporary path that no other process uses; the file is created and deleted again.

    The name contains the machine and the process, so that other jobs can tell when it is left over.
    """
    prefix = f"{PREFIX}{_machine()}_{os.getpid()}_"
    with NamedTemporaryFile(dir=folder, prefix=prefix, suffix=".blend") as file:
        return Path(file.name)


def partial_names(path: Path) -> tuple[Path, Path]:
    """Paths of a temporary file itself and of the one that Blender writes before renaming it."""
    return path, path.with_name(f"{path.name}@")


def leftovers(folder: Path) -> Iterator[Path]:
    """Temporary files of jobs that were killed while saving."""
    with suppress(OSError):
        for path in sorted(folder.glob(f"{PREFIX}*.blend*")):
            if path.name.endswith((".blend", ".blend@")) and _is_left(path):
                yield path


def _is_left(path: Path) -> bool:
    """Whether a temporary file's process has ended, or the file is older than `_CERTAIN`."""
    with suppress(OSError):
        if time() - path.stat().st_mtime > _CERTAIN:
            return True
        machine, _, rest = path.name.removeprefix(PREFIX).partition("_")
        number = rest.partition("_")[0]
        # On Windows, os.kill would end the process; elsewhere signal 0 only tests for it.
        if machine == _machine() and number.isdecimal() and sys.platform != "win32":
            try:
                os.kill(int(number), 0)
            except ProcessLookupError:
                return True
    return False


def _machine() -> str:
    """Hash of host name, boot and process namespace, within which process numbers are unique."""
    parts = [platform.node()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text("ascii"))
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return sha256("\n".join(parts).encode()).hexdigest()[:8]
