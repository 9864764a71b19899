"""Files that are written before they are put in place, and those that killed jobs left."""

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
"""The age from which on no job is writing a file, wherever it runs [s]."""


def unused_name(folder: Path) -> Path:
    """Finds a name that no other process uses, by making the file, and deletes it again.

    It tells the machine and the process, so that others know when nobody writes it any more.
    """
    prefix = f"{PREFIX}{_machine()}_{os.getpid()}_"
    with NamedTemporaryFile(dir=folder, prefix=prefix, suffix=".blend") as file:
        return Path(file.name)


def partial_names(path: Path) -> tuple[Path, Path]:
    """The file itself, and Blender's own name for it while it is written."""
    return path, path.with_name(f"{path.name}@")


def leftovers(folder: Path) -> Iterator[Path]:
    """Files of jobs that were killed while they saved."""
    with suppress(OSError):
        for path in sorted(folder.glob(f"{PREFIX}*.blend*")):
            if path.name.endswith((".blend", ".blend@")) and _is_left(path):
                yield path


def _is_left(path: Path) -> bool:
    """Whether the process that wrote a file is gone, or the file is older than any job."""
    with suppress(OSError):
        if time() - path.stat().st_mtime > _CERTAIN:
            return True
        machine, _, rest = path.name.removeprefix(PREFIX).partition("_")
        number = rest.partition("_")[0]
        # On Windows, asking for a process in this way would end it.
        if machine == _machine() and number.isdecimal() and sys.platform != "win32":
            try:
                os.kill(int(number), 0)
            except ProcessLookupError:
                return True
    return False


def _machine() -> str:
    """A name of the machine since it started, and of the container, whose processes have numbers.

    Machines and containers may share a host name.
    """
    parts = [platform.node()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text("ascii"))
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return sha256("\n".join(parts).encode()).hexdigest()[:8]
