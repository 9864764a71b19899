"""Stiff bends in NumPy."""

from collections.abc import Iterable

import numpy as np

from ..mesh import Floats
from ..stiff_bends import StiffBendBatch
from ..topology import sum_by
from .dissection import solve
from .numpy_kernels import gather_bends


def project_stiff_bends(positions: Floats, batches: Iterable[StiffBendBatch]) -> None:
    """C = g = 0 for all bends at once: what they move, d, fulfils M d + Σ c C(x + d)/α̃ = 0."""
    for batch in batches:
        _, bends = gather_bends(positions, batch.particles, batch.coefficients)
        bends *= batch.stiffnesses
        moments = [(batch.coefficients * row).ravel() for row in bends]
        pull = np.stack(
            [sum_by(batch.particles, row, positions.shape[1])[batch.free] for row in moments]
        )
        moved = solve(batch.factors, -pull - batch.multipliers)
        batch.multipliers[...] += batch.masses * moved
        positions[:, batch.free] += moved
