"""Strips that cross each other, put together so that their tension is solved for at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Booleans, Floats, Integers
from .strip_paths import Strips

SEARCH_DIRECTIONS = 2
"""Directions searched in for a displacement. The count is fixed: if a residual decided when to
stop, rounding could, and results would differ in bits. With 1 a skirt is stretched twice as much
and a dress takes a third longer; with 3 nothing gets better."""


@dataclass(frozen=True, eq=False)
class StripSystem:
    """Strips as one path of k entries, a gap after each."""

    multipliers: Floats
    """(k − 1,) where tension is read from, and written to; those of the batches are parts of it."""
    path: Integers
    """(k,)"""
    labels: Integers
    """(k,) number of the strip that each entry belongs to."""
    warm_started: Booleans
    """(k − 1,) where tension is remembered: in links, of which an end can move."""
    both_free: Booleans
    """(k − 1,) whether both ends of a link can move."""
    max_inverse_masses: Floats
    """(k − 1,) the larger inverse mass of each link's ends [1/kg]."""
    masses: Floats
    """(n,) [kg]; 1 for pinned particles."""
    pinned: Integers
    """(p,) particles that cannot move."""
    reduction_rounds: int
    """Rounds of cyclic reduction that part every entry from the next."""
    vectors: Floats
    """(3, k − 1) vectors along the path; a place for the kernel to work in [m]. Arrays so large,
    made anew in every step, would be handed back to the system and fetched again each time."""
    displacement: Floats
    """(3, n) what the tension did in the step before, to start from; changed by the kernel [m]."""
    gas_forces: Floats
    """(3, n) h² times the forces of gas, which tension balances [kg m]."""


def make_strip_system(
    parts: Sequence[Strips], multipliers: Floats, inverse_masses: Floats, warm_started: Booleans
) -> StripSystem:
    """Puts strips together for particles of these inverse masses (n,), `warm_started` (n,) or not."""
    path = np.concatenate([strips.path for strips in parts])
    linked = np.concatenate([strips.linked for strips in parts])[:-1]
    longest = np.concatenate([strips.longest_paths for strips in parts]).max(initial=0)
    tails, heads = path[:-1], path[1:]
    max_inverse_masses = np.maximum(inverse_masses[tails], inverse_masses[heads])
    free = inverse_masses > 0.0
    return StripSystem(
        multipliers=multipliers[:-1],
        path=path,
        labels=np.cumsum(np.append(False, ~linked))[: len(path)],
        warm_started=linked
        & (max_inverse_masses > 0.0)
        & warm_started[tails]
        & warm_started[heads],
        both_free=free[tails] & free[heads],
        max_inverse_masses=max_inverse_masses,
        masses=1.0 / np.where(free, inverse_masses, 1.0),
        pinned=np.flatnonzero(~free),
        reduction_rounds=int(longest).bit_length() + 1,
        vectors=np.empty((3, len(linked))),
        displacement=np.zeros((3, len(inverse_masses))),
        gas_forces=np.zeros((3, len(inverse_masses))),
    )
