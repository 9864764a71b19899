"""Contacts alone, after they were solved with lengths in turn: how far each of both gives way."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .arrays import Floats
from .contact.compiled_kernels import project_rows
from .meeting import Encounter, gather, hand_back, touch
from .ropes.trees import TreeBatches

HOLDS = 4
"""How often contacts are solved alone at last…"""
STRETCHED = 6e-3
"""…by which particles may move this share of their shortest edge. With no limit a sheet of 10,201
vertices that falls over a ball is stretched by 12 %; with half of it a ball that is pressed between
plates stays too near to them."""
SHORT = 0.4
"""Contacts may be left short by this share of what their owners keep, and no more: what lies nearer
at rest is mostly held by short edges, which farther pushes would stretch."""


def keep_apart(
    encounter: Encounter, bodies: Sequence[Floats], trees: Sequence[TreeBatches]
) -> None:
    """Pushes bodies (3, n), with such ropes, apart as far as that hardly stretches their edges.

    Only what is still much too near is pushed farther.
    """
    meeting, rows, positions = encounter.meeting, encounter.rows, encounter.positions
    starts = meeting.surfaces.starts
    own = np.concatenate([np.arange(starts[b], starts[b + 1]) for b in encounter.touched])
    gather(encounter, bodies, positions)
    settled = positions[:, own]
    for _ in range(HOLDS):
        if not touch(encounter, bodies, trees):
            break
    # What comes out of something has to, whatever that takes.
    if meeting.surfaces.leaving[own].any():
        return
    moved = positions[:, own] - settled
    far = np.sqrt(np.einsum("xn,xn->n", moved, moved))
    allowed = STRETCHED * meeting.shortest[own]
    positions[:, own] = settled + moved * np.minimum(1.0, allowed / np.maximum(far, 1e-300))
    owners = meeting.surfaces.owners[rows.particles[[0, 3]]]
    least = rows.targets - SHORT * meeting.surfaces.gaps[tuple(owners)]
    for _ in range(HOLDS):
        near = np.flatnonzero((rows.heights(positions) < least) & ~rows.strung)
        if not len(near):
            break
        nearest = replace(rows.chosen(near), targets=least[near])
        project_rows(positions, nearest)
        rows.pushed[near] += nearest.pushed
        rows.rubbed[:, near] += nearest.rubbed
    hand_back(encounter, bodies, positions)
