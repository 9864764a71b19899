"""Stiffness matrices of hexahedral cells that are filled wholly or in part."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from ..arrays import Floats, weighted_sums

POISSON = 0.45
"""Poisson's ratio of all solids: nearly incompressible, like flesh and gelatin."""
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
"""Displacement unknowns at the corners of a cell, and of its internal quadratic modes."""


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
    """Linear elements from integration weights of `voxels.fill`.

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

    (27, 11, 3) gradients of 8 corner functions and 3 internal modes, and (27, 8) values of corner
    functions.
    """
    samples = np.array(list(np.ndindex(3, 3, 3))) / 2.0
    factors = np.where(CELL_CORNERS == 1.0, samples[:, None], 1.0 - samples[:, None])
    return _gradients(samples), factors.prod(axis=2)


def _gradients(points: Floats) -> Floats:
    """(q, 11, 3) gradients of 8 trilinear functions and 3 quadratic modes at points (q, 3)."""
    factors = np.where(CELL_CORNERS == 1.0, points[:, None], 1.0 - points[:, None])
    slopes = 2.0 * CELL_CORNERS - 1.0
    gradients = np.zeros((len(points), 11, 3))
    for axis in range(3):
        others = [other for other in range(3) if other != axis]
        gradients[:, :8, axis] = slopes[:, axis] * factors[:, :, others].prod(axis=2)
        gradients[:, 8 + axis, axis] = 4.0 - 8.0 * points[:, axis]
    return gradients


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
