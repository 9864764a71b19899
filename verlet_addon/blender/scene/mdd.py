"""MDD point caches, which Blender's Mesh Cache modifier and many other programs play."""

from pathlib import Path
from struct import Struct
from typing import NamedTuple

import numpy as np

from ...core.arrays import Floats

_HEADER = Struct(">ii")
"""Samples and vertices; the time of each sample follows, then the samples."""


class Extent(NamedTuple):
    """Vertices and times of a cache."""

    vertices: int
    times: Floats
    """(s,) time of each sample [s]."""


def create_mdd(path: Path, *, vertex_count: int, times: Floats) -> None:
    """Writes the start of a cache, which `append_mdd` completes.

    Parameters
    ----------
    times : (s,) time of each sample [s].
    """
    path.write_bytes(_HEADER.pack(len(times), vertex_count) + times.astype(">f4").tobytes())


def append_mdd(path: Path, coordinates: Floats) -> None:
    """Appends a sample, coordinates (n, 3), kept as float32."""
    with path.open("ab") as file:
        file.write(coordinates.astype(">f4").tobytes())


def read_extent(path: Path) -> Extent:
    """The number of vertices and the times of a cache.

    Raises
    ------
    OSError
        The file cannot be read.
    ValueError
        It is no point cache, or it is shorter than its header says.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        header = file.read(_HEADER.size)
        if len(header) < _HEADER.size:
            raise ValueError("it is no MDD point cache")
        samples, vertices = _HEADER.unpack(header)
        if samples < 1 or vertices < 1:
            raise ValueError("it is no MDD point cache")
        if size < _HEADER.size + 4 * samples + 12 * samples * vertices:
            raise ValueError("its end is missing")
        times = np.frombuffer(file.read(4 * samples), ">f4")
    return Extent(vertices, times.astype(np.float64))
