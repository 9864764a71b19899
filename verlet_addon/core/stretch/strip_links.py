"""Links of all strips in one array, for strain limiting of single edges."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers, inverse, magnitudes, ranges, unique_in_order
from .strip_batches import MIN_LENGTH_SHARE
from .strip_paths import Strips

STRAIN_TOLERANCE = 4e-3
"""Strain up to which edges are left as they are; the 99th percentile then stays under 0.5 % on real
meshes."""
STRAIN_ACCELERATION_TOLERANCE = 300.0
"""In short steps the tolerance is this times h² [1/s²]: the remaining strain acts as a force there,
and would make the cloth jitter."""


@dataclass(frozen=True, eq=False)
class StripLinks:
    """Links and gaps of strips, along their path."""

    multipliers: Floats
    """(k,) multipliers of all links; the batches hold views of them."""
    first: Integers
    """(k,) first particle of each link."""
    second: Integers
    """(k,) second particle of each link."""
    inverse_masses: Floats
    """(2, k) inverse masses of both particles [1/kg]."""
    rest_lengths: Floats
    """(k,) ∞ in gaps, and where nothing can move [m]."""
    min_lengths: Floats
    """(k,) least lengths in compression [m]; 0 in gaps, and where nothing can move."""
    scaled_compliances: Floats
    """(k,) compliance / h² [1/kg]."""
    gains: Floats
    """(k,) 1 / (sum of inverse masses + scaled compliance) [kg]; 0 where nothing can move."""
    order: Integers
    """(2k,) links sorted by particle, first by their beginnings and then by their ends."""
    starts: Integers
    """(n + 1,) start of the links of each particle in `order`."""
    tolerance: float
    """Strain up to which links are left as they are."""

    def at(self, particles: Integers) -> Integers:
        """The links at some particles, each once, ordered by the first particle that has it."""
        starts = self.starts[particles]
        return unique_in_order(self.order[ranges(starts, self.starts[particles + 1] - starts)])


def make_strip_links(
    strips: Strips, multipliers: Floats, inverse_masses: Floats, h_squared: float
) -> StripLinks:
    """The links of strips for one h² [s²] and inverse masses (n,)."""
    first, second = strips.path[:-1], strips.path[1:]
    masses = np.stack([inverse_masses[first], inverse_masses[second]])
    mobility = masses.sum(axis=0)
    movable = strips.linked[:-1] & (mobility > 0.0)
    scaled = strips.compliances[:-1] / h_squared
    ends = np.concatenate([first, second])
    order = np.argsort(ends, kind="stable")
    return StripLinks(
        multipliers=multipliers[:-1],
        first=first,
        second=second,
        inverse_masses=masses,
        rest_lengths=np.where(movable, strips.rest_lengths[:-1], np.inf),
        min_lengths=np.where(movable, MIN_LENGTH_SHARE * strips.rest_lengths[:-1], 0.0),
        scaled_compliances=scaled,
        gains=inverse(mobility + scaled, mobility),
        order=order % max(len(first), 1),
        starts=np.searchsorted(ends[order], np.arange(len(inverse_masses) + 1)),
        tolerance=min(STRAIN_TOLERANCE, STRAIN_ACCELERATION_TOLERANCE * h_squared),
    )


def find_stretched_particles(positions: Floats, links: StripLinks, strain: float) -> Integers:
    """The particles of links stretched by this share beyond their elastic length."""
    lengths = magnitudes(positions[:, links.second] - positions[:, links.first])
    excess = lengths - links.rest_lengths + links.scaled_compliances * links.multipliers
    stretched = np.flatnonzero(excess > strain * links.rest_lengths)
    return np.concatenate([links.first[stretched], links.second[stretched]])
