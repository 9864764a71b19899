"""Contacts alone, after they were solved with lengths in turn: how far each of both gives way."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .arrays import Floats
from .contact.kernels import project_rows
from .contact.response import ContactRows
from .meeting import Encounter, gather, hand_back, touch
from .ropes.trees import TreeBatches

HOLDS = 4
"""How often contacts are solved alone at last…"""
STRETCHED = 2.5e-3
"""…by which particles may move this share of their shortest edge, or friction would not hold for
good. With no limit a sheet of 10,201 vertices that falls over a ball is stretched by 18 %."""
SHORT = 0.4
"""Contacts may be left short by this share of their gap…"""
LEFT, RECOVERED = 0.05, 0.03
"""…but what began a step short by more than the first share, the step makes good by the second: a
ball that is pressed between plates would stay too near to them for good."""


def keep_apart(
    encounter: Encounter, bodies: Sequence[Floats], trees: Sequence[TreeBatches]
) -> None:
    """Pushes bodies (3, n), with such ropes, apart as far as that hardly stretches their edges.

    Only what is still much too near is pushed farther.
    """
    meeting, rows, positions = encounter.meeting, encounter.rows, encounter.positions
    gather(encounter, bodies, positions)
    settled = positions.copy()
    for _ in range(HOLDS):
        if not touch(encounter, bodies, trees):
            break
    if meeting.surfaces.leaving.any():  # what comes out of something has to, whatever that takes
        return
    moved = positions - settled
    far = np.sqrt(np.einsum("xn,xn->n", moved, moved))
    allowed = STRETCHED * meeting.shortest
    positions[...] = settled + moved * np.minimum(1.0, allowed / np.maximum(far, 1e-300))
    least = _least(rows)
    for _ in range(HOLDS):
        near = np.flatnonzero((rows.heights(positions) < least) & ~rows.strung)
        if not len(near):
            break
        nearest = replace(rows.chosen(near), targets=least[near])
        project_rows(positions, nearest)
        rows.pushed[near] += nearest.pushed
        rows.rubbed[:, near] += nearest.rubbed
    hand_back(encounter, bodies, positions)


def _least(rows: ContactRows) -> Floats:
    """(k,) how far apart rows are put, whatever that stretches [m]."""
    began = (rows.normals * rows.anchors).sum(axis=0)
    short = rows.targets - began
    made_good = np.where(short > LEFT * rows.gaps, began + RECOVERED * short, -np.inf)
    return np.maximum(rows.targets - SHORT * rows.gaps, made_good)
