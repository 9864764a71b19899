"""Solids that are stiffer in one place than in another, as their surface is painted."""

from dataclasses import replace

import numpy as np

from ..arrays import Floats, sum_by
from .elements import Elements
from .lattice import Embedding, Lattice

SHADES = 100
"""Shares of stiffness are told apart by one in so many: cells of one shade are of one kind."""
LEAST = 1e-3
"""Cells keep at least this share of their stiffness."""


def stiffened(lattice: Lattice, vertices: Embedding, weights: Floats) -> Lattice:
    """The lattice with elements of these shares (n,) of their stiffness at the vertices."""
    shares = _spread(lattice, vertices, weights)[lattice.cells].mean(axis=1)
    shades = np.rint(np.clip(shares, 0.0, 1.0) * SHADES).astype(np.int64)
    found, kinds = np.unique(lattice.kinds * (SHADES + 1) + shades, return_inverse=True)
    former, shades = np.divmod(found, SHADES + 1)
    share, all_ = np.maximum(shades / SHADES, LEAST), lattice.elements
    elements = Elements(
        stiffnesses=all_.stiffnesses[former] * share[:, None, None],
        gradients=all_.gradients[former],
        volumes=all_.volumes[former] * share,
        moments=all_.moments[former],
    )
    return replace(lattice, kinds=kinds.reshape(-1), elements=elements)


def _spread(lattice: Lattice, vertices: Embedding, weights: Floats) -> Floats:
    """(m,) the shares at the nodes: those of vertices beside them, and inwards of nodes around."""
    count = lattice.nodes.shape[1]
    corners, parts = vertices.nodes.ravel(), vertices.weights
    total = sum_by(corners, parts.ravel(), count)
    known = total > 0.0
    values = np.where(known, sum_by(corners, (parts * weights[:, None]).ravel(), count), 0.0)
    values /= np.where(known, total, 1.0)
    while not known.all():
        around = known[lattice.cells]
        means = (values[lattice.cells] * around).sum(axis=1) / np.maximum(around.sum(axis=1), 1)
        touched = np.repeat(around.any(axis=1), 8)
        nodes = lattice.cells.ravel()[touched]
        often = np.bincount(nodes, minlength=count)
        mean = sum_by(nodes, np.repeat(means, 8)[touched], count) / np.maximum(often, 1)
        reached = ~known & (often > 0)
        if not reached.any():
            values[~known] = values[known].mean()
            break
        values[reached] = mean[reached]
        known |= reached
    return values
