"""Seams: pairs of particles that are drawn together by at most a certain force."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers, inverse, norms
from ..coloring import color_constraints


@dataclass(frozen=True, eq=False)
class Seams:
    """Pairs that are sewn to each other."""

    pairs: Integers
    """(m, 2) sorted by colour."""
    starts: Integers
    """(colours + 1,) where each colour begins."""
    force: float
    """The greatest of each pair [N]."""


@dataclass(frozen=True, eq=False)
class SeamBatch:
    """The seams of one colour, ready for one h²."""

    first: Integers
    """(c,)"""
    second: Integers
    """(c,)"""
    inverse_masses: Floats
    """(2, c)"""
    gains: Floats
    """(c,) 1 / sum of inverse masses; 0 where nothing can move."""
    greatest: float
    """The greatest multiplier: force × h² [N s²]."""
    multipliers: Floats
    """(3, c) along each axis; changed by the kernel."""


def build_seams(pairs: Integers, force: float, particle_count: int) -> Seams:
    """Sorts pairs (m, 2) by colour."""
    order, starts = color_constraints(pairs, np.zeros(particle_count, dtype=bool))
    return Seams(pairs[order], starts, force)


def seam_batches(seams: Seams, inverse_masses: Floats, h_squared: float) -> list[SeamBatch]:
    """One batch per colour for one h² [s²]."""
    batches = []
    for start, stop in zip(seams.starts[:-1], seams.starts[1:], strict=True):
        first, second = seams.pairs[start:stop].T
        masses = np.stack([inverse_masses[first], inverse_masses[second]])
        mobility = masses.sum(axis=0)
        batches.append(
            SeamBatch(
                first=first,
                second=second,
                inverse_masses=masses,
                gains=inverse(mobility, mobility),
                greatest=seams.force * h_squared,
                multipliers=np.zeros((3, stop - start)),
            )
        )
    return batches


def project_seams(positions: Floats, batches: Iterable[SeamBatch]) -> None:
    """C = x₂ − x₁ = 0, as far as the force goes: it is linear, and holds where both lie together.

    Moves positions (3, n) in place.
    """
    for batch in batches:
        apart = positions[:, batch.second] - positions[:, batch.first]
        pulls = batch.multipliers + batch.gains * apart
        size = norms(pulls)
        pulls *= np.minimum(1.0, batch.greatest / np.maximum(size, 1e-300))
        change = pulls - batch.multipliers
        batch.multipliers[...] = pulls
        positions[:, batch.first] += batch.inverse_masses[0] * change
        positions[:, batch.second] -= batch.inverse_masses[1] * change
