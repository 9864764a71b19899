"""Contact rows on rigid pieces, which answer impulses as wholes."""

from dataclasses import replace

import numpy as np

from ...arrays import Booleans, Floats, Integers, apply_matrices, cross, dot, sum_rows
from ...coloring import sequential_batches
from ...kernel import Sized, kernel
from ...rigid.responses import PieceResponses
from .contact_rows import ContactRows, add_impulses, solve_rows, sum_weighted

LEAST_MOBILITY = 1e-6
"""Rounding: rows that hardly yield, as those within one piece, are skipped below this share of the
mobility of their particles."""


@kernel()
def project_rows_of_pieces(positions: Sized, rows: ContactRows, responses: PieceResponses) -> None:
    """The same as `project_rows`, where rigid pieces answer impulses as wholes.

    Their particles stay where they are: motions of and impulses on pieces are summed up, for
    `finish_responses`. Rows within one piece are skipped.
    """
    pieces = responses.pieces[rows.particles]
    members = np.where(pieces >= 0, positions.shape[1] + pieces, rows.particles)
    for together in sequential_batches(members, (pieces >= 0) | (rows.impulse_responses != 0.0)):
        own = rows.chosen(together)
        mobilities, slips = _mobilities(own, _find_pieces(own, responses), responses)
        free = ~own.on_ropes & (mobilities > LEAST_MOBILITY * own.mobilities)
        batch, mobilities, slips = together[free], mobilities[free], slips[free]
        own = rows.chosen(batch)
        owners, weights, arms = whole = _find_pieces(own, responses)
        apart = sum_weighted(positions, own.particles, own.weights)
        for corner in range(4):
            motions = responses.motions[owners[corner]].T
            turned = cross(motions[3:], arms[:, corner])
            apart += weights[corner] * motions[:3] + turned
        impulses = solve_rows(rows, batch, own, apart, mobilities, slips)
        on_pieces = responses.pieces[own.particles] >= 0
        loose = np.where(on_pieces, 0.0, own.impulse_responses)
        add_impulses(positions, replace(own, impulse_responses=loose), impulses)
        _push_pieces(responses, whole, impulses)


def _find_pieces(rows: ContactRows, responses: PieceResponses) -> tuple[Integers, Floats, Floats]:
    """(4, k) pieces at corners of rows, sums of their weights (4, k) and weighted arms (3, 4, k).

    The first corner of each piece has its sums, and other corners none.
    """
    pieces = responses.pieces[rows.particles]
    weights, arms = np.zeros(pieces.shape), np.zeros((3, *pieces.shape))
    for corner, own in enumerate(pieces):
        left: Booleans = own >= 0
        for first in range(corner + 1):
            here = left & (pieces[first] == own)
            weighted = np.where(here, rows.weights[corner], 0.0)
            weights[first] += weighted
            arms[:, first] += weighted * responses.arms[:, rows.particles[corner]]
            left &= ~here
    return pieces, weights, arms


def _mobilities(
    rows: ContactRows, whole: tuple[Integers, Floats, Floats], responses: PieceResponses
) -> tuple[Floats, Floats]:
    """(k,) mobilities of rows along their normals, and the largest ones across these [1/kg]."""
    pieces, weights, arms = whole
    matrices = np.zeros((3, 3, pieces.shape[1]))
    diagonal = range(3), range(3)
    for own, weight, response in zip(pieces, rows.weights, rows.impulse_responses, strict=True):
        matrices[diagonal] += np.where(own >= 0, 0.0, weight * response)
    for corner, own in enumerate(pieces):
        arm, inertias = arms[:, corner], responses.inverse_inertias[own]
        matrices[diagonal] += weights[corner] * weights[corner] * responses.inverse_masses[own]
        for axis, unit in enumerate(np.eye(3)):
            moment = cross(arm, np.broadcast_to(unit[:, None], arm.shape))
            matrices[:, axis] += cross(apply_matrices(inertias, moment), arm)
    along = dot(rows.normals, np.array([dot(row, rows.normals) for row in matrices]))
    half = 0.5 * (matrices[0, 0] + matrices[1, 1] + matrices[2, 2] - along)
    minors = [cross(matrices[(x + 1) % 3], matrices[(x + 2) % 3]) for x in range(3)]
    product = dot(rows.normals, np.array([dot(row, rows.normals) for row in minors]))
    across = half + np.sqrt(np.maximum(half * half - product, 0.0))
    none = (pieces < 0).all(axis=0)
    return np.where(none, rows.mobilities, along), np.where(none, rows.mobilities, across)


def _push_pieces(
    responses: PieceResponses, whole: tuple[Integers, Floats, Floats], impulses: Floats
) -> None:
    """Adds impulses (3, k) of a batch of rows to pieces."""
    for pieces, weights, arms in zip(*whole[:2], whole[2].swapaxes(0, 1), strict=True):
        push, moment = weights * impulses, cross(arms, impulses)
        turn = apply_matrices(responses.inverse_inertias[pieces], moment)
        moved = np.concatenate([push * responses.inverse_masses[pieces], turn])
        count, some = len(responses.motions), pieces >= 0
        both = np.concatenate([moved, push, moment])[:, some]
        sums = sum_rows(pieces[some], both, count)
        responses.motions[:] += sums[:6].T
        responses.wrenches[:] += sums[6:].T
