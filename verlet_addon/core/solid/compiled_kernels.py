"""Solids in C: what `numpy_kernels` does, by the functions of kernels.c."""

import numpy as np

from ..arrays import Floats
from ..compiled import Packed, declare, instead_of, once, pack
from . import numpy_kernels as reference
from .lattice import Embedding, Lattice
from .numpy_kernels import Shapes

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
            )
        ),
    )


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
