"""Ropes that touch: contacts and lengths are solved as one, for ropes give way as a whole.

A push at one place of a rope that cannot stretch moves all of it. Pushing and drawing it back to
its lengths in turn hardly gets anywhere. So contacts are solved by what ropes answer while they
keep their lengths: on the Schur complement of their system, B (M⁻¹ − M⁻¹ Jᵀ (J M⁻¹ Jᵀ + α̃)⁻¹ J
M⁻¹) Bᵀ, in which B is the contacts' normals and two directions of friction across.
"""

from collections.abc import Sequence

import numpy as np

from ..arrays import Floats, Integers
from ..contact.response import ContactRows
from .compiled_kernels import hold_lengths
from .compiled_touching import gather_answers, solve_coupled
from .trees import TreeBatches

MOST_ROWS = 400
"""So many contacts are solved as one, by a matrix of three rows for each; more, group by group."""
YIELDING = 0.3
"""Each of them is taken to give way by this share more than a loose particle would. Where lengths
hold it fast, or what rubs only presses harder, no push would do, and the largest would fling a rope
away; other contacts are solved to the last within a few rounds all the same."""

Rope = tuple[slice, TreeBatches]
"""Where the particles of a body are among those of all, and what keeps the lengths of its ropes."""


def push_ropes(positions: Floats, rows: ContactRows, ropes: Sequence[Rope]) -> None:
    """Pushes ropes out of what they touch, and rubs, while they keep their lengths.

    Parameters
    ----------
    positions : (3, N) of all bodies and colliders [m].
    rows : of which those are solved that ropes take part in.
    """
    touching = (rows.heights(positions) < rows.targets) | (rows.pushed > 0.0)
    chosen = np.flatnonzero(rows.strung & touching)
    for group in np.array_split(chosen, range(MOST_ROWS, len(chosen), MOST_ROWS)):
        if len(group):
            _push(positions, rows, group, ropes)


def _push(positions: Floats, rows: ContactRows, chosen: Integers, ropes: Sequence[Rope]) -> None:
    """Solves a group of contacts, and moves what takes part."""
    directions = _directions(rows.normals[:, chosen])
    particles, weights = rows.particles[:, chosen], rows.weights[:, chosen]
    offsets = np.einsum("pk,xpk->xk", weights, positions[:, particles])
    offsets -= rows.anchors[:, chosen]
    apart = np.ascontiguousarray(np.einsum("dxk,xk->kd", directions, offsets))
    apart[:, 0] += np.einsum("xk,xk->k", rows.normals[:, chosen], rows.anchors[:, chosen])
    before = np.ascontiguousarray(np.einsum("dxk,xk->kd", directions, -rows.rubbed[:, chosen]))
    before[:, 0] = rows.pushed[chosen]
    impulses = before.copy()
    answers = _answers(positions, rows, chosen, directions, ropes)
    np.einsum("kdkd->kd", answers)[...] += YIELDING * rows.mobilities[chosen, None]
    solve_coupled(answers, apart, rows.targets[chosen], rows.friction[chosen], impulses)
    rows.pushed[chosen] = impulses[:, 0]
    rows.rubbed[:, chosen] = -np.einsum("dxk,kd->xk", directions[1:], impulses[:, 1:])
    changes = np.einsum("dxk,kd->xk", directions, impulses - before)
    moved = np.zeros_like(positions)
    for corner in range(4):
        pulls = rows.pulls[corner, chosen] * changes
        for axis in range(3):
            np.add.at(moved[axis], particles[corner], pulls[axis])
    for span, trees in ropes:
        mine = np.ascontiguousarray(moved[None, :, span])
        if not mine.any():
            continue
        hold_lengths(mine, np.ascontiguousarray(positions[:, span]), trees)
        moved[:, span] = mine[0]
    positions += moved


def _directions(normals: Floats) -> Floats:
    """(3, 3, k) for each contact its normal and two directions across, with components (3, k)."""
    # The axis that the normal leans to least is far from parallel to it.
    axis = np.eye(3)[np.abs(normals).argmin(axis=0)].T
    first = np.cross(normals, axis, axis=0)
    first /= np.sqrt(np.einsum("xk,xk->k", first, first))
    return np.stack([normals, first, np.cross(normals, first, axis=0)])


def _answers(
    positions: Floats,
    rows: ContactRows,
    chosen: Integers,
    directions: Floats,
    ropes: Sequence[Rope],
) -> Floats:
    """(k, 3, k, 3) how far a unit impulse at one contact, and direction, moves every other."""
    particles, weights = rows.particles[:, chosen], rows.weights[:, chosen]
    pulls, count = rows.pulls[:, chosen], len(chosen)
    answers = np.zeros((count, 3, count, 3))
    in_rope = np.zeros(positions.shape[1], dtype=bool)
    for span, trees in ropes:
        in_rope[span] = True
        within = (particles >= span.start) & (particles < span.stop)
        mine = np.flatnonzero((within & (pulls != 0.0)).any(axis=0))
        if not len(mine):
            continue
        own = np.where(within[:, mine], particles[:, mine] - span.start, 0)
        fields = np.zeros((len(mine), 3, 3, span.stop - span.start))
        for corner in range(4):
            pull = np.where(within[corner, mine], pulls[corner, mine], 0.0)
            each = (pull * directions[:, :, mine]).transpose(2, 0, 1)
            fields[np.arange(len(mine)), :, :, own[corner]] += each
        flat = fields.reshape(-1, *fields.shape[2:])
        tension = [each.batch.multipliers.copy() for each in trees.generations]
        hold_lengths(flat, np.ascontiguousarray(positions[:, span]), trees)
        for each, kept in zip(trees.generations, tension, strict=True):
            each.batch.multipliers[...] = kept
        shares = np.where(within[:, mine], weights[:, mine], 0.0)
        found = gather_answers(flat, own, shares, directions[:, :, mine])
        its = (3 * mine[:, None] + np.arange(3)).ravel()
        answers.reshape(3 * count, -1)[its[:, None], its] += found.reshape(len(its), -1)
    elsewhere = np.where(in_rope[particles], 0.0, pulls)
    _add_answers_elsewhere(answers, particles, weights, elsewhere, directions)
    return answers


def _add_answers_elsewhere(
    answers: Floats, particles: Integers, weights: Floats, pulls: Floats, directions: Floats
) -> None:
    """Adds the same of particles that are moved by themselves, where contacts share any."""
    shared = np.zeros((particles.shape[1],) * 2)
    for one in range(4):
        moving = np.flatnonzero(pulls[one])
        for other in range(4) if len(moving) else ():
            same = particles[one, moving, None] == particles[other]
            shared[moving] += np.where(same, pulls[one, moving, None] * weights[other], 0.0)
    first, second = np.nonzero(shared)
    here, there = directions[:, None, :, first], directions[None, :, :, second]
    each = shared[first, second] * here * there
    answers[first, :, second] += (each[:, :, 0] + each[:, :, 1] + each[:, :, 2]).transpose(2, 0, 1)
