"""The momentum of bodies that nothing holds, in NumPy."""

import numpy as np

from ..arrays import Floats, Integers, cofactors, sum_by, sum_products, sum_rows

NEGLIGIBLE_INERTIA = 1e-11
"""Share of a body's inertia that does not count: a hundred thousand times what rounding leaves."""


def conserve_momentum(
    components: Integers, inverse_masses: Floats, before: Floats, after: Floats, *, about: Floats
) -> Floats:
    """Returns (3, n) `after` without what its change did to the momentum of bodies nothing holds.

    Internal forces cannot change it; interpolated and implicit corrections do, a little. Discrete
    angular momentum is Σ m x × (x' − x)/h: a position's correction has its moment about the
    position a step before, a correction of the previous position about the new one. `components`
    (n,) number those bodies; −1 = held.
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
    """(c, 3) turns that have this spin (c, 3), of bodies with second moments (c, 3, 3) Σ m a aᵀ.

    By Cramer's rule. A straight rope has no inertia about itself, and no spin either: a tiny one
    added keeps 0 / 0 away, and a single point does not turn.
    """
    trace = np.trace(second, axis1=1, axis2=2)[:, None, None]
    inertia = trace * np.eye(3) - second
    minors, size = cofactors(inertia + NEGLIGIBLE_INERTIA * 2.0 * trace * np.eye(3))
    vectors = (minors * spin[:, None]).sum(axis=2)
    return np.asarray(vectors * (1.0 / np.where(size > 0.0, size, np.inf))[:, None])
