"""Terms of contact rows: sums of weighted positions, and responses to impulses."""

import numpy as np

from ..arrays import Floats, Integers, dot
from ..kernel import Sized, kernel


@kernel(result=lambda _, particles, __: np.empty((3, particles.shape[1])))
def sum_weighted(positions: Sized, particles: Integers, weights: Sized) -> Floats:
    """(3, k) Σ weights (4, k) × positions (3, N) of particles (4, k), added sequentially."""
    total = weights[0] * positions[:, particles[0]]
    for corner in (1, 2, 3):
        total += weights[corner] * positions[:, particles[corner]]
    return np.asarray(total)


def _terms(
    _: Floats, __: Floats, particles: Integers, *___: Floats
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Arrays for the terms of as many rows as there are."""
    k = particles.shape[1]
    return np.empty((4, k)), np.empty(k), np.empty(k), np.empty((3, k)), np.empty(k)


@kernel(result=_terms)
def compute_row_terms(
    positions: Sized, inverse_masses: Floats, particles: Integers, weights: Sized, normals: Floats
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Computes the terms of k rows of contact that their solution needs.

    Parameters
    ----------
    positions : (3, N) [m].
    inverse_masses : (N,) [1/kg].
    particles, weights : (4, k) of each row.
    normals : (3, k) unit vectors.

    Returns
    -------
    impulse_responses : (4, k) weight × inverse mass, the displacement by a unit impulse [1/kg].
    most : (k,) largest magnitude of those [1/kg].
    mobilities : (k,) Σ weight² × inverse mass [1/kg].
    apart : (3, k) Σ weight × position, the separation vector [m].
    heights : (k,) its component along the normal [m].
    """
    impulse_responses = weights * inverse_masses.take(particles)
    apart = sum_weighted.reference(positions, particles, weights)
    most = np.abs(impulse_responses).max(axis=0, initial=0.0)
    return (
        impulse_responses,
        most,
        (weights * impulse_responses).sum(axis=0),
        apart,
        dot(normals, apart),
    )
