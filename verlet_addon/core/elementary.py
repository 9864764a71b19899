"""Elementary functions that round alike in every version of NumPy and on every processor."""

from collections.abc import Callable

import numpy as np

from .arrays import Floats


def by_value(function: Callable[[float], float], values: Floats) -> Floats:
    """Returns a function of Python's `math` for each of the values, worked out once for equal ones.

    NumPy's own exp, log and cos take what vector instructions a processor has, and each version
    rounds them in its own way; where cloth folds, the last digit decides.
    """
    different, places = np.unique(values, return_inverse=True)
    results = np.array([function(value) for value in different.tolist()], dtype=float)
    return np.asarray(results[places].reshape(np.shape(values)))
