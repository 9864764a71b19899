"""The links of all strips in one place, so that those stretched too far are found quickly."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers, first_seen, inverse, magnitudes, ranges
from .paths import Strips
from .strips import LEAST_LENGTH

STRAIN_LEFT = 4e-3
"""Edges that are stretched by no more than this share are left as they are; then the 99th
percentile stays under 0.5 % on real meshes."""
UNREST = 300.0
"""In short steps the tolerance is this times h² [1/s²]: what is left over acts as a force there,
and would shake the cloth."""


@dataclass(frozen=True, eq=False)
class Links:
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
    shortest: Floats
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
        return first_seen(self.order[ranges(starts, self.starts[particles + 1] - starts)])


def make_links(
    strips: Strips, multipliers: Floats, inverse_masses: Floats, h_squared: float
) -> Links:
    """The links of strips for one h² [s²], and particles of these inverse masses (n,)."""
    first, second = strips.path[:-1], strips.path[1:]
    masses = np.stack([inverse_masses[first], inverse_masses[second]])
    mobility = masses.sum(axis=0)
    movable = strips.linked[:-1] & (mobility > 0.0)
    scaled = strips.compliances[:-1] / h_squared
    ends = np.concatenate([first, second])
    order = np.argsort(ends, kind="stable")
    return Links(
        multipliers=multipliers[:-1],
        first=first,
        second=second,
        inverse_masses=masses,
        rest_lengths=np.where(movable, strips.rest_lengths[:-1], np.inf),
        shortest=np.where(movable, LEAST_LENGTH * strips.rest_lengths[:-1], 0.0),
        scaled_compliances=scaled,
        gains=inverse(mobility + scaled, mobility),
        order=order % max(len(first), 1),
        starts=np.searchsorted(ends[order], np.arange(len(inverse_masses) + 1)),
        tolerance=min(STRAIN_LEFT, UNREST * h_squared),
    )


def stretched_ends(positions: Floats, links: Links, strain: float) -> Integers:
    """The particles at links that are longer by this share than their tension makes them."""
    lengths = magnitudes(positions[:, links.second] - positions[:, links.first])
    excess = lengths - links.rest_lengths + links.scaled_compliances * links.multipliers
    its = np.flatnonzero(excess > strain * links.rest_lengths)
    return np.concatenate([links.first[its], links.second[its]])
