"""Cells whose edges bend: what is thin and lies aslant in its cells bends as it should by them.

Twelve further nodes in the middles of edges make the shape functions complete to second order
(serendipity elements, Ergatoudis, Irons and Zienkiewicz 1968). An edge that other cells share stays
straight, and its further node is missing: in its stead the cell's first corner is named, which that
place has no influence on.
"""

from functools import cache

import numpy as np

from ..arrays import Booleans, Floats, Integers, sum_by, weighted_sums
from .elements import CELL_CORNERS, FIRST_LAME, Elements, strain_matrices, stress_products

SAMPLES = 5
"""Along each axis of a cell: energies are of fourth degree."""
QUADRATIC_FICTITIOUS_STIFFNESS = 5e-4
"""Share of a whole cell's stiffness and mass that any cell keeps."""
MIN_EDGE_NODE_SHARE = 0.02
"""Edges whose further node would carry a smaller share of what it does in whole cells are straight:
nodes that hardly anything holds make many rounds of conjugate gradients."""
EDGE_NODE_MASS_SHARE = 1.0 / 6.0
"""Share of what is an edge's by its shape function that its further node weighs; more of it, and
corners might weigh less than nothing."""
EDGES = np.array([(a, b) for a, b in np.ndindex(8, 8) if a < b and (a ^ b) in (1, 2, 4)])
"""(12, 2) corners at the ends of a cell's edges."""
QUADRATIC_NODES, QUADRATIC_UNKNOWNS = 20, 60


def build_quadratic_elements(fillings: Floats, bend_flags: Booleans, sizes: Floats) -> Elements:
    """Elements filled as `voxels.fill` says, (k, 5, 5, 5), whose edges bend or not, (k, 12)."""
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
    """(p, 20) of the nodes at places (p, 3) in cells of size 1 whose edges bend or not, (p, 12)."""
    return np.asarray(
        np.einsum("pfn,pf->pn", _node_functions(bend_flags), _shape_functions(local)[1])
    )


def _node_functions(bend_flags: Booleans) -> Floats:
    """(k, 20, 20) what each node adds to each shape function: to edges', what bends them."""
    functions = np.zeros((len(bend_flags), QUADRATIC_NODES, QUADRATIC_NODES))
    functions[:, range(8), range(8)] = 1.0
    for number, ends in enumerate(EDGES, start=8):
        functions[:, number, number] = bend_flags[:, number - 8]
        functions[:, number, ends] = -0.5 * bend_flags[:, number - 8, None]
    return functions


def _nodal_stiffness(stiffness: Floats, parts: Floats) -> Floats:
    """(k, 60, 60) of nodes, from that of shape functions."""
    blocks = stiffness.reshape(-1, QUADRATIC_NODES, 3, QUADRATIC_NODES, 3)
    half = np.einsum("kfn,kfagb->knagb", parts, blocks)
    nodal = np.einsum("knagb,kgm->knamb", half, parts)
    return np.asarray(nodal.reshape(-1, QUADRATIC_UNKNOWNS, QUADRATIC_UNKNOWNS))


def find_edge_nodes(
    cells: Integers, is_quadratic: Booleans, fillings: Floats, first: int
) -> tuple[Integers, Integers]:
    """Further nodes of cells (h, 8) of which some are curved, (h,); their numbers begin at `first`.

    Returns (c, 20) nodes of the curved cells, and (2, q) ends of the edges whose middles the
    further ones are. An edge bends if all cells that share it are curved, and hold enough of it.

    Parameters
    ----------
    fillings : (c, 5, 5, 5) of the curved cells, by `voxels.fill`.
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
    """(c, 12) whether the edges of curved cells with nodes (c, 20) bend."""
    return np.asarray(nodes[:, 8:] != nodes[:, :1])


@cache
def _full_cell_weights() -> Floats:
    """(5, 5, 5) how a whole cell is filled: Boole's rule."""
    rule = np.array([7.0, 32.0, 12.0, 32.0, 7.0]) / 90.0
    return np.asarray(rule[:, None, None] * rule[:, None] * rule)


@cache
def _samples() -> tuple[Floats, Floats]:
    """(125, 20, 3) gradients of the shape functions at the samples, and (125, 20) their values."""
    return _shape_functions(np.array(list(np.ndindex((SAMPLES,) * 3))) / (SAMPLES - 1.0))


def _shape_functions(points: Floats) -> tuple[Floats, Floats]:
    """(q, 20, 3) and (q, 20): trilinear ones of corners, and of edges, 1 in the middle."""
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
