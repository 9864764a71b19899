"""Trees of paths in C: what `numpy_kernels` does, by the functions of kernels.c."""

import numpy as np

from ..arrays import Floats
from ..compiled import Packed, address, declare, once, pack
from ..stretch.compiled_kernels import pack_strips
from .trees import TreeBatches, TreeLevel

_project_trees = declare("project_trees", "pip")


def _pack_level(level: TreeLevel) -> Packed:
    """The tree_level of kernels.c."""
    batch = level.batch
    size = len(batch.path)
    supports = np.full(int(batch.labels[-1]) + 1, -1)
    supports[batch.labels[level.hung]] = level.supports
    junctions = np.full(size, -1)
    junctions[level.passed] = level.passed_junctions
    work = np.empty((size, 3)), np.empty(size), np.empty(size)
    return pack(pack_strips(batch), supports, junctions, *work)


@once
def _tree_struct(trees: TreeBatches) -> Packed:
    """The tree of kernels.c."""
    levels = [_pack_level(level) for level in trees.levels]
    count = len(trees.inverse_masses)
    return pack(
        len(levels),
        count,
        pack(*levels),
        trees.inverse_masses,
        np.empty((count, 3, 3)),
        np.empty((count, 3, 3)),
        np.empty((count, 3)),
        np.empty((count, 3)),
    )


def project_trees(positions: Floats, trees: TreeBatches) -> None:
    """See `numpy_kernels`."""
    if trees.levels:
        _project_trees(address(positions), positions.shape[1], _tree_struct(trees))
