"""Contacts alone, after they were solved with lengths in turn: how far each of both gives way."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..arrays import NONZERO, Floats, magnitudes
from ..contact.compiled_kernels import project_rows
from ..contact.response import ContactRows
from ..detection.surfaces import Surfaces
from ..ropes.trees import TreeBatches
from .encounter import Encounter, gather, hand_back
from .settling import settle_in_turn

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
    gather(encounter.touched, bodies, positions)
    own = list(encounter.touched.values())
    settled = [positions[:, places].copy() for places in own]
    settle_in_turn(encounter, bodies, trees, most=HOLDS)
    # What comes out of something has to, whatever that takes.
    led_out = meeting.being_led_out
    if any(led_out[places].any() for places in own):
        return
    for places, before in zip(own, settled, strict=True):
        moved = positions[:, places] - before
        far, allowed = magnitudes(moved), STRETCHED * meeting.shortest[places]
        positions[:, places] = before + moved * np.minimum(1.0, allowed / np.maximum(far, NONZERO))
    _push_farther(rows, positions, meeting.surfaces)
    hand_back(encounter.touched, bodies, positions)


def _push_farther(rows: ContactRows, positions: Floats, surfaces: Surfaces) -> None:
    """Pushes what is still much too near."""
    first, second = surfaces.owners[rows.particles[[0, 3]]]
    least = rows.targets - SHORT * surfaces.gaps[first, second]
    for _ in range(HOLDS):
        near = (rows.heights(positions) < least) & ~rows.strung
        if not near.any():
            break
        nearest = replace(
            rows,
            targets=np.where(near, least, -np.inf),
            pushed=np.zeros_like(rows.pushed),
            rubbed=np.zeros_like(rows.rubbed),
        )
        project_rows(positions, nearest)
        rows.pushed[:] += nearest.pushed
        rows.rubbed[:] += nearest.rubbed
