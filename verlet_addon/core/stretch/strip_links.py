"""The links of all strips in one place, so that those stretched too far are found quickly."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers, inverse, magnitudes, ranges, unique_in_order
from .strip_batches import MIN_LENGTH_SHARE
from .strip_paths import Strips

STRAIN_TOLERANCE = 4e-3
"""Edges that are stretched by no more than this share are left as they are; then the 99th
percentile stays under 0.5 % on real meshes."""
STRAIN_ACCELERATION_TOLERANCE = 300.0
"""In short steps the tolerance is this times h² [1/s²]: what is left over acts as a force there,
and would shake the cloth."""


@dataclass(frozen=True, eq=False)
class StripLinks:
    """Links and gaps of strips, along their path."""

    multipliers: Floats
    """(k,) where they are read from, and written to; those of the batches are parts of it."""
    first: Integers
    """(k,) the particle where each link begins."""
    second: Integers
    """(k,) and where it ends."""
    inverse_masses: Floats
    """(2, k) of both [1/kg]."""
    rest_lengths: Floats
    """(k,) ∞ in gaps, and where nothing can move [m]."""
    min_lengths: Floats
    """(k,) what links are never pushed shorter than [m]; 0 in gaps, and where nothing can move."""
    scaled_compliances: Floats
    """(k,) compliance / h² [1/kg]."""
    gains: Floats
    """(k,) 1 / (sum of inverse masses + scaled compliance) [kg]; 0 where nothing can move."""
    order: Integers
    """(2k,) links sorted by particle, first by their beginnings and then by their ends."""
    starts: Integers
    """(n + 1,) where those of each particle begin."""
    tolerance: float
    """Links stretched by no more than this share are left as they are."""

    def at(self, particles: Integers) -> Integers:
        """The links at some of the particles, each once, those of the first before the others."""
        starts = self.starts[particles]
        return unique_in_order(self.order[ranges(starts, self.starts[particles + 1] - starts)])


def make_strip_links(
    strips: Strips, multipliers: Floats, inverse_masses: Floats, h_squared: float
) -> StripLinks:
    """The links of strips for one h² [s²], and particles of these inverse masses (n,)."""
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
    """The particles at links that are longer by this share than their tension makes them."""
    lengths = magnitudes(positions[:, links.second] - positions[:, links.first])
    excess = lengths - links.rest_lengths + links.scaled_compliances * links.multipliers
    stretched = np.flatnonzero(excess > strain * links.rest_lengths)
    return np.concatenate([links.first[stretched], links.second[stretched]])
