"""Cells that need quadratic elements: in thin parts of a body that are oblique to the grid."""

import numpy as np

from ..arrays import Booleans, Floats

THICK_CELLS, FULL_SHARE = 3, 0.85
"""A part of a body is thick if it has a block of THICK_CELLS cells along each axis, filled to more
than FULL_SHARE; at 45° to the grid, these are parts thicker than 2.6 cells."""
MAX_BOX_DEVIATION = 0.05
"""Largest `_box_deviation` of cells in parts that are parallel to the grid."""


def find_thin_cells(fillings: Floats, kept: Booleans) -> Booleans:
    """(x, y, z) bool, kept cells that are thin and oblique, or neighbours of such cells.

    Parameters
    ----------
    fillings : (x, y, z, 3, 3, 3) integration weights by `voxels.fill`.
    kept : (x, y, z) bool, cells of the lattice.
    """
    thin = kept & ~_dilated(_in_full_blocks(fillings.sum(axis=(3, 4, 5))))
    return kept & _dilated(thin & (_box_deviation(fillings) > MAX_BOX_DEVIATION))


def _in_full_blocks(shares: Floats) -> Booleans:
    """(x, y, z) bool, cells that are part of a full block, for filled shares (x, y, z)."""
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
    """(x, y, z) bool, the cells and their 26 neighbours."""
    dilated = cells
    for axis in range(3):
        ends = [(1, 1) if axis == other else (0, 0) for other in range(3)]
        padded = np.pad(dilated, ends).swapaxes(0, axis)
        dilated = (padded[:-2] | padded[1:-1] | padded[2:]).swapaxes(0, axis)
    return dilated


def _box_deviation(fillings: Floats) -> Floats:
    """(x, y, z) deviation of weights from their closest product along the axes, as a share."""
    total = np.maximum(fillings.sum(axis=(3, 4, 5)), 1e-30)[..., None, None, None]
    along = fillings.sum(axis=(4, 5))[..., :, None, None] / total
    across = fillings.sum(axis=(3, 5))[..., None, :, None] / total
    up = fillings.sum(axis=(3, 4))[..., None, None, :]
    off = np.abs(fillings - along * across * up)
    return np.asarray((off / total).sum(axis=(3, 4, 5)))
