"""Cosines, logarithms and the like, to the last digit alike in any NumPy, on any processor."""

from collections.abc import Callable

import numpy as np

from .arrays import Floats


def by_value(function: Callable[[float], float], values: Floats) -> Floats:
    """Returns what a function of Python's `math` gives for each value, once for equal ones.

    NumPy's own exp, log and cos use the vector instructions that a processor has, and each version
    rounds in its own way; where cloth folds, the last digit decides how.
    """
    different, places = np.unique(values, return_inverse=True)
    results = np.array([function(value) for value in different.tolist()], dtype=float)
    return np.asarray(results[places].reshape(np.shape(values)))
