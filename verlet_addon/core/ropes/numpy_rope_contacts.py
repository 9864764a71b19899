"""Contacts coupled by ropes in NumPy: their responses to each other, and the solver."""

import numpy as np

from ..arrays import NONZERO, Floats, Integers

MAX_CONTACT_SWEEPS = 40
"""Gauss–Seidel sweeps over all contacts, at most."""
CONTACT_TOLERANCE = 1e-7
"""Sweeps end once none moves a contact by more than this [m]."""


def gather_responses(
    fields: Floats, particles: Integers, shares: Floats, directions: Floats
) -> Floats:
    """Returns (k, 3, k, 3) displacements by a unit impulse at each contact, at every contact.

    Parameters
    ----------
    fields : (3 k, 3, n) displacements of particles by each impulse, ordered by contacts and
        directions.
    particles, shares : (4, k) particles of each contact, and their weights in it.
    directions : (3, 3, k) normal and tangents of each contact, components in the middle.
    """
    moved = np.einsum("pk,fxpk->fxk", shares, fields[:, :, particles])
    count = particles.shape[1]
    projections = np.einsum("fxk,exk->fke", moved, directions)
    return np.asarray(projections.reshape(count, 3, count, 3))


def solve_contact_system(
    responses: Floats, separations: Floats, targets: Floats, friction: Floats, impulses: Floats
) -> None:
    """Finds normal impulses ≥ 0 and tangential ones within Coulomb's cone, by Gauss–Seidel.

    Parameters
    ----------
    responses : (k, 3, k, 3) displacement at all contacts per impulse at one, by direction [1/kg].
    separations : (k, 3) separations along the normal and both tangents [m]; changed.
    targets, friction : (k,) least separations [m], and friction coefficients.
    impulses : (k, 3) along normals and tangents; changed [kg m].
    """
    for _ in range(MAX_CONTACT_SWEEPS):
        largest = 0.0
        for row in range(len(targets)):
            own = responses[row, :, row]
            before = impulses[row].copy()
            normal_impulse = max(before[0] + (targets[row] - separations[row, 0]) / own[0, 0], 0.0)
            separations += responses[row, 0] * (normal_impulse - before[0])
            tangential = before[1:] - _solve_two(own[1:, 1:], separations[row, 1:])
            length = np.sqrt(tangential[0] * tangential[0] + tangential[1] * tangential[1])
            tangential *= min(1.0, friction[row] * normal_impulse / max(length, NONZERO))
            impulses[row] = [normal_impulse, *tangential]
            for axis in (1, 2):
                separations += responses[row, axis] * (impulses[row, axis] - before[axis])
            changes = np.abs(impulses[row] - before) * np.diagonal(own)
            largest = max(largest, float(changes.max()))
        if largest < CONTACT_TOLERANCE:
            break


def _solve_two(matrix: Floats, right: Floats) -> Floats:
    """The solution of two equations, by Cramer's rule."""
    (a, b), (c, d) = matrix
    determinant = max(a * d - b * c, NONZERO)
    first, second = d * right[0] - c * right[1], a * right[1] - b * right[0]
    return np.array([first / determinant, second / determinant])
