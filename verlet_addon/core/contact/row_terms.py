"""Sums of weighted positions, of which contact rows are made."""

import numpy as np

from ..arrays import Floats, Integers
from ..kernel import Sized, kernel


@kernel(result=lambda _, particles, __: np.empty((3, particles.shape[1])))
def sum_weighted(positions: Sized, particles: Integers, weights: Sized) -> Floats:
    """(3, k) Σ weights (4, k) × positions (3, N) of particles (4, k), added sequentially."""
    total = weights[0] * positions[:, particles[0]]
    for corner in (1, 2, 3):
        total += weights[corner] * positions[:, particles[corner]]
    return np.asarray(total)
