"""The links of all strips in one place, so that those stretched too far are found quickly."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers
from .strips import StripBatch


@dataclass(frozen=True, eq=False)
class Links:
    """Links and gaps of some batches, one batch after the other."""

    batches: Sequence[StripBatch]
    """Where multipliers are read from, and written to."""
    first: Integers
    """(k,) the particle where each link begins."""
    second: Integers
    """(k,) and where it ends."""
    inverse_masses: Floats
    """(2, k) of both [1/kg]."""
    rest_lengths: Floats
    """(k,) ∞ in gaps, and where nothing can move [m]."""
    scaled_compliances: Floats
    """(k,) compliance / h²."""
    order: Integers
    """(2k,) links sorted by particle, first by their beginnings and then by their ends."""
    starts: Integers
    """(n + 1,) where those of each particle begin."""

    def at(self, particles: Integers) -> Integers:
        """The links that begin or end at some of the particles, each once."""
        counts = self.starts[particles + 1] - self.starts[particles]
        ends = np.cumsum(counts)
        places = np.arange(ends[-1]) + np.repeat(self.starts[particles] - ends + counts, counts)
        found = np.zeros(len(self.first), dtype=bool)
        found[self.order[places]] = True
        return np.flatnonzero(found)


def make_links(batches: Sequence[StripBatch], inverse_masses: Floats) -> Links:
    """Puts the links of batches together, for particles of these inverse masses (n,)."""
    none, nowhere = np.empty(0), np.empty(0, dtype=np.int64)
    first = np.concatenate([nowhere, *(batch.path[:-1] for batch in batches)])
    second = np.concatenate([nowhere, *(batch.path[1:] for batch in batches)])
    lengths = [np.where(batch.movable > 0.0, batch.rest_lengths, np.inf) for batch in batches]
    ends = np.concatenate([first, second])
    order = np.argsort(ends, kind="stable")
    return Links(
        batches=batches,
        first=first,
        second=second,
        inverse_masses=np.stack([inverse_masses[first], inverse_masses[second]]),
        rest_lengths=np.concatenate([none, *lengths]),
        scaled_compliances=np.concatenate([none, *(b.scaled_compliances for b in batches)]),
        order=order % max(len(first), 1),
        starts=np.searchsorted(ends[order], np.arange(len(inverse_masses) + 1)),
    )
