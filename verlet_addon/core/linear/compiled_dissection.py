"""Systems factorized by nested dissection, as dissection.h takes them."""

import numpy as np

from ..compiled import Packed, pack
from .dissection import Depth, Factors


def pack_factors(factors: Factors, axes: int) -> Packed:
    """The dissected of dissection.h, to be solved for so many right sides at once."""
    depths = [_pack_depth(depth, factors.size, axes) for depth in factors.depths]
    values = np.zeros((axes, factors.size + 1))
    return pack(factors.size, axes, len(depths), pack(*depths), values)


def _pack_depth(depth: Depth, count: int, axes: int) -> Packed:
    """The depth of dissection.h, of so many unknowns in all, without what fills its parts up."""
    parts, size, reach = depth.passed.shape
    own, border = depth.own < count, depth.border < count
    below = own[:, :, None] & np.tri(size, dtype=bool).T
    return pack(
        parts,
        size,
        reach,
        own.sum(axis=1),
        border.sum(axis=1),
        depth.own,
        depth.border,
        depth.root.transpose(0, 2, 1)[below & own[:, None, :]],
        depth.passed[own[:, :, None] & border[:, None, :]],
        np.empty((parts, axes, size)),
        np.empty((axes, reach)),
    )
