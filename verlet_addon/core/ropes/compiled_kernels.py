"""Trees of paths in C: the functions of `numpy_kernels`, compiled."""

from collections.abc import Iterable

import numpy as np

from ..arrays import Floats
from ..compiled import Packed, cached_struct, declare, falls_back_to, pack
from ..stretch.compiled_kernels import pack_strips, strip_struct
from ..stretch.strip_batches import StripBatch
from . import numpy_kernels as reference
from .numpy_kernels import RESOLVED_VIBRATION
from .rope_trees import Generation, TreeBatches

_project_trees = declare("project_trees", "pip")
_remove_stretching = declare("remove_stretching", "ppip")
_add_start_spring_forces = declare("add_start_spring_forces", "ppip")
_undo_implicit_damping = declare("undo_implicit_damping", "pppipd")


def _pack_generation(generation: Generation) -> Packed:
    """The `generation` struct of kernels.c."""
    batch = generation.batch
    size = len(batch.path)
    supports = np.full(int(batch.labels[-1]) + 1, -1)
    supports[batch.labels[generation.support_entries]] = generation.supports
    junctions = np.full(size, -1)
    junctions[generation.junction_entries] = generation.entry_junctions
    work = np.empty((size, 3)), np.empty(size), np.empty(size)
    return pack(pack_strips(batch), supports, junctions, *work)


def pack_trees(trees: TreeBatches) -> Packed:
    """The `tree` struct of kernels.c."""
    generations = [_pack_generation(generation) for generation in trees.generations]
    count = len(trees.inverse_masses)
    return pack(
        len(generations),
        count,
        pack(*generations),
        trees.inverse_masses,
        np.empty((count, 3, 3)),
        np.empty((count, 3, 3)),
        np.empty((count, 3)),
        np.empty((count, 3)),
    )


tree_struct = cached_struct(pack_trees)


@falls_back_to(reference.project_trees)
def project_trees(positions: Floats, trees: TreeBatches) -> None:
    if trees.generations:
        _project_trees(positions, positions.shape[1], tree_struct(trees))


@falls_back_to(reference.remove_stretching)
def remove_stretching(displacements: Floats, positions: Floats, trees: TreeBatches) -> None:
    if trees.generations:
        _remove_stretching(displacements, positions, positions.shape[1], tree_struct(trees))


@falls_back_to(reference.add_start_spring_forces)
def add_start_spring_forces(
    moved: Floats, positions: Floats, batches: Iterable[StripBatch]
) -> None:
    for batch in batches:
        if len(batch.start_stiffnesses):
            _add_start_spring_forces(moved, positions, moved.shape[1], strip_struct(batch))


@falls_back_to(reference.undo_implicit_damping)
def undo_implicit_damping(
    previous_positions: Floats, start: Floats, positions: Floats, batches: Iterable[StripBatch]
) -> None:
    for batch in batches:
        _undo_implicit_damping(
            previous_positions,
            start,
            positions,
            positions.shape[1],
            strip_struct(batch),
            RESOLVED_VIBRATION,
        )
