"""Rest lengths of ropes between pins that are further apart than the rope is long."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import (
    Booleans,
    Floats,
    Integers,
    apply_matrices,
    cofactors,
    magnitudes,
    norms,
    ranges,
    unique_in_order,
)
from ..stretch.strip_paths import Strips

ROPE_PIN_SLACK = 1e-7
"""Least slack of a rope between its pins, as a share of their distance. Without slack, no tension
would carry its weight; with this much it sags by 0.2 mm per metre, and comes to rest. With ten
times as much, 200 links stretched to twice their length jitter at 1 mm/s; with a hundred times, at
6 cm/s."""
MAX_INEXTENSIBLE_COMPLIANCE = 1e-7
"""Scaled compliance up to which a link counts as inextensible, as a share of its mobility; softer
links stretch as springs. With a lower limit, tension grows until rounding makes ropes unstable."""
JUNCTION_ROUNDS = 3
"""Newton steps per time step by which junctions move to where ropes stretch least: as good as
thirty for chains of two junctions. With one, ropes stretched quickly by three pins overshoot."""
JUNCTION_REGULARIZATION = 1e-9
"""Rounding: share of a junction's stiffness added in all directions, for those in which no spring
acts."""


@dataclass(frozen=True, eq=False)
class PinSpans:
    """Ropes from pin to pin, cut at junctions."""

    nodes: Integers
    """(u,) particles: pins, and junctions of ropes to three and more pins."""
    pinned: Booleans
    """(u,) bool"""
    ends: Integers
    """(2, s) both ends of each span, as entries of `nodes`."""
    links: Integers
    """(l,) the links of each span, as entries of the strips' path, span after span."""
    starts: Integers
    """(s,) start of the links of each span."""

    @property
    def counts(self) -> Integers:
        """(s,) number of links of each span."""
        return np.diff(self.starts, append=len(self.links))


def find_pin_spans(strips: Strips, pinned: Booleans) -> PinSpans:
    """Finds all paths from pin or junction to the next along ropes without rings, for pins (n,).

    Free ends are left out: no pin stretches them.
    """
    branches: dict[int, list[tuple[int, int]]] = {}
    for link in np.flatnonzero(strips.linked).tolist():
        for one, other in ((link, link + 1), (link + 1, link)):
            path = int(strips.path[other]), link
            branches.setdefault(int(strips.path[one]), []).append(path)
    loose = [each for each, paths in branches.items() if len(paths) == 1 and not pinned[each]]
    for particle in loose:
        for other, link in branches.pop(particle, []):
            branches[other].remove((particle, link))
            if len(branches[other]) == 1 and not pinned[other]:
                loose.append(other)
    nodes = sorted(each for each, paths in branches.items() if pinned[each] or len(paths) > 2)
    number = {particle: place for place, particle in enumerate(nodes)}
    paths = [
        ((number[node], number[end]), path)
        for node in nodes
        for end, path in _paths_from(node, branches, number)
        if node < end and (len(path) > 1 or not (pinned[node] and pinned[end]))
    ]
    counts = np.array([len(path) for _, path in paths], dtype=np.int64)
    return PinSpans(
        nodes=np.array(nodes, dtype=np.int64),
        pinned=pinned[np.array(nodes, dtype=np.int64)],
        ends=np.array([ends for ends, _ in paths], dtype=np.int64).reshape(-1, 2).T,
        links=np.array([link for _, path in paths for link in path], dtype=np.int64),
        starts=np.cumsum(counts) - counts,
    )


def _paths_from(
    node: int, branches: dict[int, list[tuple[int, int]]], nodes: dict[int, int]
) -> Iterator[tuple[int, list[int]]]:
    """The next node along each rope from a node, and the links up to it."""
    for first, link in branches[node]:
        before, at, path = node, first, [link]
        while at not in nodes:
            onward = next(each for each in branches[at] if each[0] != before)
            before, at = at, onward[0]
            path.append(onward[1])
        yield at, path


