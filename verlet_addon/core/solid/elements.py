"""Cells of elastic material, whole or filled in part."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from ..arrays import Floats, weighted_sums

POISSON = 0.45
"""Of all solids: nearly incompressible, as flesh and gelatin are."""
FIRST_LAME = POISSON / ((1.0 + POISSON) * (1.0 - 2.0 * POISSON))
SHEAR = 0.5 / (1.0 + POISSON)
"""Both for a Young's modulus of 1 Pa."""
FICTITIOUS_STIFFNESS = 2e-3
"""Share of a whole cell's stiffness and mass that any cell keeps, so that no node is loose."""
CELL_CORNERS = np.array(list(np.ndindex(2, 2, 2)), dtype=float)
"""(8, 3) of a cell of size 1."""
SIMPSON = np.array([1.0, 4.0, 1.0]) / 6.0
FULL_CELL = (SIMPSON[:, None, None] * SIMPSON[:, None] * SIMPSON)[None]
"""(1, 3, 3, 3) how a whole cell is filled: Simpson's rule."""
CORNER_UNKNOWNS, INNER_UNKNOWNS = 24, 9
"""Unknowns at the corners of a cell, and of the bends within it."""


@dataclass(frozen=True, eq=False)
class Elements:
    """Kinds of cells of one size, for a Young's modulus of 1 Pa."""

    stiffnesses: Floats
    """(k, 3 w, 3 w) of w nodes, but for the resistance to a change of volume; rows 3 × node + axis
    [m]."""
    gradients: Floats
    """(k, w, 3) of the nodes' shape functions, the mean over the filled part [1/m]."""
    volumes: Floats
    """(k,) filled [m³]."""
    node_volumes: Floats
    """(k, w) the filled volume, shared out over the nodes [m³]."""


def build_elements(fillings: Floats, sizes: Floats) -> Elements:
    """Elements filled as `voxels.fill` says, (k, 3, 3, 3).

    Trilinear shape functions, and quadratic ones within each cell (Wilson et al. 1973; Taylor,
    Beresford and Wilson 1976) that let it bend without shear. Stiffness is integrated over the part
    that is filled (finite cell method, Düster et al. 2008), so that what is thinner than its cell
    bends as it should.
    """
    gradients, shapes = _samples()
    gradients = gradients / sizes
    at_samples = strain_matrices(gradients)
    energies = stress_products(at_samples, at_samples)
    # Rays may miss what is thinner than a hair; its cells are then filled alike everywhere.
    weights = (fillings + 1e-9 * FULL_CELL).reshape(len(fillings), -1)
    filled = weights.sum(axis=1)
    # Means over the filled part: by them, bends within cells leave uniform strains alone.
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
    """(k, 24, 24) what is left of (k, 33, 33) when the bends within take the shape they like."""
    left = stiffness.copy()
    for last in range(CORNER_UNKNOWNS + INNER_UNKNOWNS - 1, CORNER_UNKNOWNS - 1, -1):
        row = left[:, last, :last]
        pivot = left[:, last, last] + 1e-9 * np.trace(left, axis1=1, axis2=2)
        left = left[:, :last, :last] - row[:, :, None] * (row / pivot[:, None])[:, None, :]
    return left


@cache
def _samples() -> tuple[Floats, Floats]:
    """At the 27 samples of a cell of size 1, the shape functions.

    (27, 11, 3) gradients, those of the functions within the cell after its corners', and (27, 8)
    those of the corners themselves.
    """
    samples = np.array(list(np.ndindex(3, 3, 3))) / 2.0
    factors = np.where(CELL_CORNERS == 1.0, samples[:, None], 1.0 - samples[:, None])
    return _gradients(samples), factors.prod(axis=2)


def _gradients(points: Floats) -> Floats:
    """(q, 11, 3) of the 8 trilinear and 3 quadratic shape functions at places (q, 3)."""
    factors = np.where(CELL_CORNERS == 1.0, points[:, None], 1.0 - points[:, None])
    slopes = 2.0 * CELL_CORNERS - 1.0
    gradients = np.zeros((len(points), 11, 3))
    for axis in range(3):
        others = [other for other in range(3) if other != axis]
        gradients[:, :8, axis] = slopes[:, axis] * factors[:, :, others].prod(axis=2)
        gradients[:, 8 + axis, axis] = 4.0 - 8.0 * points[:, axis]
    return gradients


def strain_matrices(gradients: Floats) -> Floats:
    """(q, 6, 3 f) strains xx yy zz yz zx xy of displacements along each axis, from (q, f, 3)."""
    count = gradients.shape[1]
    matrices = np.zeros((len(gradients), 6, count, 3))
    for axis in range(3):
        matrices[:, axis, :, axis] = gradients[:, :, axis]
        after, last = (axis + 1) % 3, (axis + 2) % 3
        matrices[:, 3 + axis, :, after] = gradients[:, :, last]
        matrices[:, 3 + axis, :, last] = gradients[:, :, after]
    return matrices.reshape(len(gradients), 6, 3 * count)


def stress_products(strains: Floats, others: Floats) -> Floats:
    """(q, n, m) strains (q, 6, n) times the stress of others (q, 6, m), by Hooke's law."""
    stress = others * np.array([2.0 * SHEAR] * 3 + [SHEAR] * 3)[:, None]
    stress[:, :3] += FIRST_LAME * (others[:, 0] + others[:, 1] + others[:, 2])[:, None]
    total = np.zeros((len(strains), strains.shape[2], others.shape[2]))
    for part in range(6):
        total += strains[:, part, :, None] * stress[:, part, None, :]
    return total
