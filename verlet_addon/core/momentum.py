"""Momentum of bodies that nothing holds."""

import numpy as np

from .arrays import Floats, Integers, sum_by


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

    def total(values: Floats) -> Floats:
        return np.stack([sum_by(label, row, count) for row in values])

    whole = sum_by(label, masses, count)
    arms = about[:, free]
    arms = arms - (total(arms * masses) / whole)[:, label]
    change = after[:, free] - before[:, free]
    drift = (total(change * masses) / whole)[:, label]
    spin = total(np.cross(arms, change, axis=0) * masses).T
    squares = np.einsum("ik,jk->ijk", arms, arms) * masses
    second = total(squares.reshape(9, -1)).T.reshape(-1, 3, 3)
    if not np.isfinite(second).all():
        return after  # the frame's check will say which body broke
    inertia = np.trace(second, axis1=1, axis2=2)[:, None, None] * np.eye(3) - second
    turn = np.einsum("cij,cj->ic", np.linalg.pinv(inertia, rcond=1e-9, hermitian=True), spin)
    kept = after.copy()
    kept[:, free] -= drift + np.cross(turn[:, label], arms, axis=0)
    return kept
