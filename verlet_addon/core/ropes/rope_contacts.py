"""Contacts of ropes, coupled with lengths: an impulse moves an inextensible rope as a whole.

Alternate projection of contacts and lengths hardly converges there. So contacts are solved on the
Schur complement of the lengths, B (M⁻¹ − M⁻¹ Jᵀ (J M⁻¹ Jᵀ + α̃)⁻¹ J M⁻¹) Bᵀ: the responses of ropes
that keep their lengths. The rows of B are each contact's normal and two tangents.
"""

from collections.abc import Sequence

import numpy as np

from ..arrays import Floats, dot, sum_by
from ..contact.contact_rows import ContactRows
from ..detection.compiled_kernels import sum_weighted
from .compiled_rope_contacts import solve_impulses
from .numpy_rope_contacts import RopeSlice

CONTACT_REGULARIZATION = 0.2
"""Regularization: added to the diagonal of the responses, as a share of a contact's mobility
without lengths. Where lengths block a contact, or friction only increases its pressure, no impulse
suffices, and the largest would throw a rope away. Other contacts still converge in a few rounds."""


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
    own = rows.select(chosen)
    impulses = own.normals * own.normal_multipliers - own.friction_multipliers
    violations = sum_weighted(positions, own.particles, own.weights) - own.anchors
    violations -= own.normals * (own.targets - dot(own.normals, own.anchors))
    regularization = CONTACT_REGULARIZATION * own.mobilities
    bounds = regularization + response_bounds(own, positions.shape[1])
    positions += solve_impulses(positions, own, ropes, violations, bounds, regularization, impulses)
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
