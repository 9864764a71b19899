"""Contacts of ropes, coupled with lengths: an impulse moves an inextensible rope as a whole.

Alternate projection of contacts and lengths hardly converges there. So contacts are solved on the
Schur complement of the lengths, B (M⁻¹ − M⁻¹ Jᵀ (J M⁻¹ Jᵀ + α̃)⁻¹ J M⁻¹) Bᵀ: the responses of ropes
that keep their lengths. The rows of B are each contact's normal and two tangents.
"""

from collections.abc import Sequence

import numpy as np

from ..arrays import Floats, Integers
from ..contact.contact_rows import ContactRows
from .compiled_kernels import remove_stretching
from .compiled_rope_contacts import gather_responses, solve_contact_system
from .rope_trees import TreeBatches

MAX_COUPLED_CONTACTS = 400
"""Contacts solved as one dense system, of three rows each, at most; more are solved in groups."""
CONTACT_REGULARIZATION = 0.3
"""Regularization: added to the diagonal of the responses, as a share of a contact's mobility
without lengths. Where lengths block a contact, or friction only increases its pressure, no impulse
suffices, and the largest would throw a rope away. Other contacts still converge in a few rounds."""

RopeSlice = tuple[slice, TreeBatches]
"""A body's particles, as a slice of the particles of all bodies, and the lengths of its ropes."""


def solve_rope_contacts(positions: Floats, rows: ContactRows, ropes: Sequence[RopeSlice]) -> None:
    """Projects contacts of ropes, with friction, by impulses that preserve the ropes' lengths.

    Parameters
    ----------
    positions : (3, N) of all bodies and colliders; changed [m].
    rows : contacts, of which those with particles of ropes are solved; multipliers are changed.
    """
    touching = (rows.heights(positions) < rows.targets) | (rows.normal_multipliers > 0.0)
    chosen = np.flatnonzero(rows.on_ropes & touching)
    for group in np.array_split(
        chosen, range(MAX_COUPLED_CONTACTS, len(chosen), MAX_COUPLED_CONTACTS)
    ):
        if len(group):
            _solve_group(positions, rows, group, ropes)


def _solve_group(
    positions: Floats, rows: ContactRows, chosen: Integers, ropes: Sequence[RopeSlice]
) -> None:
    """Solves a group of contacts as one system, and moves their particles and the ropes."""
    directions = _directions(rows.normals[:, chosen])
    particles, weights = rows.particles[:, chosen], rows.weights[:, chosen]
    offsets = np.einsum("pk,xpk->xk", weights, positions[:, particles])
    offsets -= rows.anchors[:, chosen]
    separations = np.ascontiguousarray(np.einsum("dxk,xk->kd", directions, offsets))
    separations[:, 0] += np.einsum("xk,xk->k", rows.normals[:, chosen], rows.anchors[:, chosen])
    before = np.ascontiguousarray(
        np.einsum("dxk,xk->kd", directions, -rows.friction_multipliers[:, chosen])
    )
    before[:, 0] = rows.normal_multipliers[chosen]
    impulses = before.copy()
    responses = _responses(positions, rows, chosen, directions, ropes)
    np.einsum("kdkd->kd", responses)[...] += CONTACT_REGULARIZATION * rows.mobilities[chosen, None]
    solve_contact_system(
        responses, separations, rows.targets[chosen], rows.friction[chosen], impulses
    )
    rows.normal_multipliers[chosen] = impulses[:, 0]
    rows.friction_multipliers[:, chosen] = -np.einsum("dxk,kd->xk", directions[1:], impulses[:, 1:])
    changes = np.einsum("dxk,kd->xk", directions, impulses - before)
    moved = np.zeros_like(positions)
    for corner in range(4):
        pulls = rows.impulse_responses[corner, chosen] * changes
        for axis in range(3):
            np.add.at(moved[axis], particles[corner], pulls[axis])
    for span, trees in ropes:
        displacements = np.ascontiguousarray(moved[None, :, span])
        if not displacements.any():
            continue
        remove_stretching(displacements, np.ascontiguousarray(positions[:, span]), trees)
        moved[:, span] = displacements[0]
    positions += moved


def _directions(normals: Floats) -> Floats:
    """(3, 3, k) the normal and two tangents of each contact, components in the middle."""
    # The axis of the normal's smallest component is far from parallel to it.
    axis = np.eye(3)[np.abs(normals).argmin(axis=0)].T
    first = np.cross(normals, axis, axis=0)
    first /= np.sqrt(np.einsum("xk,xk->k", first, first))
    return np.stack([normals, first, np.cross(normals, first, axis=0)])


def _responses(
    positions: Floats,
    rows: ContactRows,
    chosen: Integers,
    directions: Floats,
    ropes: Sequence[RopeSlice],
) -> Floats:
    """(k, 3, k, 3) displacement by a unit impulse at each contact, at every contact [1/kg]."""
    particles, weights = rows.particles[:, chosen], rows.weights[:, chosen]
    pulls, count = rows.impulse_responses[:, chosen], len(chosen)
    responses = np.zeros((count, 3, count, 3))
    in_rope = np.zeros(positions.shape[1], dtype=bool)
    for span, trees in ropes:
        in_rope[span] = True
        within = (particles >= span.start) & (particles < span.stop)
        rows_here = np.flatnonzero((within & (pulls != 0.0)).any(axis=0))
        if not len(rows_here):
            continue
        own = np.where(within[:, rows_here], particles[:, rows_here] - span.start, 0)
        fields = np.zeros((len(rows_here), 3, 3, span.stop - span.start))
        for corner in range(4):
            pull = np.where(within[corner, rows_here], pulls[corner, rows_here], 0.0)
            each = (pull * directions[:, :, rows_here]).transpose(2, 0, 1)
            fields[np.arange(len(rows_here)), :, :, own[corner]] += each
        flat = fields.reshape(-1, *fields.shape[2:])
        tension = [each.batch.multipliers.copy() for each in trees.generations]
        remove_stretching(flat, np.ascontiguousarray(positions[:, span]), trees)
        for each, kept in zip(trees.generations, tension, strict=True):
            each.batch.multipliers[...] = kept
        shares = np.where(within[:, rows_here], weights[:, rows_here], 0.0)
        responses_here = gather_responses(flat, own, shares, directions[:, :, rows_here])
        entries = (3 * rows_here[:, None] + np.arange(3)).ravel()
        responses.reshape(3 * count, -1)[entries[:, None], entries] += responses_here.reshape(
            len(entries), -1
        )
    free_pulls = np.where(in_rope[particles], 0.0, pulls)
    _add_free_responses(responses, particles, weights, free_pulls, directions)
    return responses


def _add_free_responses(
    responses: Floats, particles: Integers, weights: Floats, pulls: Floats, directions: Floats
) -> None:
    """Adds the responses of particles outside of ropes to the contacts that contain them."""
    shared = np.zeros((particles.shape[1],) * 2)
    for one in range(4):
        moving = np.flatnonzero(pulls[one])
        for other in range(4) if len(moving) else ():
            same = particles[one, moving, None] == particles[other]
            shared[moving] += np.where(same, pulls[one, moving, None] * weights[other], 0.0)
    first, second = np.nonzero(shared)
    here, there = directions[:, None, :, first], directions[None, :, :, second]
    each = shared[first, second] * here * there
    responses[first, :, second] += (each[:, :, 0] + each[:, :, 1] + each[:, :, 2]).transpose(
        2, 0, 1
    )
