"""Volumes in NumPy."""

import numpy as np

from ..arrays import Floats, Integers, sum_by
from .chambers import Chambers
from .closed_surfaces import Volumes


def project_volumes(
    positions: Floats, triangles: Integers, volumes: Volumes, inverse_masses: Floats
) -> None:
    """C = V − V₀ = 0 with 6 V = Σ a · (b × c), so ∇ₐV = (b × c)/6 for every corner."""
    n, count = positions.shape[1], len(volumes.rest_volumes)
    if not count:
        return
    corners = positions[:, triangles]
    slopes = np.stack(
        [
            np.cross(corners[:, 1], corners[:, 2], axis=0),
            np.cross(corners[:, 2], corners[:, 0], axis=0),
            np.cross(corners[:, 0], corners[:, 1], axis=0),
        ],
        axis=1,
    )
    slopes /= 6.0
    volume = sum_by(volumes.labels, (corners[:, 0] * slopes[:, 0]).sum(axis=0), count + 1)[:count]
    gradient = np.stack([sum_by(triangles.ravel(), row.ravel(), n) for row in slopes])
    surface = np.full(n, count)
    surface[triangles] = volumes.labels
    mobility = sum_by(surface, inverse_masses * (gradient**2).sum(axis=0), count + 1)[:count]
    steps = (volumes.rest_volumes - volume) / np.where(mobility > 0.0, mobility, np.inf)
    gradient *= inverse_masses
    positions += gradient * np.append(steps, 0.0)[surface]


def volumes_and_slopes(positions: Floats, chambers: Chambers) -> tuple[Floats, Floats]:
    """(s,) volumes [m³] of chambers and (3, n) ∇V [m²]: 6 V = Σ a · (b × c) over triangles."""
    n, count = positions.shape[1], len(chambers.rest_volumes)
    corners = positions[:, chambers.triangles] - positions[:, None, :1]
    slopes = np.stack(
        [np.cross(corners[:, k - 2], corners[:, k - 1], axis=0) for k in range(3)], axis=1
    )
    slopes /= 6.0
    volumes = sum_by(chambers.labels, (corners[:, 0] * slopes[:, 0]).sum(axis=0), count)
    places = chambers.triangles.ravel()
    return volumes, np.stack([sum_by(places, row.ravel(), n) for row in slopes])
