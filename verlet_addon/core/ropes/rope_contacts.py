"""Contacts of ropes, coupled with lengths: an impulse moves an inextensible rope as a whole.

Alternate projection of contacts and lengths hardly converges there. So contacts are solved on the
Schur complement of the lengths, B (M⁻¹ − M⁻¹ Jᵀ (J M⁻¹ Jᵀ + α̃)⁻¹ J M⁻¹) Bᵀ: the responses of ropes
that keep their lengths. The rows of B are each contact's normal and two tangents.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import NONZERO, Floats, dot, magnitudes, sum_by, sum_rows
from ..contacts.manifold.contact_rows import ContactRows, sum_weighted
from ..kernel import Sized, Struct, kernel
from .kernels import remove_stretching
from .rope_trees import TreeBatches

CONTACT_REGULARIZATION = 0.2
"""Regularization: added to the diagonal of the responses, as a share of a contact's mobility
without lengths. Where lengths block a contact, or friction only increases its pressure, no impulse
suffices, and the largest would throw a rope away. Other contacts still converge in a few rounds."""
MAX_DESCENT_ROUNDS = 60
"""Maximum rounds of the descent. With half, ropes on cloth lie 0.3 mm elsewhere; with twice, thick
ones 0.04 mm."""
CONTACT_TOLERANCE, RELATIVE_TOLERANCE = 1e-7, 1e-2
"""Rounds end once none moves a contact by more than the first [m], or than the second as a share of
the largest violation: contacts are solved again after other constraints, which move them by more.
With a tenth of the share, two ropes on leather take half as much time again."""


@dataclass(frozen=True, eq=False)
class RopeSlice:
    """The ropes of one body among all bodies."""

    particles: slice
    """The body's particles among those of all bodies."""
    trees: TreeBatches
    """The lengths of its ropes."""


Struct(
    "rope_slice",
    RopeSlice,
    reads="trees",
    start=(int, lambda rope: rope.particles.start),
    count=(int, lambda rope: rope.particles.stop - rope.particles.start),
)


def solve_rope_contacts(positions: Floats, rows: ContactRows, ropes: Sequence[RopeSlice]) -> None:
    """Projects contacts of ropes, with friction, by impulses that preserve the ropes' lengths.

    Parameters
    ----------
    positions : (3, N) of all bodies and colliders; changed [m].
    rows : contacts, of which those with particles of ropes are solved; multipliers are changed.
    """
    touching = (rows.heights(positions) < rows.targets) | (rows.normal_multipliers > 0.0)
    chosen = np.flatnonzero(rows.on_ropes & touching)
    if not len(chosen):
        return
    own = rows.chosen(chosen)
    impulses = own.normals * own.normal_multipliers - own.friction_multipliers
    violations = sum_weighted(positions, own.particles, own.weights) - own.anchors
    violations -= own.normals * (own.targets - dot(own.normals, own.anchors))
    regularization = CONTACT_REGULARIZATION * own.mobilities
    bounds = regularization + response_bounds(own, positions.shape[1])
    largest = (own.targets - own.heights(positions)).max()
    tolerance = max(CONTACT_TOLERANCE, RELATIVE_TOLERANCE * float(largest))
    given = tolerance, violations, bounds, regularization, impulses
    moved, impulses = solve_impulses(positions, own, ropes, *given)
    positions += moved
    pushed = np.maximum(dot(own.normals, impulses), 0.0)
    rows.normal_multipliers[chosen] = pushed
    rows.friction_multipliers[:, chosen] = own.normals * pushed - impulses


def response_bounds(rows: ContactRows, count: int) -> Floats:
    """(k,) Σ |w| m⁻¹ Σ |w|, over the particles of a contact and all contacts of each [1/kg].

    A diagonal matrix of these is at least the matrix of responses, by Cauchy's inequality for each
    of `count` particles; lengths only reduce responses.
    """
    shares = sum_by(rows.particles.ravel(), np.abs(rows.weights).ravel(), count)
    return np.asarray((np.abs(rows.impulse_responses) * shares[rows.particles]).sum(axis=0))


@kernel(
    result=lambda positions, *given: (np.zeros_like(positions), np.empty_like(given[-1])),
    work=lambda positions, *given: np.zeros(positions.size + 4 * given[-1].size),
)
def solve_impulses(
    positions: Sized,
    rows: ContactRows,
    ropes: Sequence[RopeSlice],
    tolerance: float,
    violations: Floats,
    bounds: Floats,
    regularization: Floats,
    impulses: Floats,
) -> tuple[Floats, Floats]:
    """Finds impulses of contacts within Coulomb's cone, and the displacements by their changes.

    Accelerated projected gradient descent (Mazhar, Heyn, Negrut and Tasora, *Using Nesterov's
    method to accelerate multibody dynamics with friction and contact*, 2015), with a restart
    where a step turns back (O'Donoghue and Candès, 2015): p ← Π(q − (v + A (q − p₀)) / bound),
    where A is the response of the contacts, a pass over the ropes, and q is ahead of p by its
    momentum. Responses are never stored, so that time is linear in contacts and particles.

    Parameters
    ----------
    positions : (3, N) of all bodies and colliders [m].
    ropes : bodies with ropes; the multipliers of their links change with the displacements.
    tolerance : rounds end once none moves a contact by more [m].
    violations : (3, k) separations less targets along normals, and slides across them [m].
    bounds : (k,) upper bounds of the responses, with regularization [1/kg].
    regularization : (k,) added to the diagonal of the responses [1/kg].
    impulses : (3, k) of the step before [kg m].

    Returns
    -------
    moved : (3, N) displacements of all particles [m].
    impulses : (3, k) [kg m].
    """
    moved, start = np.zeros_like(positions), impulses
    impulses, ahead = start.copy(), start.copy()
    momentum = 1.0
    for number in range(MAX_DESCENT_ROUNDS):
        slopes = violations + sum_weighted(moved, rows.particles, rows.weights)
        slopes += regularization * (ahead - start)
        following = _project_on_cones(ahead - slopes / bounds, rows)
        step, progress = following - ahead, following - impulses
        if (bounds * dot(step, progress)).sum() < 0.0:
            momentum = 1.0
        last = bool((bounds * magnitudes(step)).max() < tolerance)
        last = last or number + 1 == MAX_DESCENT_ROUNDS
        former, momentum = momentum, (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        target = following if last else following + (former - 1.0) / momentum * progress
        impulses[...] = following
        moved += _displacements(positions, rows, ropes, target - ahead)
        ahead = target
        if last:
            break
    return moved, impulses


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
    for rope in ropes:
        own = rope.particles
        displacements = np.ascontiguousarray(moved[:, own])
        remove_stretching.reference(displacements, positions[:, own], rope.trees)
        moved[:, own] = displacements
    return moved
