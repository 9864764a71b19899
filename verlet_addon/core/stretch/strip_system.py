"""Crossing strips combined into one system, whose tension is solved for at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Booleans, Floats, Integers, longest_run, run_ends
from .strip_paths import Strips

SEARCH_DIRECTIONS = 2
"""Number of search directions for a displacement. It is fixed: a stopping criterion on the residual
would depend on rounding, and results would differ in bits. With 1 a skirt is stretched twice as
much and a dress takes a third longer; 3 brings no gain."""


@dataclass(frozen=True, eq=False)
class StripSystem:
    """Strips as one path of k entries, a gap after each."""

    multipliers: Floats
    """(k − 1,) multipliers read and written; the batches hold views of them."""
    path: Integers
    """(k,)"""
    labels: Integers
    """(k,) strip number of each entry."""
    warm_started: Booleans
    """(k − 1,) bool, links that keep their tension and have an end that can move."""
    both_free: Booleans
    """(k − 1,) whether both ends of a link can move."""
    max_inverse_masses: Floats
    """(k − 1,) the larger inverse mass of each link's ends [1/kg]."""
    masses: Floats
    """(n,) [kg]; 1 for pinned particles."""
    pinned: Integers
    """(p,) particles that cannot move."""
    displacement: Floats
    """(3, n) displacement by the tension in the step before, the first search direction; changed by
    the kernel [m]."""
    gas_forces: Floats
    """(3, n) h² times the forces of gas, which tension balances [kg m]."""

    @cached_property
    def reduction_rounds(self) -> int:
        """Rounds of cyclic reduction needed to decouple all entries."""
        return longest_run(run_ends(self.labels)).bit_length()

    @cached_property
    def vectors(self) -> Floats:
        """(3, k − 1) workspace of NumPy: vectors along the path [m].

        Kept between steps, because allocating arrays this large in every step is slow.
        """
        return np.empty((3, max(len(self.path) - 1, 0)))


def make_strip_system(
    parts: Sequence[Strips], multipliers: Floats, inverse_masses: Floats, warm_started: Booleans
) -> StripSystem:
    """Combines strips for inverse masses (n,), with (n,) bool `warm_started` particles."""
    path = np.concatenate([strips.path for strips in parts])
    linked = np.concatenate([strips.linked for strips in parts])[:-1]
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
        displacement=np.zeros((3, len(inverse_masses))),
        gas_forces=np.zeros((3, len(inverse_masses))),
    )
