"""Conservation of linear and angular momentum of free bodies."""

import numpy as np

from ..arrays import Floats, cofactors, sum_by, sum_products, sum_rows
from ..kernel import SizedIntegers, kernel

NEGLIGIBLE_INERTIA = 1e-11
"""Rounding: regularization of inertia as a share of its trace, a hundred thousand times its
rounding error."""


@kernel(
    result=lambda _, __, ___, after, ____: np.empty(after.shape),
    work=lambda components, *_: np.empty((int(components.max(initial=-1)) + 1, 16)),
)
def conserve_momentum(
    components: SizedIntegers,
    inverse_masses: Floats,
    before: Floats,
    after: Floats,
    *,
    about: Floats,
) -> Floats:
    """Returns (3, n) `after`, corrected so that the change from `before` conserves momentum.

    Internal forces conserve momentum; interpolated and implicit corrections violate it a little.

    Parameters
    ----------
    components : (n,) number of each particle's free body; −1 for all other particles.
    inverse_masses : (n,) [1/kg].
    before, after : (3, n) positions, or previous positions, before and after corrections [m].
    about : (3, n) positions at which moments of displacements are taken [m]. Discrete angular
        momentum is Σ m x × (x' − x)/h, so if positions were corrected, the previous positions; if
        previous positions were corrected, the positions.
    """
    free = np.flatnonzero(components >= 0)
    if not len(free):
        return after
    label = components[free]
    count = int(label.max()) + 1
    masses = 1.0 / inverse_masses[free]
    whole = sum_by(label, masses, count)
    arms = about[:, free]
    arms = arms - (sum_rows(label, arms * masses, count) / whole)[:, label]
    change = after[:, free] - before[:, free]
    drift = (sum_rows(label, change * masses, count) / whole)[:, label]
    spin = sum_rows(label, np.cross(arms, change, axis=0) * masses, count).T
    second = sum_products(label, arms, arms, count, masses)
    if not np.isfinite(second).all():
        return after  # the frame's check will say which body broke
    turn = find_rotation_vectors(second, spin).T
    kept = after.copy()
    kept[:, free] -= drift + np.cross(turn[:, label], arms, axis=0)
    return kept


def find_rotation_vectors(second: Floats, spin: Floats) -> Floats:
    """(c, 3) rotation vectors with angular momenta `spin` (c, 3), for Σ m a aᵀ (c, 3, 3) of arms a.

    By Cramer's rule. A straight rope has neither inertia nor spin about its axis, so the inertia is
    regularized against 0 / 0; the rotation of a single point is 0.
    """
    trace = np.trace(second, axis1=1, axis2=2)[:, None, None]
    inertia = trace * np.eye(3) - second
    minors, size = cofactors(inertia + NEGLIGIBLE_INERTIA * 2.0 * trace * np.eye(3))
    vectors = (minors * spin[:, None]).sum(axis=2)
    return np.asarray(vectors * (1.0 / np.where(size > 0.0, size, np.inf))[:, None])
