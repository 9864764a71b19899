"""Ropes between pins that are farther apart than they are long."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..arrays import Booleans, Floats, Integers, ranges
from ..stretch.paths import Strips

SLACK = 1e-7
"""A rope is at least this share longer than its pins are apart. With no slack, no tension would
hold its weight; with so much it sags by 0.2 mm a metre, and hangs still. With ten times as much,
200 links drawn out to twice their length shake at 1 mm/s; with a hundred times, at 6 cm/s."""
RIGID = 1e-7
"""Links of a compliance above this share of their mobility are stretched by springs of their own
that are in balance with their pull. With less, pulls grow until rounding throws ropes about."""


@dataclass(frozen=True, eq=False)
class Spans:
    """Ways along ropes from pin to pin."""

    ends: Integers
    """(2, s) pinned particles."""
    links: Integers
    """(l,) the links of each way, as entries of the strips' path, way after way."""
    starts: Integers
    """(s,) where those of each begin."""

    @property
    def counts(self) -> Integers:
        """(s,) how many links each has."""
        return np.diff(self.starts, append=len(self.links))


def find_spans(strips: Strips, pinned: Booleans) -> Spans:
    """Every way from one pinned particle (n,) to the next along ropes without rings."""
    links = np.flatnonzero(strips.linked)
    branches: dict[int, list[tuple[int, int]]] = {}
    for link in links.tolist():
        for one, other in ((link, link + 1), (link + 1, link)):
            way = int(strips.path[other]), link
            branches.setdefault(int(strips.path[one]), []).append(way)
    ways = [
        ((pin, end), way)
        for pin in np.flatnonzero(pinned).tolist()
        for end, way in _ways_from(pin, branches, pinned)
        if pin < end and len(way) > 1  # one link has no choice
    ]
    counts = np.array([len(way) for _, way in ways], dtype=np.int64)
    return Spans(
        ends=np.array([ends for ends, _ in ways], dtype=np.int64).reshape(-1, 2).T,
        links=np.array([link for _, way in ways for link in way], dtype=np.int64),
        starts=np.cumsum(counts) - counts,
    )


def _ways_from(
    pin: int, branches: dict[int, list[tuple[int, int]]], pinned: Booleans
) -> Iterator[tuple[int, list[int]]]:
    """The pins that come next along ropes, each with the links on the way there."""
    before: dict[int, tuple[int, int]] = {}
    reached = [pin]
    for particle in reached:
        if particle != pin and pinned[particle]:
            way = []
            at = particle
            while at != pin:
                at, link = before[at]
                way.append(link)
            yield particle, way
            continue
        for other, link in branches.get(particle, []):
            if particle == pin or other != before[particle][0]:
                before[other] = particle, link
                reached.append(other)


def rigid_spans(spans: Spans, strips: Strips, inverse_masses: Floats, h_squared: float) -> Spans:
    """Those of them whose links hardly yield, for particles of such inverse masses (n,)."""
    masses = inverse_masses[strips.path]
    mobilities = masses + np.roll(masses, -1)
    rigid = strips.compliances / h_squared <= RIGID * mobilities
    if not len(spans.starts):
        return spans
    kept = np.logical_and.reduceat(rigid[spans.links], spans.starts)
    return _chosen(spans, np.flatnonzero(kept))


def _chosen(spans: Spans, which: Integers) -> Spans:
    """Some of the spans."""
    counts = spans.counts[which]
    links = spans.links[ranges(spans.starts[which], counts)]
    return Spans(spans.ends[:, which], links, np.cumsum(counts) - counts)


def reach_pins(positions: Floats, spans: Spans, rests: Floats, drawn: Floats) -> None:
    """Writes the rest lengths (k,) of links to `drawn`, longer where pins are too far apart.

    Pins are at `positions` (3, n) [m]; each span is drawn out evenly.
    """
    drawn[...] = rests
    if not len(spans.starts):
        return
    one, other = spans.ends
    apart = np.sqrt(((positions[:, other] - positions[:, one]) ** 2).sum(axis=0))
    wanted = apart * (1.0 + SLACK)
    long = np.add.reduceat(rests[spans.links], spans.starts)
    far = np.flatnonzero(wanted > long)
    chosen = _chosen(spans, far)
    longer = rests[chosen.links] * np.repeat(wanted[far] / long[far], chosen.counts)
    np.maximum.at(drawn, chosen.links, longer)
