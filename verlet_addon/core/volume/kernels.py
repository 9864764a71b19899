"""Volumes and their gradients."""

import numpy as np

from ..arrays import Floats, sum_by, sum_rows
from ..kernel import Sized, Struct, kernel
from .chambers import Chambers

Struct(
    "chambers",
    Chambers,
    reads="triangles labels",
    triangle_count=(int, lambda chambers: len(chambers.labels)),
    count=(int, lambda chambers: len(chambers.rest_volumes)),
)


@kernel(
    result=lambda positions, chambers: (
        np.empty(len(chambers.rest_volumes)),
        np.empty_like(positions),
    )
)
def volumes_and_gradients(positions: Sized, chambers: Chambers) -> tuple[Floats, Floats]:
    """(s,) volumes [m³] of chambers and (3, n) ∇V [m²]: 6 V = Σ a · (b × c) over triangles."""
    n, count = positions.shape[1], len(chambers.rest_volumes)
    corners = positions[:, chambers.triangles] - positions[:, None, :1]
    gradients = np.stack(
        [np.cross(corners[:, k - 2], corners[:, k - 1], axis=0) for k in range(3)], axis=1
    )
    gradients /= 6.0
    volumes = sum_by(chambers.labels, (corners[:, 0] * gradients[:, 0]).sum(axis=0), count)
    vertices = chambers.triangles.ravel()
    return volumes, sum_rows(vertices, gradients.reshape(3, -1), n)
