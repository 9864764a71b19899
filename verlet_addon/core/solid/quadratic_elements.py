"""Quadratic elements, for thin parts of a body that are oblique to the grid.

Twelve edge nodes, at the midpoints of edges, make the shape functions complete to second order
(20-node serendipity elements, Ergatoudis, Irons and Zienkiewicz 1968). An edge that is shared with
a linear cell stays straight, and has no edge node; its place in the node list repeats the cell's
first corner, with weight 0.
"""

from functools import cache

import numpy as np

from ..arrays import Booleans, Floats, Integers, sum_by, weighted_sums
from .elements import CELL_CORNERS, FIRST_LAME, Elements, strain_matrices, stress_products

SAMPLES = 5
"""Integration samples along each axis of a cell; energies are polynomials of degree 4."""
QUADRATIC_FICTITIOUS_STIFFNESS = 5e-4
"""Share of a full cell's stiffness and mass that is added to each cell."""
MIN_EDGE_NODE_SHARE = 0.02
"""Smallest mass of an edge node relative to that in full cells; other edges stay straight, as
weakly connected nodes slow down conjugate gradients."""
EDGE_NODE_MASS_SHARE = 1.0 / 6.0
"""Mass of an edge node as a share of the integral of its shape function; with more, masses of
corners could become negative."""
EDGES = np.array([(a, b) for a, b in np.ndindex(8, 8) if a < b and (a ^ b) in (1, 2, 4)])
"""(12, 2) corners at the ends of a cell's edges."""
QUADRATIC_NODES, QUADRATIC_UNKNOWNS = 20, 60
"""Nodes and displacement unknowns of a quadratic cell."""


def build_quadratic_elements(fillings: Floats, bend_flags: Booleans, sizes: Floats) -> Elements:
    """Quadratic elements from integration weights of `voxels.fill`.

    Parameters
    ----------
    fillings : (k, 5, 5, 5) integration weights.
    bend_flags : (k, 12) bool, edges with an edge node.
    sizes : (3,) edge lengths of the cells [m].
    """
    if not len(fillings):
        none = np.empty((0, QUADRATIC_NODES, 3))
        return Elements(
            np.empty((0, QUADRATIC_UNKNOWNS, QUADRATIC_UNKNOWNS)), none, np.empty(0), none[:, :, 0]
        )
    gradients, shapes = _samples()
    gradients = gradients / sizes
    at_samples = strain_matrices(gradients)
    energies = stress_products(at_samples, at_samples)
    full_cell = _full_cell_weights().reshape(1, -1)
    weights = fillings.reshape(-1, SAMPLES**3) + 1e-9 * full_cell
    filled = weights.sum(axis=1)
    mean = weighted_sums(weights / filled[:, None], gradients)
    gradient_rows = mean.reshape(-1, QUADRATIC_UNKNOWNS)
    stiffness = weighted_sums(weights + QUADRATIC_FICTITIOUS_STIFFNESS * full_cell, energies)
    stiffness -= (
        FIRST_LAME * filled[:, None, None] * gradient_rows[:, :, None] * gradient_rows[:, None, :]
    )
    parts = _node_functions(bend_flags)
    shares = weighted_sums(weights + QUADRATIC_FICTITIOUS_STIFFNESS * full_cell, shapes)
    shares[:, 8:] *= EDGE_NODE_MASS_SHARE
    return Elements(
        stiffnesses=_nodal_stiffness(stiffness, parts) * np.prod(sizes),
        gradients=np.einsum("kfn,kfa->kna", parts, mean),
        volumes=filled * np.prod(sizes),
        node_volumes=np.einsum("kfn,kf->kn", parts, shares) * np.prod(sizes),
    )


def quadratic_weights(local: Floats, bend_flags: Booleans) -> Floats:
    """(p, 20) node weights at points (p, 3) of unit cells, with edge nodes (p, 12) or without."""
    return np.asarray(
        np.einsum("pfn,pf->pn", _node_functions(bend_flags), _shape_functions(local)[1])
    )


def _node_functions(bend_flags: Booleans) -> Floats:
    """(k, 20, 20) coefficients of hierarchical functions (rows) for nodal values (columns).

    The hierarchical function of an edge has the edge node's offset from the edge's midpoint as its
    amplitude.
    """
    functions = np.zeros((len(bend_flags), QUADRATIC_NODES, QUADRATIC_NODES))
    functions[:, range(8), range(8)] = 1.0
    for number, ends in enumerate(EDGES, start=8):
        functions[:, number, number] = bend_flags[:, number - 8]
        functions[:, number, ends] = -0.5 * bend_flags[:, number - 8, None]
    return functions


