"""Volumes in C: what `numpy_kernels` does."""

import numpy as np

from ..arrays import Floats
from ..compiled import declare, instead_of
from . import numpy_kernels as reference
from .chambers import Chambers

_volumes_and_slopes = declare("volumes_and_slopes", "pippiipp")


@instead_of(reference.volumes_and_slopes)
def volumes_and_slopes(positions: Floats, chambers: Chambers) -> tuple[Floats, Floats]:
    volumes, slopes = np.empty(len(chambers.rest_volumes)), np.empty_like(positions)
    _volumes_and_slopes(
        positions,
        positions.shape[1],
        chambers.triangles,
        chambers.labels,
        len(chambers.labels),
        len(volumes),
        volumes,
        slopes,
    )
    return volumes, slopes
