"""Muscles in the cells of flesh: which way their fibres run."""

import numpy as np

from ..arrays import NONZERO, Floats, Integers
from ..geometry.rest_shape import RestShape
from ..solid.lattice import Cells, Embedding, Lattice, node_shares
from .kernels import Muscle

POWER_ROUNDS = 24
"""Rounds of the power iteration for the direction of fibres."""


def find_muscles(
    shape: RestShape, lattice: Lattice, known: Embedding, fleshy: Integers
) -> list[Muscle]:
    """The fibres of muscles in the cells, by those at the skin."""
    weights, fibres = shape.mesh.paint.muscle, shape.mesh.fibres
    if weights is None or fibres is None:
        return [Muscle(np.zeros((len(cells.nodes), 3))) for cells in lattice.groups]
    along = np.einsum("na,ab->nb", fibres[fleshy], lattice.grid.axes)
    shares = node_shares(lattice, known, weights[fleshy])
    # A fibre has no sign: its square does.
    squares = np.einsum("na,nb->nab", along, along).reshape(-1, 9)
    spread = np.stack([node_shares(lattice, known, each) for each in squares.T], axis=1)
    return [_muscle(cells, shares, spread.reshape(-1, 3, 3)) for cells in lattice.groups]


def _muscle(cells: Cells, shares: Floats, squares: Floats) -> Muscle:
    """Fibres of cells, as directions of the largest eigenvalue of mean squares (m, 3, 3)."""
    corners = cells.nodes[:, :8]
    mean = squares[corners].mean(axis=1)
    # The column of the largest diagonal element is never across the fibre.
    largest = np.einsum("eaa->ea", mean).argmax(axis=1)
    fibres = mean[np.arange(len(mean)), :, largest]
    for _ in range(POWER_ROUNDS):
        fibres = np.einsum("eab,eb->ea", mean, fibres)
        fibres /= np.maximum(np.sqrt((fibres * fibres).sum(axis=1, keepdims=True)), NONZERO)
    return Muscle(fibres * shares[corners].mean(axis=1)[:, None])
