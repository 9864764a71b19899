"""Volumes in C: what `numpy_kernels` does, by the functions of kernels.c."""

import numpy as np

from ..arrays import Floats, Integers
from ..compiled import Packed, address, declare, once, pack
from .closed_surfaces import Volumes

_project_volumes = declare("project_volumes", "pippppp")


@once
def _struct(volumes: Volumes) -> Packed:
    """The closed_surfaces of kernels.c."""
    count = len(volumes.rest_volumes)
    return pack(
        len(volumes.labels),
        count,
        volumes.labels,
        volumes.rest_volumes,
        np.empty(count + 1),
        np.empty(count + 1),
    )


def project_volumes(
    positions: Floats, triangles: Integers, volumes: Volumes, inverse_masses: Floats
) -> None:
    """See `numpy_kernels`."""
    if len(volumes.rest_volumes):
        n = positions.shape[1]
        gradient, surface = np.empty((n, 3)), np.empty(n, dtype=np.int64)
        _project_volumes(
            address(positions),
            n,
            _struct(volumes),
            address(triangles),
            address(inverse_masses),
            address(gradient),
            address(surface),
        )
