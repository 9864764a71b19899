"""The cotangent Laplacian of wave heights, in NumPy."""

from ..arrays import Floats, sum_by
from .surface import Water


def wave_laplacian(water: Water, heights: Floats) -> Floats:
    """(n,) −∫ Δη over the area of each vertex, for heights η (n,) [m]."""
    first, second = water.pairs
    flow = water.weights * (heights[first] - heights[second])
    n = len(heights)
    return sum_by(first, flow, n) - sum_by(second, flow, n)
