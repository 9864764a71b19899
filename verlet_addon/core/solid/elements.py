"""Stiffness matrices of hexahedral cells that are filled wholly or in part.

In thin parts of a body that are oblique to the grid, elements are quadratic: twelve edge nodes, at
the midpoints of edges, make the shape functions complete to second order (20-node serendipity
elements, Ergatoudis, Irons and Zienkiewicz 1968). An edge that is shared with a linear cell stays
straight, and has no edge node; its place in the node list repeats the cell's first corner, with
weight 0.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from ..arrays import Booleans, Floats, Integers, sum_by, weighted_sums

POISSON = 0.45
"""Physical constant: Poisson's ratio of all solids, nearly incompressible, like flesh and
gelatin."""
FIRST_LAME = POISSON / ((1.0 + POISSON) * (1.0 - 2.0 * POISSON))
"""First Lamé parameter for a Young's modulus of 1 Pa [Pa]."""
SHEAR = 0.5 / (1.0 + POISSON)
"""Shear modulus for a Young's modulus of 1 Pa [Pa]."""
FICTITIOUS_STIFFNESS = 2e-3
"""Share of a full cell's stiffness and mass that is added to each cell, as some hold hardly any.
Half and twice as much pass the same tests; with 0 a corkscrew does not keep its edges."""
CELL_CORNERS = np.array(list(np.ndindex(2, 2, 2)), dtype=float)
"""(8, 3) corners of the unit cell."""
SIMPSON = np.array([1.0, 4.0, 1.0]) / 6.0
"""(3,) weights of Simpson's rule."""
FULL_CELL = (SIMPSON[:, None, None] * SIMPSON[:, None] * SIMPSON)[None]
"""(1, 3, 3, 3) integration weights of a full cell."""
CORNER_UNKNOWNS, INNER_UNKNOWNS = 24, 9
"""Numbers of displacement unknowns at the corners of a cell, and of its internal quadratic
modes."""


@dataclass(frozen=True, eq=False)
class Elements:
    """k kinds of cells with w nodes, of one size and for a Young's modulus of 1 Pa."""

    stiffnesses: Floats
    """(k, 3 w, 3 w) stiffness matrices without the λ term of the mean volume change, which is not
    linear; rows 3 × node + axis [m]."""
    gradients: Floats
    """(k, w, 3) gradients of the nodes' shape functions, means over the filled part [1/m]."""
    volumes: Floats
    """(k,) filled volumes [m³]."""
    node_volumes: Floats
    """(k, w) volume of each node, for lumped masses [m³]."""


def build_elements(fillings: Floats, sizes: Floats) -> Elements:
    """Linear elements from integration weights of `grid.fill`.

    Trilinear shape functions with incompatible quadratic modes (Wilson et al. 1973; Taylor,
    Beresford and Wilson 1976), which avoid shear locking. Stiffness is integrated over the filled
    part (finite cell method, Düster et al. 2008), so that parts thinner than a cell have the right
    bending stiffness.

    Parameters
    ----------
    fillings : (k, 3, 3, 3) integration weights.
    sizes : (3,) edge lengths of the cells [m].
    """
    gradients, shapes = _samples()
    gradients = gradients / sizes
    at_samples = strain_matrices(gradients)
    energies = stress_products(at_samples, at_samples)
    # Rays may miss very thin parts; the weights of their cells are then uniform.
    weights = (fillings + 1e-9 * FULL_CELL).reshape(len(fillings), -1)
    filled = weights.sum(axis=1)
    # With means over the filled part, internal modes do not change uniform strain (patch test).
    mean = weighted_sums(weights / filled[:, None], gradients)
    strains = strain_matrices(mean)
    stiffness = weighted_sums(weights, energies)
    coupling = stress_products(strains, strains[:, :, CORNER_UNKNOWNS:]) * filled[:, None, None]
    stiffness[:, CORNER_UNKNOWNS:, :CORNER_UNKNOWNS] -= coupling[:, :CORNER_UNKNOWNS].transpose(
        0, 2, 1
    )
    stiffness[:, CORNER_UNKNOWNS:, CORNER_UNKNOWNS:] -= coupling[:, CORNER_UNKNOWNS:]
    nodal = _condensed(stiffness)
    gradient_rows = mean[:, :8].reshape(-1, CORNER_UNKNOWNS)
    nodal -= (
        FIRST_LAME * filled[:, None, None] * gradient_rows[:, :, None] * gradient_rows[:, None, :]
    )
    if len(fillings) > 1:
        nodal += (
            FICTITIOUS_STIFFNESS * build_elements(FULL_CELL, sizes).stiffnesses / np.prod(sizes)
        )
    return Elements(
        stiffnesses=nodal * np.prod(sizes),
        gradients=mean[:, :8],
        volumes=filled * np.prod(sizes),
        node_volumes=(weighted_sums(weights, shapes) + FICTITIOUS_STIFFNESS / 8) * np.prod(sizes),
    )


