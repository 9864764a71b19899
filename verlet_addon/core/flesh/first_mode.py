"""The first mode of an elastic lattice that springs hold."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, weighted_sums
from ..linear.conjugate_gradients import iterate_conjugate_gradients
from ..solid.kernels import find_stress, interpolate, scatter_to_nodes
from ..solid.lattice import Embedding, Lattice
from ..solid.solid_body import rest_nodes, uniform_rotations

MODE_ROUNDS, MODE_RESIDUAL = 120, 1e-3
"""Most rounds of conjugate gradients for the first mode, and the relative residual they end at;
its frequency is within a thousandth."""


@dataclass(frozen=True, eq=False)
class HeldLattice:
    """A lattice at rest of m nodes, with springs that hold b points of it."""

    lattice: Lattice
    masses: Floats
    """(m,) [kg]"""
    node_stiffnesses: Floats
    """(m,) diagonal of its stiffness [N/m]."""
    modulus: float
    """Young's modulus [Pa]."""
    held: Embedding
    """Interpolation of the b points."""
    springs: Floats
    """(b,) stiffnesses [N/m]."""


def first_frequency(body: HeldLattice) -> float:
    """Angular frequency of the mode that answers most to a shove of what holds it [rad/s].

    Displacements by a uniform acceleration along each axis, by Rayleigh's quotient; the slowest is
    iterated once more (inverse iteration).
    """
    nodes, axes = rest_nodes(body.lattice), np.eye(3)
    shoves = [np.repeat(axis[:, None], nodes.shape[1], axis=1) for axis in axes]
    answers = [(_quotient(body, shove), shove) for shove in shoves]
    (_, answer), _ = min(answers, key=lambda each: each[0][0])
    square, _ = _quotient(body, answer)
    return float(np.sqrt(square))


def _quotient(body: HeldLattice, shove: Floats) -> tuple[float, Floats]:
    """ω² of displacements by accelerations (3, m), and these displacements [m]."""
    nodes, pulls = rest_nodes(body.lattice), body.masses * shove
    corotations = uniform_rotations(body.lattice, np.array([1.0, 0.0, 0.0, 0.0]))
    nodes = np.ascontiguousarray(weighted_sums(nodes.T, body.lattice.grid.axes).T)
    springs, held = body.springs, body.held
    diagonal = body.node_stiffnesses.copy()
    np.add.at(diagonal, held.nodes, springs[:, None] * held.weights**2)

    def product(moves: Floats) -> Floats:
        forces = find_stress(body.lattice, nodes, corotations, body.modulus, moves)[1]
        drawn = (interpolate(held, moves) * springs).T
        scatter_to_nodes(held, np.arange(len(springs)), drawn, forces)
        return forces

    moves = np.zeros_like(shove)
    residual, first = pulls.copy(), 0.0
    squares = iterate_conjugate_gradients(
        moves, residual, product, lambda rows: rows / diagonal, MODE_ROUNDS
    )
    for square in squares:
        first = first or square
        if square <= MODE_RESIDUAL**2 * first:
            break
    return float((moves * pulls).sum() / (body.masses * moves * moves).sum()), moves