def _nodal_stiffness(stiffness: Floats, parts: Floats) -> Floats:
    """(k, 60, 60) stiffness of nodes, from that of hierarchical functions."""
    blocks = stiffness.reshape(-1, QUADRATIC_NODES, 3, QUADRATIC_NODES, 3)
    half = np.einsum("kfn,kfagb->knagb", parts, blocks)
    nodal = np.einsum("knagb,kgm->knamb", half, parts)
    return np.asarray(nodal.reshape(-1, QUADRATIC_UNKNOWNS, QUADRATIC_UNKNOWNS))


def find_edge_nodes(
    cells: Integers, is_quadratic: Booleans, fillings: Floats, first: int
) -> tuple[Integers, Integers]:
    """Adds edge nodes to quadratic cells: (c, 20) nodes, and (2, q) ends of edges with edge nodes.

    An edge has an edge node if all cells that share it are quadratic, and filled enough there.

    Parameters
    ----------
    cells : (h, 8) corner nodes of all cells.
    is_quadratic : (h,) bool, the c quadratic cells.
    fillings : (c, 5, 5, 5) integration weights of these, by `voxels.fill`.
    first : number of the first edge node.
    """
    ends = np.sort(cells[:, EDGES], axis=2)
    keys = ends[..., 0] * first + ends[..., 1]
    edges, numbers, shared = np.unique(keys, return_inverse=True, return_counts=True)
    numbers = numbers.reshape(keys.shape)[is_quadratic]
    shares = weighted_sums(fillings.reshape(-1, SAMPLES**3), _samples()[1])[:, 8:]
    most = weighted_sums(_full_cell_weights().reshape(1, -1), _samples()[1])[:, 8:]
    held = sum_by(numbers.ravel(), (shares / most).ravel(), len(edges))
    bend_flags = np.bincount(numbers.ravel(), minlength=len(edges)) == shared
    bend_flags &= held > MIN_EDGE_NODE_SHARE * shared
    further = np.where(bend_flags, first - 1 + np.cumsum(bend_flags), -1)[numbers]
    corners, bent_edge_keys = cells[is_quadratic], edges[bend_flags]
    middles = np.where(further < 0, corners[:, :1], further)
    return np.concatenate([corners, middles], axis=1), np.stack(
        [bent_edge_keys // first, bent_edge_keys % first]
    )


def has_edge_nodes(nodes: Integers) -> Booleans:
    """(c, 12) bool, edges with an edge node, of quadratic cells with nodes (c, 20)."""
    return np.asarray(nodes[:, 8:] != nodes[:, :1])


@cache
def _full_cell_weights() -> Floats:
    """(5, 5, 5) integration weights of a full cell, by Boole's rule."""
    rule = np.array([7.0, 32.0, 12.0, 32.0, 7.0]) / 90.0
    return np.asarray(rule[:, None, None] * rule[:, None] * rule)


@cache
def _samples() -> tuple[Floats, Floats]:
    """(125, 20, 3) gradients of the shape functions at the samples, and (125, 20) their values."""
    return _shape_functions(np.array(list(np.ndindex((SAMPLES,) * 3))) / (SAMPLES - 1.0))


def _shape_functions(points: Floats) -> tuple[Floats, Floats]:
    """(q, 20, 3) gradients and (q, 20) values of 8 trilinear and 12 edge functions at (q, 3)."""
    factors = np.where(CELL_CORNERS == 1.0, points[:, None], 1.0 - points[:, None])
    slopes = np.broadcast_to(2.0 * CELL_CORNERS - 1.0, factors.shape)
    along = np.log2(EDGES[:, 1] ^ EDGES[:, 0]).astype(np.int64)
    axes = 2 - along
    numbers = np.arange(len(EDGES))
    edge_factors, edge_slopes = factors[:, EDGES[:, 0]], slopes[:, EDGES[:, 0]].copy()
    t = points[:, axes]
    edge_factors[:, numbers, axes] = 4.0 * t * (1.0 - t)
    edge_slopes[:, numbers, axes] = 4.0 - 8.0 * t
    factors = np.concatenate([factors, edge_factors], axis=1)
    slopes = np.concatenate([slopes, edge_slopes], axis=1)
    gradients = np.stack(
        [
            slopes[:, :, axis] * factors[:, :, [b for b in range(3) if b != axis]].prod(axis=2)
            for axis in range(3)
        ],
        axis=2,
    )
    return gradients, factors.prod(axis=2)
