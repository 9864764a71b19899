"""Rotation matrices: about given vectors, and of least-squares fits."""

from math import atan2, cos, sin

import numpy as np

from ..arrays import Floats

ROTATION_DIGITS = 10
"""Rounding: decimal places of `portable_rotations`, coarser than the rounding errors of LAPACK,
finer than anything visible."""


def nearest_rotations(products: Floats) -> Floats:
    """(…, 3, 3) rotations R that minimize Σ m |x − R a|², given Σ m x aᵀ (…, 3, 3).

    x and a are positions relative to their centres of mass, now and at rest (W. Kabsch, *A Solution
    for the Best Rotation to Relate Two Sets of Vectors*, 1976).
    """
    left, _, right = np.linalg.svd(products)
    # Where the best fit is a reflection, the axis of the smallest singular value is reversed.
    left[..., 2] *= np.sign(np.linalg.det(left) * np.linalg.det(right))[..., None]
    return np.ascontiguousarray(left @ right)


def portable_rotations(products: Floats) -> Floats:
    """Nearest rotations to ROTATION_DIGITS places, since CPUs round singular values differently."""
    return orthonormalize(np.round(nearest_rotations(products), ROTATION_DIGITS))


def orthonormalize(turns: Floats) -> Floats:
    """(…, 3, 3) rotations from matrices with small errors, whose first order is removed."""
    squares = np.einsum("...ji,...jk->...ik", turns, turns)
    return np.asarray(np.einsum("...ij,...jk->...ik", turns, 1.5 * np.eye(3) - 0.5 * squares))


def rotations_about(vectors: Floats) -> Floats:
    """(c, 3, 3) rotations about vectors v (c, 3), by 2 arctan(|v| / 2) rad (A. Cayley, 1846)."""
    x, y, z = vectors.T / 2.0
    share = 2.0 / (1.0 + x * x + y * y + z * z)
    cross = cross_matrices(vectors / 2.0)
    twice = np.einsum("cij,cjk->cik", cross, cross)
    return np.asarray(np.eye(3) + share[:, None, None] * (cross + twice))


def rotation_vector(turn: Floats) -> Floats:
    """(3,) axis of a rotation (3, 3), by its angle, 0 … π [rad]; 0 also for half a turn."""
    axis = np.array([turn[k - 1, k - 2] - turn[k - 2, k - 1] for k in range(3)]) / 2.0
    sine = float(np.sqrt((axis * axis).sum()))
    if sine == 0.0:
        return np.zeros(3)
    return np.asarray(axis * (atan2(sine, (float(np.trace(turn)) - 1.0) / 2.0) / sine))


def rotation_by(vector: Floats) -> Floats:
    """(3, 3) rotation about a vector (3,) by its length [rad] (O. Rodrigues, 1840)."""
    angle = float(np.sqrt((vector * vector).sum()))
    if angle == 0.0:
        return np.eye(3)
    (cross,) = cross_matrices(vector[None] / angle)
    return np.asarray(np.eye(3) + sin(angle) * cross + (1.0 - cos(angle)) * (cross @ cross))


def cross_matrices(vectors: Floats) -> Floats:
    """(c, 3, 3) matrices of the cross product v × x, for vectors v (c, 3)."""
    x, y, z = vectors.T
    none = np.zeros_like(x)
    return np.array([[none, -z, y], [z, none, -x], [-y, x, none]]).transpose(2, 0, 1)


def axial_vectors(products: Floats) -> Floats:
    """(c, 3) Σ a × b, given Σ b aᵀ (c, 3, 3)."""
    parts = [products[:, k - 1, k - 2] - products[:, k - 2, k - 1] for k in range(3)]
    return np.stack(parts, axis=1)
