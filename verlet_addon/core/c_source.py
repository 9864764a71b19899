"""The C source of the kernels, and its digest, by which a library is recognized.

It needs nothing but Python: what builds the package of the kernels loads it too.
"""

from hashlib import sha256
from pathlib import Path

CORE = Path(__file__).parent
RECORDED_DIGEST = CORE / "source_digest.txt"
"""Digest of the C source, which the zip leaves out; written by `make wheels`."""


def has_digest() -> bool:
    """Whether it is known which source a library is of; not in the add-on that is Python alone."""
    return bool(source_files()) or RECORDED_DIGEST.exists()


def source_files() -> list[Path]:
    """All C sources and headers of the core, sorted."""
    return sorted([*CORE.rglob("*.c"), *CORE.rglob("*.h")])


def source_digest() -> str:
    """SHA-256 of the C source, which identifies a build of the kernels.

    Raises
    ------
    OSError
        If neither the source nor its recorded digest exists.
    """
    files = source_files()
    if not files:
        return RECORDED_DIGEST.read_text("utf-8").strip()
    lines = [line for path in files for line in path.read_text("utf-8").splitlines()]
    return sha256("\n".join(lines).encode()).hexdigest()


def library_name(suffix: str) -> str:
    """File name of the library of this source.

    Another source has another name: a process that has loaded one library from a path is given the
    same one again, whatever is at that path since.
    """
    return f"kernels-{source_digest()[:12]}{suffix}"
