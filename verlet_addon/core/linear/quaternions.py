"""Unit quaternions w, x, y, z, as columns (4, k): rotations that are followed by others."""

import numpy as np

from ..arrays import SHORTEST, Floats, cross, dot

LEAST_SWING = 1e-9
"""Rounding: least sine of half the angle to the opposite direction; nearer ones have no swing."""


def multiply_quaternions(first: Floats, second: Floats) -> Floats:
    """(4, k) products of quaternions w, x, y, z."""
    v, u = first[1:], second[1:]
    scalar = first[0] * second[0] - dot(v, u)
    return np.stack([scalar, *(first[0] * u + second[0] * v + cross(v, u))])


def conjugate(quaternions: Floats) -> Floats:
    """(4, k) inverse unit quaternions."""
    return np.stack([quaternions[0], *-quaternions[1:]])


def rotate(quaternions: Floats, vectors: Floats) -> Floats:
    """(3, k) vectors rotated by unit quaternions (4, k)."""
    twice = 2.0 * cross(quaternions[1:], vectors)
    return np.asarray(vectors + quaternions[0] * twice + cross(quaternions[1:], twice))


def quaternion_matrices(quaternions: Floats) -> Floats:
    """(k, 3, 3) rotation matrices of unit quaternions (4, k)."""
    columns = [rotate(quaternions, axis) for axis in np.eye(3)[:, :, None]]
    return np.stack(columns).transpose(2, 1, 0)


def quaternions_by(vectors: Floats) -> Floats:
    """(4, k) rotations about vectors v (3, k) by 2 arctan(|v| / 2), as unit quaternions."""
    halves = vectors / 2.0
    share = 1.0 / np.sqrt(1.0 + dot(halves, halves))
    return np.stack([share, *(halves * share)])


def swing(before: Floats, now: Floats) -> Floats:
    """(4, k) least rotations from unit vectors (3, k) to others; none if they are opposite."""
    scalar = 1.0 + dot(before, now)
    found: Floats = np.stack([scalar, *cross(before, now)])
    sizes = np.sqrt((found * found).sum(axis=0))
    found = np.where(sizes > LEAST_SWING, found / np.maximum(sizes, SHORTEST), 0.0)
    found[0] += sizes <= LEAST_SWING
    return found
