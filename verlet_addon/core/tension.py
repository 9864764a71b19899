"""Strips that cross each other, put together so that their tension is solved for at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .mesh import Booleans, Floats, Integers
from .strips import StripBatch


@dataclass(frozen=True, eq=False)
class StripNet:
    """All strips of some batches as one path of k entries, a gap after each strip."""

    batches: Sequence[StripBatch]
    """Where tension is read from, and written to."""
    path: Integers
    """(k,)"""
    labels: Integers
    """(k,) number of the strip that each entry belongs to."""
    loose: Booleans
    """(k − 1,) whether both ends of a link can move."""
    loaded: Floats
    """(k − 1,) 1 where tension is remembered, 0 elsewhere."""
    neighbours: Integers
    """(most, n) the particles that each is linked to; itself where it has fewer links."""
    links: Integers
    """(most, n) the link to each neighbour; k − 1 where there is none, or where it is pinned."""
    inverse_masses: Floats
    """(n,) [1/kg]"""
    masses: Floats
    """(n,) [kg]; 1 for pinned particles."""
    rounds: int
    """Rounds of cyclic reduction that part every entry from the next."""
    displacement: Floats
    """(3, n) what the tension did in the step before, to start from; changed by the kernel [m]."""


def make_net(batches: Sequence[StripBatch], inverse_masses: Floats, loaded: Booleans) -> StripNet:
    """Puts batches together for particles of these inverse masses (n,), `loaded` (n,) or not."""
    n = len(inverse_masses)
    path = _joined([batch.path for batch in batches])
    counts = [int(batch.labels[-1]) + 1 for batch in batches]
    firsts = np.cumsum([0, *counts])
    labels = _joined([batch.labels + first for batch, first in zip(batches, firsts, strict=False)])
    free = inverse_masses > 0.0
    link = np.flatnonzero(labels[1:] == labels[:-1])
    ends = np.concatenate([path[link], path[link + 1]])
    other = np.concatenate([path[link + 1], path[link]])
    order = np.argsort(ends, kind="stable")
    ends, other, link = ends[order], other[order], np.tile(link, 2)[order]
    count = np.bincount(ends, minlength=n)
    rank = np.arange(len(ends)) - np.repeat(np.cumsum(count) - count, count)
    most = int(count.max(initial=0))
    neighbours = np.tile(np.arange(n), (most, 1))
    neighbours[rank, ends] = other
    links = np.full((most, n), max(len(path) - 1, 0))
    links[rank, ends] = np.where(free[ends], link, len(path) - 1)
    return StripNet(
        batches=batches,
        path=path,
        labels=labels,
        loose=free[path[1:]] & free[path[:-1]],
        loaded=(loaded[path[1:]] & loaded[path[:-1]]).astype(np.float64),
        neighbours=neighbours,
        links=links,
        inverse_masses=inverse_masses,
        masses=1.0 / np.where(free, inverse_masses, 1.0),
        rounds=max((batch.rounds + 1 for batch in batches), default=0),
        displacement=np.zeros((3, n)),
    )


def _joined(parts: Sequence[Integers]) -> Integers:
    """All parts, one after the other; none of them may be missing."""
    return np.concatenate([np.empty(0, dtype=np.int64), *parts])
