"""PC2 point caches, which Blender's Mesh Cache modifier plays: written sample by sample, and read.

Blender reads the file anew at every evaluation, the number of samples included.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from struct import Struct
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats

_HEADER = Struct("<12siiffi")
"""Name of the format, its version, vertices, first frame, frames from sample to sample, samples."""
_COUNT = Struct("<i")
_COUNT_PLACE = _HEADER.size - _COUNT.size
_FORMAT = b"POINTCACHE2\0"


class Size(NamedTuple):
    """Extent of a cache."""

    vertices: int
    samples: int
    """Number of samples that are counted and complete."""


def create_pc2(path: Path, *, vertex_count: int, frame_start: int) -> None:
    """Writes a cache without any samples; a former file of that name is replaced."""
    path.write_bytes(_HEADER.pack(_FORMAT, 1, vertex_count, float(frame_start), 1.0, 0))


def append_sample(path: Path, coordinates: Floats | NDArray[np.float32], number: int) -> None:
    """Writes sample `number`, counted from 0; the cache then ends with it.

    Parameters
    ----------
    coordinates : (n, 3) in the object's space, kept as float32.
    """
    data = np.ascontiguousarray(coordinates, "<f4")
    with path.open("r+b") as file:
        file.seek(_HEADER.size + number * data.nbytes)
        file.write(data.data)
        file.flush()
        # Blender may read the file at any moment, but reads no sample that is not counted.
        file.seek(_COUNT_PLACE)
        file.write(_COUNT.pack(number + 1))


def read_size(path: Path) -> Size:
    """Number of vertices and of samples of a cache.

    Raises
    ------
    OSError
        The file cannot be read.
    ValueError
        It is no point cache, or it is shorter than its header says.
    """
    with path.open("rb") as file:
        header = file.read(_HEADER.size)
    if len(header) < _HEADER.size or not header.startswith(_FORMAT):
        raise ValueError("it is no PC2 point cache")
    _, _, vertices, _, _, samples = _HEADER.unpack(header)
    if path.stat().st_size < _HEADER.size + 12 * vertices * samples:
        raise ValueError("its end is missing")
    return Size(vertices, samples)


def read_start(path: Path) -> float:
    """Frame of the first sample of a cache; errors as of `read_size`."""
    read_size(path)
    with path.open("rb") as file:
        return float(_HEADER.unpack(file.read(_HEADER.size))[3])


def read_samples(path: Path, first: int, count: int) -> Iterator[NDArray[np.float32]]:
    """Yields (n, 3) coordinates of samples in the object's space, `first` counted from 0."""
    vertices = read_size(path).vertices
    with path.open("rb") as file:
        file.seek(_HEADER.size + 12 * vertices * first)
        for _ in range(count):
            yield np.frombuffer(file.read(12 * vertices), "<f4").reshape(-1, 3)


def keep_samples(path: Path, vertex_count: int, count: int) -> None:
    """Has the cache end after so many samples."""
    with path.open("r+b") as file:
        file.seek(_COUNT_PLACE)
        file.write(_COUNT.pack(count))
        file.truncate(_HEADER.size + 12 * vertex_count * count)


def flush_to_disk(path: Path) -> None:
    """Waits until all that was written to a file is on the disk."""
    with path.open("r+b") as file:
        os.fsync(file.fileno())
