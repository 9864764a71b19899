"""Solids in C: what `numpy_kernels` does, by the functions of kernels.c."""

import numpy as np

from ..arrays import Floats
from ..compiled import Packed, address, declare, once, pack
from .lattice import Embedding, Lattice
from .numpy_kernels import Shape, System

_find_shape = declare("find_shape", "pppp")
_elastic_forces = declare("elastic_forces", "pppdp")
_stiffness_product = declare("stiffness_product", "ppdpp")
_interpolate = declare("interpolate", "ppip")
_solve = declare("solve_solid", "pppdi", "i")


@once
def _lattice(lattice: Lattice) -> Packed:
    """The solid_lattice of kernels.c."""
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
def _shape(shape: Shape) -> Packed:
    """The solid_shape of kernels.c."""
    return pack(shape.rotations, shape.slopes)


@once
def _embedding(embedding: Embedding) -> Packed:
    """The solid_embedding of kernels.c."""
    return pack(len(embedding.nodes), embedding.nodes, embedding.weights)


def find_shape(lattice: Lattice, nodes: Floats, quaternions: Floats, shape: Shape) -> None:
    """See `numpy_kernels`."""
    _find_shape(_lattice(lattice), address(nodes), address(quaternions), _shape(shape))


def elastic_forces(lattice: Lattice, nodes: Floats, shape: Shape, modulus: float) -> Floats:
    """See `numpy_kernels`."""
    found = np.empty_like(nodes)
    _elastic_forces(_lattice(lattice), address(nodes), _shape(shape), modulus, address(found))
    return found


def stiffness_product(lattice: Lattice, shape: Shape, modulus: float, moves: Floats) -> Floats:
    """See `numpy_kernels`."""
    found = np.empty_like(moves)
    _stiffness_product(_lattice(lattice), _shape(shape), modulus, address(moves), address(found))
    return found


def interpolate(embedding: Embedding, nodes: Floats) -> Floats:
    """See `numpy_kernels`."""
    found = np.empty((3, len(embedding.nodes)))
    _interpolate(_embedding(embedding), address(nodes), nodes.shape[1], address(found))
    return found


def solve(system: System, right: Floats, moves: Floats, tolerance: float, rounds: int) -> int:
    """See `numpy_kernels`."""
    m, springs = moves.shape[1], system.springs
    work = np.empty((7, 3, m))
    packed = pack(
        _lattice(system.lattice),
        _embedding(system.embedding),
        system.masses,
        _shape(system.shape),
        system.stiffness,
        len(springs.points),
        springs.points,
        springs.stiffnesses,
        *(work[:3], *work[3:]),
    )
    return int(_solve(packed.address, address(right), address(moves), tolerance, rounds))