def _condensed(stiffness: Floats) -> Floats:
    """(k, 24, 24) static condensation of the internal modes of matrices (k, 33, 33)."""
    left = stiffness.copy()
    for last in range(CORNER_UNKNOWNS + INNER_UNKNOWNS - 1, CORNER_UNKNOWNS - 1, -1):
        row = left[:, last, :last]
        pivot = left[:, last, last] + 1e-9 * np.trace(left, axis1=1, axis2=2)
        left = left[:, :last, :last] - row[:, :, None] * (row / pivot[:, None])[:, None, :]
    return left


@cache
def _samples() -> tuple[Floats, Floats]:
    """Shape functions at the 27 samples of the unit cell.

    (27, 11, 3) gradients of 8 corner functions and 3 internal quadratic modes, and (27, 8) values
    of corner functions.
    """
    samples = np.array(list(np.ndindex(3, 3, 3))) / 2.0
    gradients, values = _products(*_corner_factors(samples))
    modes = np.eye(3) * (4.0 - 8.0 * samples[:, None])
    return np.concatenate([gradients, modes], axis=1), values


def corner_weights(points: Floats) -> Floats:
    """(q, 8) values of the trilinear corner functions at points (q, 3) of the unit cell."""
    return np.asarray(_corner_factors(points)[0].prod(axis=2))


def _corner_factors(points: Floats) -> tuple[Floats, Floats]:
    """(q, 8, 3) factors of the corner functions along each axis at (q, 3), and their slopes."""
    factors = np.where(CELL_CORNERS == 1.0, points[:, None], 1.0 - points[:, None])
    return factors, np.broadcast_to(2.0 * CELL_CORNERS - 1.0, factors.shape)


def _products(factors: Floats, slopes: Floats) -> tuple[Floats, Floats]:
    """(q, f, 3) gradients and (q, f) values of products of factors (q, f, 3) with these slopes."""
    x, y, z = (factors[:, :, [b for b in range(3) if b != a]].prod(axis=2) for a in range(3))
    return slopes * np.stack([x, y, z], axis=2), factors.prod(axis=2)


def strain_matrices(gradients: Floats) -> Floats:
    """(q, 6, 3 f) strain–displacement matrices, rows xx yy zz yz zx xy, of gradients (q, f, 3)."""
    count = gradients.shape[1]
    matrices = np.zeros((len(gradients), 6, count, 3))
    for axis in range(3):
        matrices[:, axis, :, axis] = gradients[:, :, axis]
        after, last = (axis + 1) % 3, (axis + 2) % 3
        matrices[:, 3 + axis, :, after] = gradients[:, :, last]
        matrices[:, 3 + axis, :, last] = gradients[:, :, after]
    return matrices.reshape(len(gradients), 6, 3 * count)


def stress_products(strains: Floats, others: Floats) -> Floats:
    """(q, n, m) products Bᵀ D B' of strains (q, 6, n) and others (q, 6, m), with Hooke's law D."""
    stress = others * np.array([2.0 * SHEAR] * 3 + [SHEAR] * 3)[:, None]
    stress[:, :3] += FIRST_LAME * (others[:, 0] + others[:, 1] + others[:, 2])[:, None]
    total = np.zeros((len(strains), strains.shape[2], others.shape[2]))
    for part in range(6):
        total += strains[:, part, :, None] * stress[:, part, None, :]
    return total


