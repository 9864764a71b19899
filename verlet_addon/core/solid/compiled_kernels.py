"""Solids in C: the functions of `numpy_kernels`."""

import numpy as np

from ..arrays import Booleans, Floats, Integers, ranges, weighted_sums
from ..compiled import (
    Member,
    Packed,
    cached_struct,
    declare,
    falls_back_to,
    members,
    pack,
    shared_arrays,
)
from . import numpy_kernels as reference
from .elements import CELL_CORNERS, CORNER_UNKNOWNS
from .lattice import Cells, Embedding, Lattice
from .numpy_kernels import Corotations

SYMMETRY_TOLERANCE = 1e-12
"""Relative difference up to which stiffnesses count as symmetric."""
BOX_NUMBERS = 19
"""Numbers per cell in a solid_box_state of cells.h."""
_find_stress = declare("find_stress", "pppdpppp")
_interpolate = declare("interpolate", "ppip")


@cached_struct
def pack_lattice(lattice: Lattice) -> Packed:
    """The solid_lattice of cells.h."""
    boxes, modes = _find_boxes(lattice.linear.elements.stiffnesses)
    box, no_box = boxes[lattice.linear.kinds], np.full(len(lattice.quadratic.kinds), -1)
    return pack(
        lattice.nodes.shape[1],
        np.pad(lattice.nodes.T, ((0, 0), (0, 1))),
        *_cells(lattice.linear, box),
        *_cells(lattice.quadratic, no_box),
        *_box_groups(lattice.linear, box),
        modes,
        lattice.grid.sizes,
    )


def _cells(cells: Cells, box: Integers) -> list[Member]:
    """The solid_cells of cells.h; `box` (h,) is the box kind of each cell, −1 = none."""
    others = np.flatnonzero(box < 0)
    return [
        *(cells.nodes, cells.kinds),
        *members(cells.elements, "gradients volumes"),
        *(len(cells.nodes), len(others), others),
        *(cells.nodes.shape[1], *pack_tiles(cells.elements.stiffnesses)),
    ]


