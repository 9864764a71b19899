"""Volumes in NumPy."""

import numpy as np

from ..arrays import Floats, sum_by
from .volumes import Volumes


def project_volumes(positions: Floats, volumes: Volumes, inverse_masses: Floats) -> None:
    """C = V − V₀ = 0 with 6 V = Σ a · (b × c), so ∇ₐV = (b × c)/6 for every corner."""
    corners = positions[:, volumes.triangles]
    slopes = np.stack(
        [
            np.cross(corners[:, 1], corners[:, 2], axis=0),
            np.cross(corners[:, 2], corners[:, 0], axis=0),
            np.cross(corners[:, 0], corners[:, 1], axis=0),
        ],
        axis=1,
    )
    slopes /= 6.0
    count = len(volumes.rest_volumes)
    volume = np.bincount(volumes.labels, (corners[:, 0] * slopes[:, 0]).sum(axis=0), count)
    particles = volumes.triangles.ravel()
    gradient = np.stack([sum_by(particles, row.ravel(), positions.shape[1]) for row in slopes])
    surface = np.full(positions.shape[1], -1)
    surface[volumes.triangles] = volumes.labels
    inside = np.flatnonzero(surface >= 0)
    mobility = inverse_masses[inside] * (gradient[:, inside] ** 2).sum(axis=0)
    mobility = np.bincount(surface[inside], mobility, count)
    steps = (volumes.rest_volumes - volume) / np.where(mobility > 0.0, mobility, np.inf)
    gradient *= inverse_masses
    positions[:, inside] += gradient[:, inside] * steps[surface[inside]]