SAMPLES = 5
"""Number of integration samples along each axis of a cell: those of Boole's rule, for energies are
polynomials of degree 4."""
QUADRATIC_FICTITIOUS_STIFFNESS = 5e-4
"""Share of a full cell's stiffness and mass that is added to each cell. With half, limbs that hang
stretch by 20.4 % in place of 20.2 %; with twice, by 19.9 %."""
MIN_EDGE_NODE_SHARE = 0.02
"""Smallest mass of an edge node relative to that in full cells; other edges stay straight, as
weakly connected nodes slow down conjugate gradients. With half, jellies that collide lie 3 mm
elsewhere; with twice, jelly on a lift 5 mm."""
EDGE_NODE_MASS_SHARE = 1.0 / 6.0
"""Mass of an edge node as a share of the integral of its shape function; with more, masses of
corners could become negative."""
EDGES = np.array([(a, b) for a, b in np.ndindex(8, 8) if a < b and (a ^ b) in (1, 2, 4)])
"""(12, 2) corners at the ends of a cell's edges."""
QUADRATIC_NODES, QUADRATIC_UNKNOWNS = 20, 60
"""Numbers of nodes and of displacement unknowns of a quadratic cell."""


def build_quadratic_elements(fillings: Floats, bend_flags: Booleans, sizes: Floats) -> Elements:
    """Quadratic elements from integration weights of `grid.fill`.

    Parameters
    ----------
    fillings : (k, 5, 5, 5) integration weights.
    bend_flags : (k, 12) bool, edges with an edge node.
    sizes : (3,) edge lengths of the cells [m].
    """
    if not len(fillings):
        shapes_of_none = (
            (QUADRATIC_UNKNOWNS, QUADRATIC_UNKNOWNS),
            (QUADRATIC_NODES, 3),
            (),
            (QUADRATIC_NODES,),
        )
        return Elements(*(np.empty((0, *shape)) for shape in shapes_of_none))
    gradients, shapes = _quadratic_samples()
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
    fillings : (c, 5, 5, 5) integration weights of these, by `grid.fill`.
    first : number of the first edge node.
    """
    ends = np.sort(cells[:, EDGES], axis=2)
    keys = ends[..., 0] * first + ends[..., 1]
    edges, numbers, shared = np.unique(keys, return_inverse=True, return_counts=True)
    numbers = numbers.reshape(keys.shape)[is_quadratic]
    shares = weighted_sums(fillings.reshape(-1, SAMPLES**3), _quadratic_samples()[1])[:, 8:]
    most = weighted_sums(_full_cell_weights().reshape(1, -1), _quadratic_samples()[1])[:, 8:]
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
def _quadratic_samples() -> tuple[Floats, Floats]:
    """(125, 20, 3) gradients of the shape functions at the samples, and (125, 20) their values."""
    return _shape_functions(np.array(list(np.ndindex((SAMPLES,) * 3))) / (SAMPLES - 1.0))


def _shape_functions(points: Floats) -> tuple[Floats, Floats]:
    """(q, 20, 3) gradients and (q, 20) values of 8 trilinear and 12 edge functions at (q, 3)."""
    factors, slopes = _corner_factors(points)
    along = np.log2(EDGES[:, 1] ^ EDGES[:, 0]).astype(np.int64)
    axes = 2 - along
    numbers = np.arange(len(EDGES))
    edge_factors, edge_slopes = factors[:, EDGES[:, 0]], slopes[:, EDGES[:, 0]].copy()
    t = points[:, axes]
    edge_factors[:, numbers, axes] = 4.0 * t * (1.0 - t)
    edge_slopes[:, numbers, axes] = 4.0 - 8.0 * t
    factors = np.concatenate([factors, edge_factors], axis=1)
    slopes = np.concatenate([slopes, edge_slopes], axis=1)
    return _products(factors, slopes)
