"""Estimate of the memory of a bake, the memory available, and errors where it is too little."""

import ctypes
import struct
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import bpy

from ...core.errors import OutOfMemoryError
from ..scene.file_warnings import some
from ..scene.mesh_access import point_count

T = TypeVar("T")
S = TypeVar("S")

LARGE = 4 * 2**30
"""Estimated memory of a bake from which on the user is warned [B]."""
_COPY = 12
"""Size of a copy of a shape key per vertex: three numbers of 4 bytes [B]."""
_OVERHEAD = 5000
"""Further memory of Blender per shape key: its name, curve and copies of them [B]."""
_BASE = 64 * 2**20
"""Memory of the smallest bake [B]; with less, OpenBLAS waits for its buffer without end."""
_REMEDY = "bake fewer frames or bodies, or raise Step"
# A cgroup without a limit has one of about 2^63 bytes.
_NO_LIMIT = 2**60


def needed(objects: Sequence[bpy.types.Object], keys: int) -> int:
    """Estimates the peak memory of a bake [B], measured in Blender 5.0.

    Blender holds each key twice, original and evaluated, and in the interface a third time for
    undo. The bake's own copies are freed as these are made.
    """
    copies = 2 if bpy.app.background else 3
    vertices = sum(map(point_count, objects))
    return _BASE + keys * (copies * _COPY * vertices + _OVERHEAD * len(objects))


def check_room(objects: Sequence[bpy.types.Object], frames: Sequence[int]) -> None:
    """Raises OutOfMemoryError where the keys of a bake cannot fit."""
    need, what = needed(objects, len(frames)), _what(objects, frames)
    _refuse(f"The bake of {what} needs {size_in_words(need)} of memory", need)


def check_room_to_write(objects: Sequence[bpy.types.Object], frames: Sequence[int]) -> None:
    """Raises OutOfMemoryError where Blender would crash for lack of memory while it adds keys."""
    ours = len(frames) * _COPY * sum(map(point_count, objects))
    more = needed(objects, len(frames)) - ours - _BASE
    what = _what(objects, frames)
    _refuse(f"Writing the bake of {what} needs another {size_in_words(more)} of memory", more)


def _refuse(deed: str, need: int) -> None:
    """Raises OutOfMemoryError with a sentence that begins with `deed` where less is left."""
    left = available()
    if left is not None and need > left:
        raise OutOfMemoryError(f"{deed}, and {size_in_words(left)} are left; {_REMEDY}")


def large_need(objects: Sequence[bpy.types.Object], keys: int) -> list[str]:
    """One sentence on the memory of a bake, if it is `LARGE` or more."""
    need = needed(objects, keys)
    if need < LARGE:
        return []
    return [f"This bake takes about {size_in_words(need)} of memory; {_REMEDY}, to take less"]


@contextmanager
def memory_errors_named(what: str) -> Iterator[None]:
    """Turns a MemoryError into an OutOfMemoryError that names the task in progress."""
    try:
        yield
    except MemoryError as error:
        raise OutOfMemoryError(f"There was too little memory for {what}; {_REMEDY}") from error


def name_memory_errors(
    running: Generator[T, S, None], objects: Sequence[bpy.types.Object], frames: Sequence[int]
) -> Generator[T, S, None]:
    """A running bake, with a MemoryError turned into an error that names bodies and frames."""
    with memory_errors_named(f"the bake of {_what(objects, frames)}"):
        yield from running


def available() -> int | None:
    """The memory that this process may still allocate [B]; None where it is unknown."""
    if sys.platform == "win32":
        return _of_windows()
    if sys.platform == "darwin":
        return _of_mac()
    return min((limit for limit in _of_linux() if limit < _NO_LIMIT), default=None)


def _what(objects: Sequence[bpy.types.Object], frames: Sequence[int]) -> str:
    """Text that names bodies and frames."""
    return f"{some(obj.name for obj in objects)} over frames {frames[0]} to {frames[-1]}"


def size_in_words(number: int) -> str:
    """A number of bytes as text in MiB or GiB."""
    return f"{number / 2**30:,.1f} GiB" if number >= 2**30 else f"{number / 2**20:,.1f} MiB"


def _of_linux() -> Iterator[int]:
    """Memory left on the machine, in each cgroup and under the process's own limit [B]."""
    if rows := _rows("/proc/meminfo"):
        yield 1024 * (rows.get("MemAvailable:", 2**60) + rows.get("SwapFree:", 0))
    for limit, usage, cache in _cgroups():
        yield limit - usage + cache
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    taken = _rows("/proc/self/status").get("VmSize:")
    if limit != resource.RLIM_INFINITY and taken is not None:
        yield limit - 1024 * taken


def _cgroups() -> Iterator[tuple[int, int, int]]:
    """Limit, usage and reclaimable file cache of each cgroup of this process [B]."""
    for line in _text("/proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers not in ("", "memory"):
            continue
        root = Path("/sys/fs/cgroup", controllers)
        names = ("memory.max", "memory.current", "inactive_file")
        if controllers:
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        place = root / path.lstrip("/")
        # Within a container, the path may be the one on the host.
        for folder in {root, *(each for each in (place, *place.parents) if root in each.parents)}:
            limit, usage = (_text(folder / name).strip() for name in names[:2])
            if limit.isdecimal() and usage.isdecimal():
                yield int(limit), int(usage), _rows(folder / "memory.stat").get(names[2], 0)


def _rows(path: str | Path) -> dict[str, int]:
    """The first number in each row of a file, by the name before it."""
    rows = (line.split() for line in _text(path).splitlines())
    return {row[0]: int(row[1]) for row in rows if len(row) > 1 and row[1].isdecimal()}


def _text(path: str | Path) -> str:
    """The text of a file; empty if there is none."""
    try:
        return Path(path).read_text("utf-8", "replace")
    except OSError:
        return ""


def _of_windows() -> int | None:
    """The memory that may still be committed [B]."""
    status = ctypes.create_string_buffer(struct.pack("=II7Q", 64, *[0] * 8), 64)
    kernel: object = getattr(ctypes, "windll", None)
    if not getattr(kernel, "kernel32").GlobalMemoryStatusEx(status):  # noqa: B009
        return None
    return int(struct.unpack("=II7Q", status.raw)[5])


def _of_mac() -> int | None:
    """All memory of the machine [B], since macOS compresses and swaps as needed."""
    size, length = ctypes.c_uint64(), ctypes.c_size_t(8)
    given = (b"hw.memsize", ctypes.byref(size), ctypes.byref(length), None, ctypes.c_size_t(0))
    return size.value if ctypes.CDLL(None).sysctlbyname(*given) == 0 else None
