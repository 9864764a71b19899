"""Types of arrays, and sums by label."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

SHORTEST = 1e-12
"""Distances are not divided by less than this [m]; coincident particles have no direction."""


def sum_by(labels: Integers, values: Floats, count: int) -> Floats:
    """(count,) the values added up label by label."""
    return np.bincount(labels, values, count).astype(np.float64, copy=False)


def inverse(resistance: Floats, mobility: Floats) -> Floats:
    """(c,) 1 / resistance, and 0 where nothing can move."""
    movable = mobility > 0.0
    return np.where(movable, 1.0 / np.where(movable, resistance, 1.0), 0.0)
