"""Water in C: what `numpy_kernels` does."""

import numpy as np

from ..arrays import Floats
from ..compiled import Packed, declare, instead_of, members, once, pack
from . import numpy_kernels as reference
from .surface import Water

_levelling = declare("levelling", "ppip")


@once
def _ties(water: Water) -> Packed:
    """The level_ties of kernels.c."""
    return pack(len(water.weights), *members(water, "pairs weights"))


@instead_of(reference.levelling)
def levelling(water: Water, heights: Floats) -> Floats:
    found = np.empty_like(heights)
    _levelling(_ties(water), heights, len(heights), found)
    return found
