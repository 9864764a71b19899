"""Stiff bends in NumPy."""

from collections.abc import Iterable

import numpy as np

from ..mesh import Floats
from ..stiff_bends import HINGE, StiffBendBatch
from .dissection import solve


def project_stiff_bends(positions: Floats, batches: Iterable[StiffBendBatch]) -> None:
    """C = g = 0 for all bends at once: what they move, d, fulfils M d + Σ c C(x + d)/α̃ = 0."""
    for batch in batches:
        points = positions.take(batch.particles, axis=1, mode="clip").reshape(3, HINGE, -1)
        bends = points[:, 0] * batch.coefficients[0]
        for k in range(1, HINGE):
            bends += points[:, k] * batch.coefficients[k]
        bends *= batch.stiffnesses
        moments = [(batch.coefficients * row).ravel() for row in bends]
        pull = np.stack(
            [np.bincount(batch.particles, row, positions.shape[1])[batch.free] for row in moments]
        )
        moved = solve(batch.factors, -pull - batch.multipliers)
        batch.multipliers[...] += batch.masses * moved
        positions[:, batch.free] += moved
