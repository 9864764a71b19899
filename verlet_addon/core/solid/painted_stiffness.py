"""Stiffness that varies within a solid, by a vertex group on its surface."""

from dataclasses import replace

import numpy as np

from ..arrays import Floats, sum_by
from .elements import Elements
from .lattice import Cells, Embedding, Lattice

STIFFNESS_STEPS = 100
"""Number of distinct shares of stiffness; cells with the same share are of one element kind."""
MIN_STIFFNESS_SHARE = 1e-3
"""Smallest share of its stiffness that a cell keeps."""


def with_painted_stiffness(lattice: Lattice, vertices: Embedding, weights: Floats) -> Lattice:
    """The lattice with element stiffness scaled by shares (n,) that are given at the vertices."""
    shares = _node_shares(lattice, vertices, weights)
    linear, quadratic = (
        _with_shares(cells, shares[cells.nodes[:, :8]]) for cells in lattice.groups
    )
    return replace(lattice, linear=linear, quadratic=quadratic)


def _with_shares(cells: Cells, shares: Floats) -> Cells:
    """Cells with stiffness scaled by the mean of the shares (h, 8) at their corners."""
    steps = np.rint(np.clip(shares.mean(axis=1), 0.0, 1.0) * STIFFNESS_STEPS).astype(np.int64)
    keys, kinds = np.unique(cells.kinds * (STIFFNESS_STEPS + 1) + steps, return_inverse=True)
    previous_kinds, steps = np.divmod(keys, STIFFNESS_STEPS + 1)
    share, all_ = np.maximum(steps / STIFFNESS_STEPS, MIN_STIFFNESS_SHARE), cells.elements
    elements = Elements(
        stiffnesses=all_.stiffnesses[previous_kinds] * share[:, None, None],
        gradients=all_.gradients[previous_kinds],
        volumes=all_.volumes[previous_kinds] * share,
        node_volumes=all_.node_volumes[previous_kinds],
    )
    return replace(cells, kinds=kinds.reshape(-1), elements=elements)


def _node_shares(lattice: Lattice, vertices: Embedding, weights: Floats) -> Floats:
    """(m,) shares at nodes, from weights (n,) of vertices, averaged inwards node by node."""
    count = lattice.nodes.shape[1]
    corners, parts = vertices.nodes.ravel(), np.abs(vertices.weights)
    cells = np.concatenate([group.nodes[:, :8] for group in lattice.groups])
    total = sum_by(corners, parts.ravel(), count)
    known = total > 0.0
    values = np.where(known, sum_by(corners, (parts * weights[:, None]).ravel(), count), 0.0)
    values /= np.where(known, total, 1.0)
    while not known.all():
        around = known[cells]
        means = (values[cells] * around).sum(axis=1) / np.maximum(around.sum(axis=1), 1)
        touched = np.repeat(around.any(axis=1), 8)
        nodes = cells.ravel()[touched]
        often = np.bincount(nodes, minlength=count)
        mean = sum_by(nodes, np.repeat(means, 8)[touched], count) / np.maximum(often, 1)
        reached = ~known & (often > 0)
        if not reached.any():
            values[~known] = values[known].mean()
            break
        values[reached] = mean[reached]
        known |= reached
    return values
