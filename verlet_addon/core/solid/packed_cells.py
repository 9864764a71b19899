"""Cells of a lattice as C reads them: stiffness in tiles, and symmetric cells in groups of four."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Booleans, Floats, Integers, ranges, weighted_sums
from ..kernel import Struct
from ..team.parts import CELL_PART
from .elements import CELL_CORNERS, CORNER_UNKNOWNS
from .lattice import Cells, Lattice

SYMMETRY_TOLERANCE = 1e-12
"""Rounding: relative difference up to which stiffnesses count as symmetric."""


@dataclass(frozen=True, eq=False)
class TiledCells:
    """h cells of k kinds with w nodes; the stiffness of those that are no boxes in tiles."""

    cells: Cells
    others: Integers
    """(o,) cells that are no boxes, slab by slab."""
    other_starts: Integers
    """(s + 1,) start of each slab in `others`."""
    slots: Integers
    """(k, w) node numbers, those in use first."""
    widths: Integers
    """(k,) numbers of nodes in use."""
    starts: Integers
    """(k,) index of each kind's first tile."""
    tiles: Floats
    """(t, 4, 4) tiles of the lower triangle, column by column."""


@dataclass(frozen=True, eq=False)
class Boxes:
    """b groups of four boxes of one kind, for SIMD.

    The stiffness of a box, a cell that is symmetric about its mid-planes, couples only modes of
    equal parity about each. In the Hadamard basis, of sums and differences of corner values along
    each axis, it consists of 8 blocks 3 × 3, which couple x, y and z.
    """

    filled: Integers
    """(b,) number of cells in the group; further places repeat the last."""
    cells: Integers
    """(b, 4)"""
    corners: Integers
    """(b, 8, 4)"""
    kinds: Integers
    """(b,) index in `blocks`."""
    volumes: Floats
    """(b,) [m³]"""
    blocks: Floats
    """(q, 3, 3, 8) stiffness blocks [m]."""
    sizes: Floats
    """(3,) edge lengths of a cell [m]."""
    starts: Integers
    """(s + 1,) start of each slab's groups."""


def find_slabs(lattice: Lattice, cells: Cells) -> Integers:
    """(h,) slab of each cell: layers across the first axis, along which nodes are numbered.

    Only neighbouring slabs share nodes, so that threads share those with even numbers, and then the
    others. They are numbered in this order.
    """
    layers = np.rint(lattice.nodes[0, cells.nodes[:, 0]] / lattice.grid.sizes[0]).astype(np.int64)
    slabs = layers // slab_layers(lattice)
    return np.asarray(slabs // 2 + slabs % 2 * even_slabs(lattice))


def slab_layers(lattice: Lattice) -> int:
    """Layers in a slab: so many that a mean slab has CELL_PART cells."""
    cells = sum(len(each.nodes) for each in lattice.groups)
    return int(np.ceil(CELL_PART * lattice.grid.counts[0] / cells))


def slab_count(lattice: Lattice) -> int:
    """Number of slabs."""
    return -(-int(lattice.grid.counts[0]) // slab_layers(lattice))


def even_slabs(lattice: Lattice) -> int:
    """Number of slabs with even numbers."""
    return (slab_count(lattice) + 1) // 2


def tile_cells(lattice: Lattice, cells: Cells) -> TiledCells:
    """One group of the cells of a lattice."""
    stiffnesses = cells.elements.stiffnesses
    others = np.flatnonzero(find_boxes(stiffnesses)[0][cells.kinds] < 0)
    slabs = find_slabs(lattice, cells)[others]
    order = np.argsort(slabs, kind="stable")
    starts = np.searchsorted(slabs[order], np.arange(slab_count(lattice) + 1))
    return TiledCells(cells, others[order], starts, *pack_tiles(stiffnesses))


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


def group_boxes(lattice: Lattice) -> Boxes:
    """The boxes of a lattice in groups."""
    cells, (box_kinds, blocks) = lattice.linear, find_boxes(lattice.linear.elements.stiffnesses)
    box = box_kinds[cells.kinds]
    boxed = np.flatnonzero(box >= 0)
    labels = find_slabs(lattice, cells)[boxed] * len(blocks) + box[boxed]
    boxed = boxed[np.argsort(labels, kind="stable")]
    found, counts = np.unique(labels, return_counts=True)
    groups = (counts + 3) // 4
    labels = np.repeat(found, groups)
    first = 4 * ranges(np.zeros_like(groups), groups)
    filled = np.minimum(np.repeat(counts, groups) - first, 4)
    members_of_group = first[:, None] + np.minimum(np.arange(4), filled[:, None] - 1)
    starts_of_labels = np.repeat(np.cumsum(counts) - counts, groups)
    cell_groups = boxed[starts_of_labels[:, None] + members_of_group]
    volumes = cells.elements.volumes[cells.kinds[cell_groups[:, 0]]]
    slabs, kinds = np.divmod(labels, max(len(blocks), 1))
    return Boxes(
        filled=filled,
        cells=cell_groups,
        corners=cells.nodes[cell_groups].swapaxes(1, 2),
        kinds=kinds,
        volumes=volumes,
        blocks=blocks,
        sizes=lattice.grid.sizes,
        starts=np.searchsorted(slabs, np.arange(slab_count(lattice) + 1)),
    )


def find_boxes(stiffnesses: Floats) -> tuple[Integers, Floats]:
    """(k,) box kind of each element kind, −1 = none, and (b, 3, 3, 8) stiffness blocks of these."""
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


Struct(
    "solid_cells",
    TiledCells,
    reads="others other_starts slots widths starts",
    nodes=(Integers, lambda tiled: tiled.cells.nodes),
    kinds=(Integers, lambda tiled: tiled.cells.kinds),
    gradients=(Floats, lambda tiled: tiled.cells.elements.gradients),
    volumes=(Floats, lambda tiled: tiled.cells.elements.volumes),
    count=(int, lambda tiled: len(tiled.cells.nodes)),
    width=(int, lambda tiled: tiled.cells.nodes.shape[1]),
    tiles=("four_reals", lambda tiled: tiled.tiles),
)
Struct(
    "solid_boxes",
    Boxes,
    reads="filled cells corners kinds volumes blocks sizes starts",
    count=(int, lambda boxes: len(boxes.cells)),
)
Struct(
    "solid_lattice",
    Lattice,
    nodes=(int, lambda lattice: lattice.nodes.shape[1]),
    rest=("four_reals", lambda lattice: np.pad(lattice.nodes.T, ((0, 0), (0, 1)))),
    groups=(
        Sequence[TiledCells],
        lambda lattice: [tile_cells(lattice, cells) for cells in lattice.groups],
    ),
    boxes=(Boxes, group_boxes),
    slabs=(int, slab_count),
    even_slabs=(int, even_slabs),
)
