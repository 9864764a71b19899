"""The cotangent Laplacian of wave heights."""

import numpy as np

from ..arrays import Floats, sum_by
from ..kernel import Sized, Struct, kernel
from .surface import Water

Struct("water", Water, reads="pairs weights", pair_count=(int, lambda water: len(water.weights)))


@kernel(result=lambda _, heights: np.empty_like(heights))
def wave_laplacian(water: Water, heights: Sized) -> Floats:
    """(n,) −∫ Δη over the area of each vertex, for heights η (n,) [m]."""
    first, second = water.pairs
    flow = water.weights * (heights[first] - heights[second])
    n = len(heights)
    return sum_by(first, flow, n) - sum_by(second, flow, n)
