"""Ropes between pins that are farther apart than they are long."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from ..arrays import Booleans, Floats, Integers, ranges
from ..stretch.paths import Strips

SLACK = 1e-7
"""A rope is at least this share longer than its pins are apart. With no slack, no tension would
hold its weight; with so much it sags by 0.2 mm a metre, and hangs still. With ten times as much,
200 links drawn out to twice their length shake at 1 mm/s; with a hundred times, at 6 cm/s."""
INEXTENSIBLE = 1e-7
"""Links of a compliance above this share of their mobility are stretched by springs of their own
that are in balance with their pull. With less, pulls grow until rounding throws ropes about."""
BALANCINGS = 3
"""Rounds in each step in which junctions are put where ropes are stretched least: as good as thirty
for chains of two junctions. With one, ropes that three pins draw out quickly overshoot."""
REGULARIZATION = 1e-9
"""Share of its stiffness by which a junction resists where springs leave it free."""

Place = tuple[float, float, float]
Spring = tuple[Place, float]
"""Where it ends, and how long it is [m]; it only pulls."""


@dataclass(frozen=True, eq=False)
class Spans:
    """Ropes from pin to pin, cut at junctions."""

    nodes: Integers
    """(u,) particles: pins, and junctions that ropes to three and more pins meet at."""
    pinned: Booleans
    """(u,)"""
    ends: Integers
    """(2, s) where each span ends, as entries of `nodes`."""
    links: Integers
    """(l,) the links of each span, as entries of the strips' path, span after span."""
    starts: Integers
    """(s,) where those of each begin."""

    @property
    def counts(self) -> Integers:
        """(s,) how many links each has."""
        return np.diff(self.starts, append=len(self.links))


def find_spans(strips: Strips, pinned: Booleans) -> Spans:
    """Every way from pin or junction to the next along ropes without rings, for pins (n,).

    What dangles from them is left out: nothing draws it out.
    """
    branches: dict[int, list[tuple[int, int]]] = {}
    for link in np.flatnonzero(strips.linked).tolist():
        for one, other in ((link, link + 1), (link + 1, link)):
            way = int(strips.path[other]), link
            branches.setdefault(int(strips.path[one]), []).append(way)
    loose = [each for each, ways in branches.items() if len(ways) == 1 and not pinned[each]]
    for particle in loose:
        for other, link in branches.pop(particle, []):
            branches[other].remove((particle, link))
            if len(branches[other]) == 1 and not pinned[other]:
                loose.append(other)
    nodes = sorted(each for each, ways in branches.items() if pinned[each] or len(ways) > 2)
    number = {particle: place for place, particle in enumerate(nodes)}
    ways = [
        ((number[node], number[end]), way)
        for node in nodes
        for end, way in _ways_from(node, branches, number)
        if node < end and (len(way) > 1 or not (pinned[node] and pinned[end]))
    ]
    counts = np.array([len(way) for _, way in ways], dtype=np.int64)
    return Spans(
        nodes=np.array(nodes, dtype=np.int64),
        pinned=pinned[np.array(nodes, dtype=np.int64)],
        ends=np.array([ends for ends, _ in ways], dtype=np.int64).reshape(-1, 2).T,
        links=np.array([link for _, way in ways for link in way], dtype=np.int64),
        starts=np.cumsum(counts) - counts,
    )


def _ways_from(
    node: int, branches: dict[int, list[tuple[int, int]]], nodes: dict[int, int]
) -> Iterator[tuple[int, list[int]]]:
    """The nodes that come next along ropes, each with the links on the way there."""
    for first, link in branches[node]:
        before, at, way = node, first, [link]
        while at not in nodes:
            onward = next(each for each in branches[at] if each[0] != before)
            before, at = at, onward[0]
            way.append(onward[1])
        yield at, way


