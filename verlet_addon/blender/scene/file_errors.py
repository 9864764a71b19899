"""Errors of reading and writing files, in one sentence that names the file."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...core.errors import DiskFullError, FileError, VerletError

# Error numbers for a full disk, an exhausted quota or a file that is too large.
_FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}


@contextmanager
def errors_named(deed: str, path: Path) -> Iterator[None]:
    """Turns errors into FileError or DiskFullError: "Cannot", "read" or "write", path, cause."""
    try:
        yield
    except (OSError, RuntimeError, VerletError) as error:
        full = isinstance(error, DiskFullError) or getattr(error, "errno", None) in _FULL
        kind = DiskFullError if full else FileError
        raise kind(f"Cannot {deed} {path}: {in_one_line(error)}", path) from error


def in_one_line(error: Exception) -> str:
    """An error's text in one line; those of Blender's operators have several."""
    text = error.strerror if isinstance(error, OSError) else None
    return " ".join((text or str(error)).removeprefix("Error: ").split())
