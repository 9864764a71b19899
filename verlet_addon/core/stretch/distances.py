"""Pairs of particles that must not be further apart than at rest, sorted by colour."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers, inverse
from ..coloring import Copies, color_constraints, count_copies, find_hubs, gather_copies


@dataclass(frozen=True, eq=False)
class Distances:
    """Pairs of particles that must not be further apart than at rest."""

    pairs: Integers
    """(m, 2) sorted by colour."""
    starts: Integers
    """(colours + 1,) where each colour begins."""
    rest_lengths: Floats
    """(m,) [m]."""
    compliances: Floats
    """(m,) elongation per force [m/N]; 0 = rigid."""


@dataclass(frozen=True, eq=False)
class DistanceBatch:
    """The distances of one colour, ready for one h²."""

    particles: Integers
    """(2c,) all first ends, then all second ends."""
    rest_lengths: Floats
    first_masses: Floats
    """(c,) inverse masses of the first ends; those of hubs are shared out over their copies."""
    second_masses: Floats
    """(c,) inverse masses of the second ends."""
    scaled_compliances: Floats
    """(c,) compliance / h²."""
    gains: Floats
    """(c,) 1 / (sum of inverse masses + scaled compliance); 0 where nothing can move."""
    multipliers: Floats
    """(c,) XPBD's multipliers; changed by the kernels, zeroed every substep."""
    copies: Copies | None
    """Of hubs among the particles."""


def build_distances(
    pairs: Integers, rest_lengths: Floats, compliances: Floats, particle_count: int
) -> Distances:
    """Sorts distances by colour."""
    order, starts = color_constraints(pairs, find_hubs(pairs, particle_count))
    return Distances(pairs[order], starts, rest_lengths[order], compliances[order])


def distance_batches(
    distances: Distances, inverse_masses: Floats, h_squared: float
) -> list[DistanceBatch]:
    """One batch per colour for one h² [s²]."""
    batches = []
    copies = count_copies(distances.pairs, distances.starts)
    for start, stop in zip(distances.starts[:-1], distances.starts[1:], strict=True):
        first, second = distances.pairs[start:stop].T
        scaled = distances.compliances[start:stop] / h_squared
        masses = inverse_masses[distances.pairs[start:stop]] * copies[start:stop]
        first_masses, second_masses = masses.T
        mobility = first_masses + second_masses
        particles = np.concatenate([first, second])
        often = copies[start:stop].T.ravel()
        batches.append(
            DistanceBatch(
                particles=particles,
                rest_lengths=distances.rest_lengths[start:stop],
                first_masses=first_masses,
                second_masses=second_masses,
                scaled_compliances=scaled,
                gains=inverse(mobility + scaled, mobility),
                multipliers=np.zeros(stop - start),
                copies=gather_copies(particles, often, masses.T.ravel()),
            )
        )
    return batches