def select_rigid_spans(
    spans: PinSpans, strips: Strips, inverse_masses: Floats, h_squared: float
) -> PinSpans:
    """The spans whose links are all nearly inextensible, for one h² [s²]."""
    masses = inverse_masses[strips.path]
    mobilities = masses + np.roll(masses, -1)
    rigid = strips.compliances / h_squared <= MAX_INEXTENSIBLE_COMPLIANCE * mobilities
    if not len(spans.starts):
        return spans
    which = np.flatnonzero(np.logical_and.reduceat(rigid[spans.links], spans.starts))
    counts = spans.counts[which]
    links = spans.links[ranges(spans.starts[which], counts)]
    return replace(spans, ends=spans.ends[:, which], links=links, starts=np.cumsum(counts) - counts)


def lengthen_spans(positions: Floats, spans: PinSpans, rests: Floats, lengthened: Floats) -> None:
    """Writes the rest lengths (k,) of links to `lengthened`, longer where pins are too far apart.

    Pins are at `positions` (3, n) [m]. The links of a span are lengthened evenly. A junction is
    placed where springs along its spans, of stiffness 1 / length and without compression, are in
    balance.
    """
    lengthened[...] = rests
    if not len(spans.starts):
        return
    lengths = span_lengths(spans, rests)
    node_positions = _balance_junctions(positions[:, spans.nodes], spans, lengths)
    distances = _span_distances(node_positions, spans)
    shares = np.maximum(distances * (1.0 + ROPE_PIN_SLACK) / lengths, 1.0)
    lengthened[spans.links] *= np.repeat(shares, spans.counts)


def span_lengths(spans: PinSpans, rests: Floats) -> Floats:
    """(s,) length of each span, for rest lengths (k,) of links [m]."""
    if not len(spans.starts):
        return np.empty(0)
    return np.asarray(np.add.reduceat(rests[spans.links], spans.starts))


def _span_distances(node_positions: Floats, spans: PinSpans) -> Floats:
    """(s,) distance between the ends of each span, for nodes at (3, u) [m]."""
    one, other = spans.ends
    return magnitudes(node_positions[:, other] - node_positions[:, one])


def _balance_junctions(node_positions: Floats, spans: PinSpans, lengths: Floats) -> Floats:
    """(3, u) node positions, a few Newton steps nearer to least Σ (stretch of a span)² / length."""
    distances = _span_distances(node_positions, spans)
    if spans.pinned.all() or (distances <= lengths).all():
        return node_positions
    nodes = unique_in_order(spans.ends.T.ravel())
    for _ in range(JUNCTION_ROUNDS):
        for node in nodes[~spans.pinned[nodes]].tolist():
            own = (spans.ends == node).any(axis=0)
            far = node_positions[:, spans.ends[:, own].sum(axis=0) - node]
            node_positions[:, node] += _balance_step(far - node_positions[:, [node]], lengths[own])
    return node_positions


def _balance_step(across: Floats, lengths: Floats) -> Floats:
    """(3,) one Newton step towards the balance of springs that resist tension alone [m].

    Parameters
    ----------
    across, lengths : (3, k) vectors along the springs, and rest lengths (k,) [m].
    """
    distances = norms(across)
    pulling = distances > lengths
    if not pulling.any():
        return np.zeros(3)
    across, lengths, distances = across[:, pulling], lengths[pulling], distances[pulling]
    shares = (1.0 - lengths / distances) / lengths
    isotropic = shares.sum() + JUNCTION_REGULARIZATION * (1.0 / lengths).sum()
    stiffness = np.eye(3) * isotropic + (across[:, None] * across / distances**3).sum(axis=2)
    minors, sizes = cofactors(stiffness[None])
    pull = (shares * across).sum(axis=1, keepdims=True)
    return np.asarray(apply_matrices(minors, pull)[:, 0] / sizes)
