"""Water in C: the functions of `numpy_kernels`."""

import numpy as np

from ..arrays import Floats
from ..compiled import Packed, cached_struct, declare, falls_back_to, members, pack
from . import numpy_kernels as reference
from .surface import Water

_wave_laplacian = declare("wave_laplacian", "ppip")


@cached_struct
def _pairs_struct(water: Water) -> Packed:
    """The wave_pairs of kernels.c."""
    return pack(len(water.weights), *members(water, "pairs weights"))


@falls_back_to(reference.wave_laplacian)
def wave_laplacian(water: Water, heights: Floats) -> Floats:
    flows = np.empty_like(heights)
    _wave_laplacian(_pairs_struct(water), heights, len(heights), flows)
    return flows
