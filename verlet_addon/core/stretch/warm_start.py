"""Strips that cross each other, put together so that their tension is solved for at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Booleans, Floats, Integers
from .strips import StripBatch

STIFFEST = 1e6
"""Links are never stiffer than this h² T/(l m): next to crushed ones, masses would not count."""


@dataclass(frozen=True, eq=False)
class StripNet:
    """All strips of some batches as one path of k entries, a gap after each strip."""

    batches: Sequence[StripBatch]
    """Where tension is read from, and written to."""
    path: Integers
    """(k,)"""
    labels: Integers
    """(k,) number of the strip that each entry belongs to."""
    bearing: Floats
    """(k − 1,) 1 where tension is remembered, 0 elsewhere and in gaps."""
    loose: Booleans
    """(k − 1,) whether both ends of a link can move."""
    lightness: Floats
    """(k − 1,) the larger inverse mass of each link's ends [1/kg]."""
    stiffest: Floats
    """(k − 1,) the most that h² T/l may be."""
    masses: Floats
    """(n,) [kg]; 1 for pinned particles."""
    pinned: Integers
    """(p,) particles that cannot move."""
    rounds: int
    """Rounds of cyclic reduction that part every entry from the next."""
    along: Floats
    """(3, k − 1) vectors along the path; a place for the kernel to work in [m]. Arrays so large,
    made anew in every step, would be handed back to the system and fetched again each time."""
    displacement: Floats
    """(3, n) what the tension did in the step before, to start from; changed by the kernel [m]."""


def make_net(batches: Sequence[StripBatch], inverse_masses: Floats, loaded: Booleans) -> StripNet:
    """Puts batches together for particles of these inverse masses (n,), `loaded` (n,) or not."""
    n = len(inverse_masses)
    path = _joined([batch.path for batch in batches])
    counts = [int(batch.labels[-1]) + 1 for batch in batches]
    firsts = np.cumsum([0, *counts])
    labels = _joined([batch.labels + first for batch, first in zip(batches, firsts, strict=False)])
    tails, heads = path[:-1], path[1:]
    linked = labels[1:] == labels[:-1]
    lightness = np.maximum(inverse_masses[tails], inverse_masses[heads])
    free = inverse_masses > 0.0
    return StripNet(
        batches=batches,
        path=path,
        labels=labels,
        bearing=(linked & (lightness > 0.0) & loaded[tails] & loaded[heads]).astype(np.float64),
        loose=free[tails] & free[heads],
        lightness=lightness,
        stiffest=STIFFEST / np.where(lightness > 0.0, lightness, np.inf),
        masses=1.0 / np.where(free, inverse_masses, 1.0),
        pinned=np.flatnonzero(~free),
        rounds=max((batch.rounds + 1 for batch in batches), default=0),
        along=np.empty((3, len(linked))),
        displacement=np.zeros((3, n)),
    )


def _joined(parts: Sequence[Integers]) -> Integers:
    """All parts, one after the other; none of them may be missing."""
    return np.concatenate([np.empty(0, dtype=np.int64), *parts])
