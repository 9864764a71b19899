"""Solids in C: what `numpy_kernels` does, by the functions of kernels.c."""

import numpy as np

from ..arrays import Floats
from ..compiled import Packed, address, declare, once, pack
from .lattice import Embedding, Lattice
from .numpy_kernels import Shape

_find_stress = declare("find_stress", "ppppdppp")
_interpolate = declare("interpolate", "ppip")


@once
def pack_lattice(lattice: Lattice) -> Packed:
    """The solid_lattice of cells.h."""
    elements = lattice.elements
    return pack(
        len(lattice.cells),
        lattice.nodes.shape[1],
        lattice.cells,
        lattice.kinds,
        elements.stiffnesses,
        elements.gradients,
        elements.volumes,
        lattice.nodes,
    )


@once
def pack_shape(shape: Shape) -> Packed:
    """The solid_shape of cells.h."""
    return pack(shape.rotations, shape.slopes)


@once
def pack_embedding(embedding: Embedding) -> Packed:
    """The solid_embedding of cells.h."""
    return pack(*embedding.nodes.shape, embedding.nodes, embedding.weights)


def find_stress(
    lattice: Lattice,
    nodes: Floats,
    quaternions: Floats,
    shape: Shape,
    modulus: float,
    moves: Floats,
) -> tuple[Floats, Floats]:
    """See `numpy_kernels`."""
    forces, opposed = np.empty_like(nodes), np.empty_like(nodes)
    _find_stress(
        pack_lattice(lattice),
        address(nodes),
        address(quaternions),
        pack_shape(shape),
        modulus,
        address(moves),
        address(forces),
        address(opposed),
    )
    return forces, opposed


def interpolate(embedding: Embedding, nodes: Floats) -> Floats:
    """See `numpy_kernels`."""
    found = np.empty((3, len(embedding.nodes)))
    _interpolate(pack_embedding(embedding), address(nodes), nodes.shape[1], address(found))
    return found
