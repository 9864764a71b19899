"""Rotations: about vectors, and those that fit best where points have gone."""

import numpy as np

from ..arrays import Floats

ROTATION_DIGITS = 10
"""What rounding does to linear algebra is far beneath that, and nobody sees what is left out."""


def nearest_rotations(products: Floats) -> Floats:
    """(…, 3, 3) rotations R of which Σ m |x − R a|² is least, for Σ m x aᵀ (…, 3, 3).

    x and a are places about their centres of mass, now and at rest (W. Kabsch, *A Solution for the
    Best Rotation to Relate Two Sets of Vectors*, 1976).
    """
    left, _, right = np.linalg.svd(products)
    # The least certain axis is turned over where the best fit is a mirror image.
    left[..., 2] *= np.sign(np.linalg.det(left) * np.linalg.det(right))[..., None]
    return np.ascontiguousarray(left @ right)


def portable_rotations(products: Floats) -> Floats:
    """The same rounded to ROTATION_DIGITS: processors round singular values differently."""
    return orthonormalize(np.round(nearest_rotations(products), ROTATION_DIGITS))


def orthonormalize(turns: Floats) -> Floats:
    """(…, 3, 3) rotations of which these have small errors: the first are squared."""
    squares = np.einsum("...ji,...jk->...ik", turns, turns)
    return np.asarray(np.einsum("...ij,...jk->...ik", turns, 1.5 * np.eye(3) - 0.5 * squares))


def rotations_about(vectors: Floats) -> Floats:
    """(c, 3, 3) rotations about vectors (c, 3), by nearly as many radians (A. Cayley, 1846)."""
    x, y, z = vectors.T / 2.0
    share = 2.0 / (1.0 + x * x + y * y + z * z)
    cross = cross_matrices(vectors / 2.0)
    twice = np.einsum("cij,cjk->cik", cross, cross)
    return np.asarray(np.eye(3) + share[:, None, None] * (cross + twice))


def cross_matrices(vectors: Floats) -> Floats:
    """(c, 3, 3) the matrices that make v × x of x, for vectors v (c, 3)."""
    x, y, z = vectors.T
    none = np.zeros_like(x)
    return np.array([[none, -z, y], [z, none, -x], [-y, x, none]]).transpose(2, 0, 1)


def axial_vectors(products: Floats) -> Floats:
    """(c, 3) Σ a × b, given Σ b aᵀ (c, 3, 3)."""
    parts = [products[:, k - 1, k - 2] - products[:, k - 2, k - 1] for k in range(3)]
    return np.stack(parts, axis=1)
