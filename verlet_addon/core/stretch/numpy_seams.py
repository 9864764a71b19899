"""Seams in NumPy."""

from collections.abc import Iterable

import numpy as np

from ..arrays import Floats, norms
from .seams import CLOSED_SEAM_FACTOR, SeamBatch


def project_seams(positions: Floats, batches: Iterable[SeamBatch]) -> None:
    """C = x₂ − x₁ = 0, a linear constraint with the force of each seam limited.

    Moves positions (3, n) in place, and marks the seams that have closed or torn.
    """
    for batch in batches:
        offsets = positions[:, batch.second] - positions[:, batch.first]
        multipliers = batch.multipliers + batch.gains * offsets
        limits = np.where(batch.closed, CLOSED_SEAM_FACTOR, 1.0) * batch.max_multipliers
        multipliers *= np.where(batch.torn, 0.0, np.minimum(1.0, limits / norms(multipliers)))
        change = multipliers - batch.multipliers
        batch.multipliers[...] = multipliers
        positions[:, batch.first] += batch.inverse_masses[0] * change
        positions[:, batch.second] -= batch.inverse_masses[1] * change
        offsets -= batch.inverse_masses.sum(axis=0) * change
        gaps = norms(offsets)
        batch.closed[gaps < batch.closed_gaps] = True
        batch.torn[gaps > batch.torn_gaps] = True