def pack_tiles(stiffnesses: Floats) -> tuple[Integers, Integers, Integers, Floats]:
    """Symmetric matrices (k, 3 w, 3 w) as 4 × 4 tiles, without nodes whose rows are 0.

    Returns (k, w) node numbers, those in use first, (k,) numbers of nodes in use, (k,) index of
    each kind's first tile, and (t, 4, 4) tiles of the lower triangle, column by column.
    """
    n = stiffnesses.shape[1] // 4
    needed = np.einsum("kii->ki", stiffnesses)[:, ::3] > 0.0
    slots, widths = np.argsort(~needed, axis=1, kind="stable"), needed.sum(axis=1)
    order = (3 * slots[:, :, None] + np.arange(3)).reshape(len(slots), 3 * slots.shape[1])
    rows = np.take_along_axis(stiffnesses, order[:, :, None], axis=1)
    sorted_ = np.take_along_axis(rows, order[:, None], axis=2).reshape(-1, n, 4, n, 4)
    column, row = np.indices((n, n))
    kept = (row >= column) & (row < (3 * widths[:, None, None] + 3) // 4)
    counts = kept.sum(axis=(1, 2))
    return slots, widths, np.cumsum(counts) - counts, sorted_.transpose(0, 3, 1, 4, 2)[kept]


def _box_groups(cells: Cells, box: Integers) -> list[Member]:
    """The solid_boxes of cells.h: cells of one box kind in groups of four, for SIMD."""
    boxed = np.flatnonzero(box >= 0)
    boxed = boxed[np.argsort(box[boxed], kind="stable")]
    counts = np.bincount(box[boxed])
    groups = (counts + 3) // 4
    kinds = np.repeat(np.arange(len(counts)), groups)
    first = 4 * ranges(np.zeros_like(groups), groups)
    filled = np.minimum(counts[kinds] - first, 4)
    members_of_group = first[:, None] + np.minimum(np.arange(4), filled[:, None] - 1)
    cell_groups = boxed[(np.cumsum(counts) - counts)[kinds][:, None] + members_of_group]
    volumes = cells.elements.volumes[cells.kinds[cell_groups[:, 0]]]
    return [
        len(cell_groups),
        filled,
        cell_groups,
        cells.nodes[cell_groups].swapaxes(1, 2),
        kinds,
        volumes,
    ]


def _find_boxes(stiffnesses: Floats) -> tuple[Integers, Floats]:
    """(k,) box kind of each element kind, −1 = none, and (b, 3, 3, 8) stiffness blocks of these.

    The stiffness of a box, a cell that is symmetric about its mid-planes, couples only modes of
    equal parity about each. In the Hadamard basis, of sums and differences of corner values along
    each axis, it consists of 8 blocks 3 × 3, which couple x, y and z.
    """
    box_numbers, kept = np.full(len(stiffnesses), -1), np.empty((0, 3, 3, 8))
    if stiffnesses.shape[1:] == (CORNER_UNKNOWNS, CORNER_UNKNOWNS):
        own = np.einsum("kii->ki", stiffnesses).reshape(-1, 8, 3)
        candidates = np.flatnonzero(
            (np.ptp(own, axis=1) <= SYMMETRY_TOLERANCE * own.max(axis=1)).all(axis=1)
        )
        has_modes, blocks = _modes(stiffnesses[candidates])
        box_numbers[candidates[has_modes]], kept = (
            np.arange(np.count_nonzero(has_modes)),
            blocks[has_modes],
        )
    return box_numbers, kept


def _modes(stiffnesses: Floats) -> tuple[Booleans, Floats]:
    """(k,) bool, stiffnesses (k, 24, 24) that consist of blocks alone; (k, 3, 3, 8) blocks."""
    signs = 1.0 - 2.0 * (weighted_sums(CELL_CORNERS, CELL_CORNERS.T) % 2.0)
    half = np.einsum("sc,kcadb->ksadb", signs, stiffnesses.reshape(-1, 8, 3, 8, 3))
    modes = np.einsum("ksadb,td->ksatb", half, signs) / 64.0
    patterns = np.arange(8)[:, None] ^ np.array([4, 2, 1])
    rows, columns = np.broadcast_arrays(patterns[:, :, None], patterns[:, None])
    x, y = np.broadcast_arrays(np.arange(3)[:, None], np.arange(3))
    blocks = modes[:, rows, x, columns, y]
    modes[:, rows, x, columns, y] = 0.0
    has_modes = np.abs(modes).max(axis=(1, 2, 3, 4)) <= SYMMETRY_TOLERANCE * np.abs(
        stiffnesses
    ).max(axis=(1, 2))
    return has_modes, blocks.transpose(0, 2, 3, 1)


@cached_struct
def pack_corotations(corotations: Corotations) -> Packed:
    """The solid_corotations of cells.h."""
    counts = [len(corotation.quaternions) for corotation in corotations.groups]
    return pack(
        *(
            member
            for corotation, count in zip(corotations.groups, counts, strict=True)
            for member in (
                *shared_arrays(corotation, "quaternions rotations volume_gradients"),
                np.empty(count),
            )
        ),
        np.empty((counts[0], BOX_NUMBERS, 4)),
    )


@cached_struct
def pack_embedding(embedding: Embedding) -> Packed:
    """The solid_embedding of cells.h."""
    return pack(*embedding.nodes.shape, embedding.nodes, embedding.weights)


@falls_back_to(reference.find_stress)
def find_stress(
    lattice: Lattice,
    nodes: Floats,
    corotations: Corotations,
    modulus: float,
    moves: Floats,
) -> tuple[Floats, Floats]:
    forces, opposed = np.empty_like(nodes), np.empty_like(nodes)
    _find_stress(
        *(
            pack_lattice(lattice),
            nodes,
            pack_corotations(corotations),
            modulus,
            moves,
            forces,
            opposed,
        ),
        np.empty((2, nodes.shape[1], 4)),
    )
    return forces, opposed


@falls_back_to(reference.interpolate)
def interpolate(embedding: Embedding, nodes: Floats) -> Floats:
    points = np.empty((3, len(embedding.nodes)))
    _interpolate(pack_embedding(embedding), nodes, nodes.shape[1], points)
    return points
