"""Transcendental functions with the same bits in any version of NumPy and on any processor."""

from collections.abc import Callable

import numpy as np

from .arrays import Floats


def by_value(function: Callable[[float], float], values: Floats) -> Floats:
    """Applies a function of Python's `math` to each value, once for equal ones.

    NumPy's own exp, log and cos use the vector instructions of the processor, and round differently
    in each version; folding cloth amplifies differences of the last digit.
    """
    different, places = np.unique(values, return_inverse=True)
    results = np.array([function(value) for value in different.tolist()], dtype=float)
    return np.asarray(results[places].reshape(np.shape(values)))
