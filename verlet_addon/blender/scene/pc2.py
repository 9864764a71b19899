"""PC2 point caches, which Blender's Mesh Cache modifier plays: written sample by sample, and read.

Blender reads the file anew at every evaluation, the number of samples included.
"""

from pathlib import Path
from struct import Struct

import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats

_HEADER = Struct("<12siiffi")
"""Name of the format, its version, vertices, first frame, frames from sample to sample, samples."""
_COUNT = Struct("<i")
_COUNT_PLACE = _HEADER.size - _COUNT.size


def create_pc2(path: Path, *, vertex_count: int, frame_start: int) -> None:
    """Writes a cache without any samples; a former file of that name is replaced."""
    path.write_bytes(_HEADER.pack(b"POINTCACHE2\0", 1, vertex_count, float(frame_start), 1.0, 0))


def append_sample(path: Path, coordinates: Floats | NDArray[np.float32], number: int) -> None:
    """Writes sample `number`, counted from 0; the cache then ends with it.

    Parameters
    ----------
    coordinates : (n, 3) in the object's space, kept as float32.
    """
    data = np.ascontiguousarray(coordinates, "<f4").tobytes()
    with path.open("r+b") as file:
        file.seek(_HEADER.size + number * len(data))
        file.write(data)
        file.flush()
        # Blender may read the file at any moment, but reads no sample that is not counted.
        file.seek(_COUNT_PLACE)
        file.write(_COUNT.pack(number + 1))


def keep_samples(path: Path, count: int) -> None:
    """Has the cache end after so many samples."""
    with path.open("r+b") as file:
        file.seek(_COUNT_PLACE)
        file.write(_COUNT.pack(count))
