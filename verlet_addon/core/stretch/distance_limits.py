"""One-sided distance constraints: pairs at most their rest length apart, by colour."""

from dataclasses import dataclass
from itertools import pairwise

from ..arrays import Floats, Integers, inverse
from ..coloring import color_constraints


@dataclass(frozen=True, eq=False)
class DistanceLimitBatch:
    """The pairs of one colour."""

    particles: Integers
    """(2c,) all first ends, then all second ends."""
    rest_lengths: Floats
    """(c,) [m]"""
    first_masses: Floats
    """(c,) inverse masses of the first ends [1/kg]."""
    second_masses: Floats
    """(c,) inverse masses of the second ends [1/kg]."""
    gains: Floats
    """(c,) 1 / sum of inverse masses [kg]; 0 where nothing can move."""


def distance_limit_batches(
    pairs: Integers, rest_lengths: Floats, inverse_masses: Floats
) -> list[DistanceLimitBatch]:
    """Batches of pairs (m, 2) at most (m,) apart [m], for inverse masses (n,)."""
    order, starts = color_constraints(pairs)
    pairs, rest_lengths = pairs[order], rest_lengths[order]
    masses = inverse_masses[pairs]
    batches = []
    for start, stop in pairwise(starts):
        particles = pairs[start:stop].T.ravel()
        first_masses, second_masses = masses[start:stop].T
        mobility = first_masses + second_masses
        batches.append(
            DistanceLimitBatch(
                particles=particles,
                rest_lengths=rest_lengths[start:stop],
                first_masses=first_masses,
                second_masses=second_masses,
                gains=inverse(mobility, mobility),
            )
        )
    return batches
