"""Which cells a body passes through aslant, where it is thinner than a few of them."""

import numpy as np

from ..arrays import Booleans, Floats

THICK_CELLS, FULL_SHARE = 3, 0.85
"""Parts of a body are not thin that hold a block of so many cells along each axis, filled to so
large a share: at 45° to the cells, what is thicker than 2.6 of them."""
MAX_BOX_DEVIATION = 0.05
"""Cells filled like a box are off that by a smaller share of what they hold."""


def find_thin_cells(fillings: Floats, kept: Booleans) -> Booleans:
    """(x, y, z) which of the cells that are kept should bend: thin and aslant, or beside such.

    Parameters
    ----------
    fillings : (x, y, z, 3, 3, 3) by `voxels.fill`.
    """
    thin = kept & ~_dilated(_in_full_blocks(fillings.sum(axis=(3, 4, 5))))
    return kept & _dilated(thin & (_box_deviation(fillings) > MAX_BOX_DEVIATION))


def _in_full_blocks(shares: Floats) -> Booleans:
    """(x, y, z) which cells are part of a block that is full, by what share each is filled."""
    in_blocks = np.zeros(shares.shape, dtype=bool)
    starts = np.array(shares.shape) - THICK_CELLS + 1
    if starts.min() > 0:
        steps = list(np.ndindex(THICK_CELLS, THICK_CELLS, THICK_CELLS))
        windows = [tuple(slice(i, i + n) for i, n in zip(s, starts, strict=True)) for s in steps]
        full = np.mean([shares[place] for place in windows], axis=0) > FULL_SHARE
        for place in windows:
            in_blocks[place] |= full
    return in_blocks


def _dilated(cells: Booleans) -> Booleans:
    """(x, y, z) these cells, and all that touch them."""
    dilated = cells
    for axis in range(3):
        ends = [(1, 1) if axis == other else (0, 0) for other in range(3)]
        padded = np.pad(dilated, ends).swapaxes(0, axis)
        dilated = (padded[:-2] | padded[1:-1] | padded[2:]).swapaxes(0, axis)
    return dilated


def _box_deviation(fillings: Floats) -> Floats:
    """(x, y, z) by what share each cell is filled otherwise than the box that is nearest."""
    total = np.maximum(fillings.sum(axis=(3, 4, 5)), 1e-30)[..., None, None, None]
    along = fillings.sum(axis=(4, 5))[..., :, None, None] / total
    across = fillings.sum(axis=(3, 5))[..., None, :, None] / total
    up = fillings.sum(axis=(3, 4))[..., None, None, :]
    off = np.abs(fillings - along * across * up)
    return np.asarray((off / total).sum(axis=(3, 4, 5)))
