"""Solids in C: what `numpy_kernels` does, by the functions of kernels.c."""

import numpy as np

from ..arrays import Booleans, Floats, Integers, contracted
from ..compiled import Packed, declare, instead_of, once, pack
from . import numpy_kernels as reference
from .elements import CORNERS, NODAL
from .lattice import Embedding, Lattice
from .numpy_kernels import Shapes

ALIKE = 1e-12
"""What differs by no more than this share is the same."""
_find_stress = declare("find_stress", "pppdppp")
_interpolate = declare("interpolate", "ppip")


@once
def pack_lattice(lattice: Lattice) -> Packed:
    """The solid_lattice of cells.h."""
    return pack(
        lattice.nodes.shape[1],
        lattice.nodes,
        *(
            member
            for cells in lattice.groups
            for member in (
                len(cells.nodes),
                cells.nodes,
                cells.kinds,
                cells.elements.stiffnesses,
                cells.elements.gradients,
                cells.elements.volumes,
                *_boxes(cells.elements.stiffnesses),
            )
        ),
    )


def _boxes(stiffnesses: Floats) -> tuple[Integers, Floats]:
    """(k,) numbers of kinds among those that are alike on all sides, −1 for others; their modes.

    A cell that may be mirrored across its middle planes opposes what is even across one with what
    is even. So of the sums and differences of its corners along each axis, x, y and z go together
    three by three: (b, 3, 3, 8).
    """
    found, kept = np.full(len(stiffnesses), -1), np.empty((0, 3, 3, 8))
    if stiffnesses.shape[1:] == (NODAL, NODAL):
        own = np.einsum("kii->ki", stiffnesses).reshape(-1, 8, 3)
        candidates = np.flatnonzero((np.ptp(own, axis=1) <= ALIKE * own.max(axis=1)).all(axis=1))
        alike, blocks = _modes(stiffnesses[candidates])
        found[candidates[alike]], kept = np.arange(np.count_nonzero(alike)), blocks[alike]
    return found, kept


def _modes(stiffnesses: Floats) -> tuple[Booleans, Floats]:
    """(k,) whether the blocks (k, 3, 3, 8) are all that there is to stiffnesses (k, 24, 24)."""
    signs = 1.0 - 2.0 * (contracted(CORNERS, CORNERS.T) % 2.0)
    half = np.einsum("sc,kcadb->ksadb", signs, stiffnesses.reshape(-1, 8, 3, 8, 3))
    modes = np.einsum("ksadb,td->ksatb", half, signs) / 64.0
    patterns = np.arange(8)[:, None] ^ np.array([4, 2, 1])
    rows, columns = np.broadcast_arrays(patterns[:, :, None], patterns[:, None])
    x, y = np.broadcast_arrays(np.arange(3)[:, None], np.arange(3))
    blocks = modes[:, rows, x, columns, y]
    modes[:, rows, x, columns, y] = 0.0
    alike = np.abs(modes).max(axis=(1, 2, 3, 4)) <= ALIKE * np.abs(stiffnesses).max(axis=(1, 2))
    return alike, blocks.transpose(0, 2, 3, 1)


@once
def pack_shapes(shapes: Shapes) -> Packed:
    """The solid_shapes of cells.h."""
    return pack(*(a for s in shapes.groups for a in (s.quaternions, s.rotations, s.slopes)))


@once
def pack_embedding(embedding: Embedding) -> Packed:
    """The solid_embedding of cells.h."""
    return pack(*embedding.nodes.shape, embedding.nodes, embedding.weights)


@instead_of(reference.find_stress)
def find_stress(
    lattice: Lattice,
    nodes: Floats,
    shapes: Shapes,
    modulus: float,
    moves: Floats,
) -> tuple[Floats, Floats]:
    forces, opposed = np.empty_like(nodes), np.empty_like(nodes)
    _find_stress(pack_lattice(lattice), nodes, pack_shapes(shapes), modulus, moves, forces, opposed)
    return forces, opposed


@instead_of(reference.interpolate)
def interpolate(embedding: Embedding, nodes: Floats) -> Floats:
    found = np.empty((3, len(embedding.nodes)))
    _interpolate(pack_embedding(embedding), nodes, nodes.shape[1], found)
    return found
