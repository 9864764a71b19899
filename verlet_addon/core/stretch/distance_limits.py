"""One-sided distance constraints: pairs at most their rest length apart, by colour."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ..arrays import Floats, Integers, inverse, with_added_masses
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


def heavier_limit_batches(
    batches: Sequence[DistanceLimitBatch], added: Floats
) -> list[DistanceLimitBatch]:
    """The batches of particles that weigh more, by so much each, (n,) [kg]."""
    return [_heavier_batch(batch, *np.split(added[batch.particles], 2)) for batch in batches]


def _heavier_batch(batch: DistanceLimitBatch, first: Floats, second: Floats) -> DistanceLimitBatch:
    """The batch with masses added to the ends of its pairs, (c,) each [kg]."""
    first_masses = with_added_masses(batch.first_masses, first)
    second_masses = with_added_masses(batch.second_masses, second)
    mobility = first_masses + second_masses
    return replace(
        batch,
        first_masses=first_masses,
        second_masses=second_masses,
        gains=inverse(mobility, mobility),
    )