def rigid_spans(spans: Spans, strips: Strips, inverse_masses: Floats, h_squared: float) -> Spans:
    """Those of them whose links hardly yield, for particles of such inverse masses (n,)."""
    masses = inverse_masses[strips.path]
    mobilities = masses + np.roll(masses, -1)
    rigid = strips.compliances / h_squared <= INEXTENSIBLE * mobilities
    if not len(spans.starts):
        return spans
    which = np.flatnonzero(np.logical_and.reduceat(rigid[spans.links], spans.starts))
    counts = spans.counts[which]
    links = spans.links[ranges(spans.starts[which], counts)]
    return replace(spans, ends=spans.ends[:, which], links=links, starts=np.cumsum(counts) - counts)


def reach_pins(positions: Floats, spans: Spans, rests: Floats, drawn: Floats) -> None:
    """Writes the rest lengths (k,) of links to `drawn`, longer where pins are too far apart.

    Pins are at `positions` (3, n) [m]; each span is drawn out evenly, and where several meet, as
    they would be if all were springs that only pull, as stiff as they are short.
    """
    drawn[...] = rests
    if not len(spans.starts):
        return
    long = np.add.reduceat(rests[spans.links], spans.starts)
    places = _least_stretched(positions[:, spans.nodes], spans, long)
    apart = _apart(places, spans)
    shares = np.maximum(apart * (1.0 + SLACK) / long, 1.0)
    drawn[spans.links] *= np.repeat(shares, spans.counts)


def _apart(places: Floats, spans: Spans) -> Floats:
    """(s,) how far the ends of spans are from each other, nodes being at `places` (3, u) [m]."""
    one, other = spans.ends
    return np.asarray(np.sqrt(((places[:, other] - places[:, one]) ** 2).sum(axis=0)))


def _least_stretched(places: Floats, spans: Spans, long: Floats) -> Floats:
    """(3, u) where the sum of (stretch of spans)² / length is least, from junctions' places [m]."""
    apart = _apart(places, spans)
    if spans.pinned.all() or (apart <= long).all():
        return places
    around: dict[int, list[tuple[int, float]]] = {}
    for (first, second), length in zip(spans.ends.T.tolist(), long.tolist(), strict=True):
        for node, end in ((first, second), (second, first)):
            if not spans.pinned[node]:
                around.setdefault(node, []).append((end, length))
    points: list[Place] = [(x, y, z) for x, y, z in places.T.tolist()]
    for _ in range(BALANCINGS):
        for node, springs in around.items():
            pulling = [(points[end], length) for end, length in springs]
            points[node] = _balanced(points[node], pulling)
    return np.array(points).T


def _balanced(place: Place, springs: list[Spring]) -> Place:
    """One step of Newton's method to where springs that only pull are in balance."""
    xx = yy = zz = xy = yz = zx = firmness = 0.0
    fx = fy = fz = 0.0
    for end, length in springs:
        x, y, z = end[0] - place[0], end[1] - place[1], end[2] - place[2]
        apart = sqrt(x * x + y * y + z * z)
        if apart <= length:
            continue
        share = (1.0 - length / apart) / length
        fx, fy, fz = fx + share * x, fy + share * y, fz + share * z
        along, firmness = 1.0 / (apart * apart * apart), firmness + 1.0 / length
        xx, yy, zz = (
            xx + share + along * x * x,
            yy + share + along * y * y,
            zz + share + along * z * z,
        )
        xy, yz, zx = xy + along * x * y, yz + along * y * z, zx + along * z * x
    if firmness == 0.0:
        return place
    xx, yy, zz = (each + REGULARIZATION * firmness for each in (xx, yy, zz))
    # By minors: LAPACK does not round alike everywhere.
    a, b, c = yy * zz - yz * yz, yz * zx - xy * zz, xy * yz - yy * zx
    d, e, f = xx * zz - zx * zx, xy * zx - xx * yz, xx * yy - xy * xy
    size = xx * a + xy * b + zx * c
    steps = (
        (a * fx + b * fy + c * fz) / size,
        (b * fx + d * fy + e * fz) / size,
        (c * fx + e * fy + f * fz) / size,
    )
    return place[0] + steps[0], place[1] + steps[1], place[2] + steps[2]
