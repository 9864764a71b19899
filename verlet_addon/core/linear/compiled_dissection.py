"""Systems factorized by nested dissection, as dissection.h takes them."""

import numpy as np

from ..compiled import Packed, pack
from .dissection import Factors


def pack_factors(factors: Factors, axes: int) -> Packed:
    """The dissected of dissection.h, to be solved for so many right sides at once."""
    depths = []
    for depth in factors.depths:
        parts, size, reach = depth.passed.shape
        depths.append(
            pack(
                parts,
                size,
                reach,
                depth.own,
                depth.border,
                depth.root.transpose(0, 2, 1),
                depth.passed,
                np.empty((parts, axes, size)),
                np.empty(reach),
            )
        )
    values = np.zeros((axes, factors.size + 1))
    return pack(factors.size, axes, len(depths), pack(*depths), values)
