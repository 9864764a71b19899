"""Seams in NumPy."""

from collections.abc import Iterable

import numpy as np

from ..arrays import Floats, norms
from .seams import FIRMER, SeamBatch


def project_seams(positions: Floats, batches: Iterable[SeamBatch]) -> None:
    """C = x₂ − x₁ = 0, as far as the force goes: it is linear, and holds where both lie together.

    Moves positions (3, n) in place.
    """
    for batch in batches:
        apart = positions[:, batch.second] - positions[:, batch.first]
        pulls = batch.multipliers + batch.gains * apart
        greatest = np.where(batch.closed, FIRMER, 1.0) * batch.greatest
        pulls *= np.where(batch.torn, 0.0, np.minimum(1.0, greatest / norms(pulls)))
        change = pulls - batch.multipliers
        batch.multipliers[...] = pulls
        positions[:, batch.first] += batch.inverse_masses[0] * change
        positions[:, batch.second] -= batch.inverse_masses[1] * change
        apart -= batch.inverse_masses.sum(axis=0) * change
        gaps = norms(apart)
        batch.closed[gaps < batch.near] = True
        batch.torn[gaps > batch.gapes] = True
