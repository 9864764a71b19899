"""Factors of nested dissection as the structs of nested_dissection.h."""

import numpy as np

from ..arrays import Floats
from ..compiled import Packed, pack
from .nested_dissection import Depth, Factors


def pack_factors(factors: Factors, values: Floats) -> Packed:
    """The `dissected_system` struct of nested_dissection.h; `values` are right-hand sides."""
    axes = len(values)
    depths = [_pack_depth(depth, factors.size, axes) for depth in factors.depths]
    return pack(factors.size, axes, len(depths), pack(*depths), values)


def _pack_depth(depth: Depth, count: int, axes: int) -> Packed:
    """The `depth` struct of one depth in a system of `count` unknowns, without padding."""
    parts, size, reach = depth.coupling.shape
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
        depth.coupling[own[:, :, None] & border[:, None, :]],
        np.empty((parts, axes, size)),
        np.empty((axes, reach)),
    )
