"""Contacts coupled by ropes in NumPy: the solver of their impulses."""

from collections.abc import Sequence

import numpy as np

from ..arrays import NONZERO, Floats, dot, magnitudes, sum_rows
from ..contact.contact_rows import ContactRows
from ..detection.numpy_kernels import sum_weighted
from .numpy_kernels import remove_stretching
from .rope_trees import TreeBatches

MAX_DESCENT_ROUNDS = 60
"""Rounds of the descent, at most."""
CONTACT_TOLERANCE = 1e-7
"""Rounds end once none moves a contact by more than this [m]."""

RopeSlice = tuple[slice, TreeBatches]
"""A body's particles, as a slice of the particles of all bodies, and the lengths of its ropes."""


def solve_impulses(
    positions: Floats,
    rows: ContactRows,
    ropes: Sequence[RopeSlice],
    violations: Floats,
    bounds: Floats,
    regularization: Floats,
    impulses: Floats,
) -> Floats:
    """Finds impulses of contacts within Coulomb's cone; returns the displacements by their changes.

    Accelerated projected gradient descent (Mazhar, Heyn, Negrut and Tasora, *Using Nesterov's
    method to accelerate multibody dynamics with friction and contact*, 2015), with a restart
    where a step turns back (O'Donoghue and Candès, 2015): p ← Π(q − (v + A (q − p₀)) / bound),
    where A is the response of the contacts, a pass over the ropes, and q is ahead of p by its
    momentum. Responses are never stored, so that time is linear in contacts and particles.

    Parameters
    ----------
    positions : (3, N) of all bodies and colliders [m].
    ropes : bodies with ropes; the multipliers of their links change with the displacements.
    violations : (3, k) separations less targets along normals, and slides across them [m].
    bounds : (k,) upper bounds of the responses, with regularization [1/kg].
    regularization : (k,) added to the diagonal of the responses [1/kg].
    impulses : (3, k) changed [kg m].

    Returns
    -------
    (3, N) displacements of all particles [m].
    """
    moved = np.zeros_like(positions)
    start, ahead = impulses.copy(), impulses.copy()
    momentum = 1.0
    for number in range(MAX_DESCENT_ROUNDS):
        slopes = violations + sum_weighted(moved, rows.particles, rows.weights)
        slopes += regularization * (ahead - start)
        following = _project_on_cones(ahead - slopes / bounds, rows)
        step, progress = following - ahead, following - impulses
        if (bounds * dot(step, progress)).sum() < 0.0:
            momentum = 1.0
        last = bool((bounds * magnitudes(step)).max() < CONTACT_TOLERANCE)
        last = last or number + 1 == MAX_DESCENT_ROUNDS
        former, momentum = momentum, (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        target = following if last else following + (former - 1.0) / momentum * progress
        impulses[...] = following
        moved += _displacements(positions, rows, ropes, target - ahead)
        ahead = target
        if last:
            break
    return moved


def _project_on_cones(impulses: Floats, rows: ContactRows) -> Floats:
    """Impulses (3, k) with normal parts ≥ 0, and tangential ones within Coulomb's cone."""
    normal = dot(rows.normals, impulses)
    tangential = impulses - rows.normals * normal
    normal = np.maximum(normal, 0.0)
    lengths = np.maximum(magnitudes(tangential), NONZERO)
    tangential *= np.minimum(1.0, rows.friction * normal / lengths)
    return rows.normals * normal + tangential


def _displacements(
    positions: Floats, rows: ContactRows, ropes: Sequence[RopeSlice], changes: Floats
) -> Floats:
    """(3, N) displacements by changes (3, k) of impulses, with ropes that keep their lengths."""
    moved = np.zeros_like(positions)
    for corner in range(4):
        pulls = rows.impulse_responses[corner] * changes
        moved += sum_rows(rows.particles[corner], pulls, moved.shape[1])
    for span, trees in ropes:
        displacements = np.ascontiguousarray(moved[:, span])
        remove_stretching(displacements, positions[:, span], trees)
        moved[:, span] = displacements
    return moved
