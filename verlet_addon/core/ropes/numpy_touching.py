"""Contacts that answer each other, in NumPy."""

import numpy as np

from ..arrays import NONZERO, Floats, Integers

SWEEPS = 40
"""Sweeps over all contacts, at most."""
SOLVED = 1e-7
"""Contacts are solved to this distance [m]."""


def gather_answers(
    fields: Floats, particles: Integers, shares: Floats, directions: Floats
) -> Floats:
    """Returns (k, 3, k, 3) how far apart k contacts are moved, by one impulse after the other.

    Parameters
    ----------
    fields : (3 k, 3, n) what each impulse moves: by contacts and directions.
    particles, shares : (4, k) of each contact, and their weights in it.
    directions : (3, 3, k) of each contact, components in the middle.
    """
    moved = np.einsum("pk,fxpk->fxk", shares, fields[:, :, particles])
    count = particles.shape[1]
    found = np.einsum("fxk,exk->fke", moved, directions)
    return np.asarray(found.reshape(count, 3, count, 3))


def solve_coupled(
    answers: Floats, apart: Floats, targets: Floats, friction: Floats, impulses: Floats
) -> None:
    """Finds impulses ≥ 0 along normals, and within Coulomb's cone across (Gauss and Seidel).

    Parameters
    ----------
    answers : (k, 3, k, 3) by how much an impulse at one contact, and direction, moves all [1/kg].
    apart : (k, 3) how far apart contacts are along their normals and across [m]; changed.
    targets, friction : (k,) how far they have to be [m], and coefficients.
    impulses : (k, 3) along normals, and across; changed [kg m].
    """
    for _ in range(SWEEPS):
        largest = 0.0
        for row in range(len(targets)):
            own = answers[row, :, row]
            before = impulses[row].copy()
            pushed = max(before[0] + (targets[row] - apart[row, 0]) / own[0, 0], 0.0)
            apart += answers[row, 0] * (pushed - before[0])
            across = before[1:] - _solve_two(own[1:, 1:], apart[row, 1:])
            length = np.sqrt(across[0] * across[0] + across[1] * across[1])
            across *= min(1.0, friction[row] * pushed / max(length, NONZERO))
            impulses[row] = [pushed, *across]
            for axis in (1, 2):
                apart += answers[row, axis] * (impulses[row, axis] - before[axis])
            changes = np.abs(impulses[row] - before) * np.diagonal(own)
            largest = max(largest, float(changes.max()))
        if largest < SOLVED:
            break


def _solve_two(matrix: Floats, right: Floats) -> Floats:
    """The solution of two equations, by Cramer's rule."""
    (a, b), (c, d) = matrix
    determinant = max(a * d - b * c, NONZERO)
    first, second = d * right[0] - c * right[1], a * right[1] - b * right[0]
    return np.array([first / determinant, second / determinant])
