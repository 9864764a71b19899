"""Volumes in C: the functions of `numpy_kernels`."""

import numpy as np

from ..arrays import Floats
from ..compiled import declare, falls_back_to
from . import numpy_kernels as reference
from .chambers import Chambers

_volumes_and_gradients = declare("volumes_and_gradients", "pippiipp")


@falls_back_to(reference.volumes_and_gradients)
def volumes_and_gradients(positions: Floats, chambers: Chambers) -> tuple[Floats, Floats]:
    volumes, gradients = np.empty(len(chambers.rest_volumes)), np.empty_like(positions)
    _volumes_and_gradients(
        positions,
        positions.shape[1],
        chambers.triangles,
        chambers.labels,
        len(chambers.labels),
        len(volumes),
        volumes,
        gradients,
    )
    return volumes, gradients
