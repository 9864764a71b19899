"""The memory that a bake takes, and the memory that is left."""

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
from ..scene.mesh_access import mesh_of

T = TypeVar("T")
S = TypeVar("S")

LARGE = 4 * 2**30
"""The memory from which on a bake is told to be large [B]."""
_COPY = 12
"""A copy of a shape key, for each vertex: three numbers of 4 bytes [B]."""
_OVERHEAD = 5000
"""What Blender keeps besides for each shape key: its name, curve and copies [B]."""
_BASE = 64 * 2**20
"""What even the smallest bake takes; linear algebra would wait for its buffer for ever [B]."""
_REMEDY = "bake fewer frames or bodies, or set a higher step"
# A cgroup without a limit has one of about 2^63 bytes.
_NO_LIMIT = 2**60


def needed(objects: Sequence[bpy.types.Object], keys: int) -> int:
    """Estimates the memory of a bake [B], measured in Blender 5.0.

    Blender holds each key twice, itself and evaluated, for which ours make room; with undo, which
    there is only in the interface, three times.
    """
    copies = 2 if bpy.app.background else 3
    vertices = sum(len(mesh_of(obj).vertices) for obj in objects)
    return _BASE + keys * (copies * _COPY * vertices + _OVERHEAD * len(objects))


def check_room(objects: Sequence[bpy.types.Object], frames: Sequence[int]) -> None:
    """Raises OutOfMemoryError where the keys of a bake cannot fit."""
    _refuse(f"The bake of {_what(objects, frames)} needs", needed(objects, len(frames)))


def check_room_to_write(objects: Sequence[bpy.types.Object], frames: Sequence[int]) -> None:
    """Raises OutOfMemoryError where Blender could not take the keys, and would crash."""
    ours = len(frames) * _COPY * sum(len(mesh_of(obj).vertices) for obj in objects)
    more = needed(objects, len(frames)) - ours - _BASE
    _refuse(f"To keep the bake of {_what(objects, frames)} needs another", more)


def _refuse(deed: str, need: int) -> None:
    """Raises OutOfMemoryError where there is less memory."""
    left = available()
    if left is not None and need > left:
        raise OutOfMemoryError(
            f"{deed} {size_in_words(need)} of memory, and {size_in_words(left)} are left; {_REMEDY}"
        )


def large_need(objects: Sequence[bpy.types.Object], keys: int) -> list[str]:
    """One sentence on the memory of a bake, if that is large."""
    need = needed(objects, keys)
    if need < LARGE:
        return []
    return [f"This bake takes about {size_in_words(need)} of memory; {_REMEDY}, to take less"]


@contextmanager
def told(what: str) -> Iterator[None]:
    """Turns a lack of memory into one sentence."""
    try:
        yield
    except MemoryError as error:
        raise OutOfMemoryError(f"There was too little memory for {what}; {_REMEDY}") from error


def told_throughout(
    running: Generator[T, S, None], objects: Sequence[bpy.types.Object], frames: Sequence[int]
) -> Generator[T, S, None]:
    """The same bake; a lack of memory becomes one sentence."""
    with told(f"the bake of {_what(objects, frames)}"):
        yield from running


def available() -> int | None:
    """The memory that this process may still take [B]; None where nobody says."""
    if sys.platform == "win32":
        return _of_windows()
    if sys.platform == "darwin":
        return _of_mac()
    return min((limit for limit in _of_linux() if limit < _NO_LIMIT), default=None)


def _what(objects: Sequence[bpy.types.Object], frames: Sequence[int]) -> str:
    """Names bodies and frames."""
    return f"{some(obj.name for obj in objects)} over frames {frames[0]} to {frames[-1]}"


def size_in_words(number: int) -> str:
    """Writes bytes as users read them."""
    return f"{number / 2**30:,.1f} GiB" if number >= 2**30 else f"{number / 2**20:,.1f} MiB"


def _of_linux() -> Iterator[int]:
    """What is left of the machine's memory, of the cgroups' and of the process's own."""
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
    """Limit, usage, and what of that the kernel gives up, of each cgroup around this process."""
    for line in _text("/proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers not in ("", "memory"):
            continue
        root = Path("/sys/fs/cgroup", controllers)
        names = ("memory.max", "memory.current", "inactive_file")
        if controllers:
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        place = root / path.lstrip("/")
        # Within a container, the path may be that outside of it.
        for folder in {root, *(each for each in (place, *place.parents) if root in each.parents)}:
            limit, usage = (_text(folder / name).strip() for name in names[:2])
            if limit.isdecimal() and usage.isdecimal():
                yield int(limit), int(usage), _rows(folder / "memory.stat").get(names[2], 0)


def _rows(path: str | Path) -> dict[str, int]:
    """The first number of each row of a file, by the name before it."""
    rows = (line.split() for line in _text(path).splitlines())
    return {row[0]: int(row[1]) for row in rows if len(row) > 1 and row[1].isdecimal()}


def _text(path: str | Path) -> str:
    """The text of a file; empty if there is none."""
    try:
        return Path(path).read_text("utf-8", "replace")
    except OSError:
        return ""


def _of_windows() -> int | None:
    """The memory that may be committed yet."""
    status = ctypes.create_string_buffer(struct.pack("=II7Q", 64, *[0] * 8), 64)
    kernel: object = getattr(ctypes, "windll", None)
    if not getattr(kernel, "kernel32").GlobalMemoryStatusEx(status):  # noqa: B009
        return None
    return int(struct.unpack("=II7Q", status.raw)[5])


def _of_mac() -> int | None:
    """All memory there is, for macOS makes room as long as it can."""
    size, length = ctypes.c_uint64(), ctypes.c_size_t(8)
    given = (b"hw.memsize", ctypes.byref(size), ctypes.byref(length), None, ctypes.c_size_t(0))
    return size.value if ctypes.CDLL(None).sysctlbyname(*given) == 0 else None
