"""Distances strung together into strips, each of which is solved directly.

A strip is a path of edges that goes as straight as it can through the mesh: a row or column of a
grid, a whole rope. Its distances form a tridiagonal system, so that a pull on one end reaches the
other at once. Strips of one colour share no particle and are solved together; between colours it
is Gauss–Seidel.
"""

from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from .coloring import Copies, count_copies, find_hubs, gather_copies
from .mesh import Booleans, Floats, Integers
from .topology import find_components

STRAIGHTEST = -0.5
"""Edges are strung together where the angle between them is wider than 120° (its cosine)."""

FEW_COLORS = 4
"""Strips are not cut before this many colours are in use."""


Piece = tuple[int, list[int], list[int]]
"""A path before it is laid out: its colour, its particles, and the pairs between them."""


@dataclass(frozen=True, eq=False)
class Strips:
    """Distances as paths, one colour after the other.

    Every path is followed by a gap: an entry of `joints` that joins it to the next path without
    meaning anything, so that whole colours are worked on as one long path.
    """

    path: Integers
    """(k,) particles along all paths."""
    rest_lengths: Floats
    """(k,) from each particle to the next [m]; 0 in gaps."""
    compliances: Floats
    """(k,) [m/N]"""
    yielding: Floats
    """(k,) compliance more where an edge is pushed together [m/N]."""
    linked: Booleans
    """(k,) bool; False in gaps."""
    starts: Integers
    """(colours + 1,) where each colour begins in `path`."""
    longest: Integers
    """(colours,) the most edges of any path of the colour."""
    copies: Integers
    """(k,) how many entries of its colour share each particle and its mass: 1 but for hubs."""


@dataclass(frozen=True, eq=False)
class StripBatch:
    """The strips of one colour, ready for one h²; a path of c particles has c − 1 edges or gaps."""

    path: Integers
    """(c,)"""
    labels: Integers
    """(c,) number of the path that each entry belongs to."""
    inverse_masses: Floats
    """(c,) those of hubs are shared out over their copies."""
    copies: Copies | None
    """Of hubs along the path."""
    joints: Floats
    """(c − 2,) inverse mass of the particle between an edge and the next; 0 beside gaps."""
    rest_lengths: Floats
    """(c − 1,)"""
    measures: Floats
    """(c − 1,) rest lengths to measure violations by; 1 in gaps [m]."""
    scaled_compliances: Floats
    """(c − 1,) compliance / h²."""
    scaled_yielding: Floats
    """(c − 1,) compliance more where pushed together / h²; empty where none is."""
    mobilities: Floats
    """(c − 1,) sum of the inverse masses of both ends; 0 in gaps."""
    movable: Floats
    """(c − 1,) 1 where an end can move, 0 elsewhere and in gaps."""
    diagonal: Floats
    """(c − 1,) of the system: mobility + scaled compliance; 1 where nothing can move."""
    rounds: int
    """Rounds of cyclic reduction that part every edge from the next."""
    multipliers: Floats
    """(c − 1,) XPBD's multipliers; changed by the kernels."""
    start_gains: Floats
    """(c − 1,) pull for each metre that a link is stretched at the step's start; empty if none."""


def build_strips(
    positions: Floats,
    pairs: Integers,
    rest_lengths: Floats,
    compliances: Floats,
    yielding: Floats,
    loose: Booleans,
) -> Strips:
    """Strings pairs together at their ends, the straightest first, and colours the strips.

    Parameters
    ----------
    positions : (n, 3) rest positions [m].
    pairs : (m, 2)
    rest_lengths : (m,) [m].
    compliances : (m,) [m/N].
    yielding : (m,) compliance more where a pair is pushed together [m/N].
    loose : (m,) bool, pairs of ropes, which are strung together round any corner.
    """
    strips = _string_together(pairs, straight_joints(positions, pairs, loose))
    hubs = find_hubs(pairs[~loose], len(positions))
    pieces = sorted(_color_strips(strips, pairs, hubs), key=lambda piece: piece[0])
    laid = lay_out(pieces, rest_lengths, compliances, yielding)
    return replace(laid, copies=count_copies(laid.path, laid.starts))


def lay_out(
    pieces: list[Piece], rest_lengths: Floats, compliances: Floats, yielding: Floats
) -> Strips:
    """Strips from pieces (colour, particles, pairs between them), sorted by colour."""
    path = np.array([p for _, particles, _ in pieces for p in particles], dtype=np.int64)
    edges = np.array([e for _, _, along in pieces for e in [*along, -1]], dtype=np.int64)
    sizes = np.array([len(particles) for _, particles, _ in pieces], dtype=np.int64)
    colors = np.array([color for color, _, _ in pieces], dtype=np.int64)
    count = int(colors.max()) + 1 if len(colors) else 0
    firsts = np.searchsorted(colors, np.arange(count + 1))
    ends = np.concatenate([[0], np.cumsum(sizes)])
    linked = edges >= 0

    def along_paths(values: Floats) -> Floats:
        return np.where(linked, values[edges], 0.0) if len(values) else np.empty(0)

    return Strips(
        path=path,
        rest_lengths=along_paths(rest_lengths),
        compliances=along_paths(compliances),
        yielding=along_paths(yielding),
        linked=linked,
        starts=ends[firsts],
        longest=np.array(
            [sizes[a:b].max() - 1 for a, b in pairwise(firsts)],
            dtype=np.int64,
        ),
        copies=np.ones(len(path), dtype=np.int64),
    )


def straight_joints(positions: Floats, pairs: Integers, loose: Booleans) -> Integers:
    """(j, 2) ends of pairs that are strung together there, the straightest first, each once.

    Pair k has the ends 2k and 2k + 1.
    """
    first, second = _sharing_ends(pairs)
    centre = pairs.ravel()[first]
    cosines = np.einsum(
        "kx,kx->k", _outward(positions, pairs, first), _outward(positions, pairs, second)
    )
    # A rope goes on round any corner: only where strips cross must they be straight.
    alone = np.bincount(pairs.ravel(), minlength=len(positions))[centre] == 2
    fits = (cosines < STRAIGHTEST) | (alone & loose[first // 2] & loose[second // 2])
    first, second, cosines = first[fits], second[fits], cosines[fits]
    # Rounded, so that on a lattice the order of the mesh decides and not the last digit.
    order = np.lexsort((second // 2, first // 2, np.round(cosines, 6)))
    ends = np.stack([first[order], second[order]], axis=1)
    return _match(ends, pairs.size)


def _sharing_ends(pairs: Integers) -> tuple[Integers, Integers]:
    """Which two ends of pairs lie on one particle."""
    particles = pairs.ravel()
    order = np.argsort(particles, kind="stable")
    meeting = np.bincount(particles)
    found = [np.empty((0, 2), dtype=np.int64)]
    for apart in range(1, int(meeting.max(initial=0))):
        # A hub of many edges must not make a whole mesh be looked through as often.
        order = order[meeting[particles[order]] > apart]
        places = np.flatnonzero(particles[order[apart:]] == particles[order[:-apart]])
        found.append(np.stack([order[places], order[places + apart]], axis=1))
    first, second = np.concatenate(found).T
    return first, second


def _match(candidates: Integers, count: int) -> Integers:
    """The candidates (c, 2) that come first for both their numbers, of `count`; then the next."""
    matched = [candidates[:0]]
    while len(candidates):
        foremost = np.full(count, len(candidates))
        np.minimum.at(foremost, candidates, np.arange(len(candidates))[:, None])
        first = (foremost[candidates] == np.arange(len(candidates))[:, None]).all(axis=1)
        matched.append(candidates[first])
        used = np.zeros(count, dtype=bool)
        used[matched[-1]] = True
        candidates = candidates[~used[candidates].any(axis=1)]
    return np.concatenate(matched)


def _outward(positions: Floats, pairs: Integers, ends: Integers) -> Floats:
    """(k, 3) unit vectors along pairs away from these ends."""
    particles = pairs.ravel()
    arm = positions[particles[ends ^ 1]] - positions[particles[ends]]
    return np.asarray(arm / np.maximum(np.linalg.norm(arm, axis=1, keepdims=True), 1e-300))


def _string_together(pairs: Integers, joints: Integers) -> list[tuple[list[int], list[int]]]:
    """Paths as (particles, pairs between them), each particle once; rings are cut open."""
    joined = np.full(pairs.size, -1)
    joined[joints] = joints[:, ::-1]
    onward, particle = joined.tolist(), pairs.ravel().tolist()
    done = [False] * len(pairs)
    strips: list[tuple[list[int], list[int]]] = []
    for tip in [*np.flatnonzero(joined < 0).tolist(), *range(0, pairs.size, 2)]:
        particles, along, end = [particle[tip]], [], tip
        while end >= 0 and not done[end // 2]:
            done[end // 2] = True
            along.append(end // 2)
            particles.append(particle[end ^ 1])
            end = onward[end ^ 1]
        if along:
            strips.extend(_cut_at_revisits(particles, along))
    return strips


def _cut_at_revisits(particles: list[int], along: list[int]) -> list[tuple[list[int], list[int]]]:
    """A path cut wherever it comes back to a particle that it has visited."""
    if len(set(particles)) == len(particles):
        return [(particles, along)]
    strips: list[tuple[list[int], list[int]]] = []
    start, seen = 0, {particles[0]}
    for place, particle in enumerate(particles[1:], start=1):
        if particle in seen:
            if place - start > 1:
                strips.append((particles[start:place], along[start : place - 1]))
            start, seen = place - 1, {particles[place - 1]}
        seen.add(particle)
    return [*strips, (particles[start:], along[start:])]


def _color_strips(
    strips: list[tuple[list[int], list[int]]], pairs: Integers, hubs: Booleans
) -> list[Piece]:
    """Pieces of strips with colours, so that no particle has a colour twice but hubs, (n,) bool.

    Each component is coloured by itself, so that a body bakes alike alone and in company. Each
    strip, the longest first, keeps the colour that it can keep longest, and is cut where that
    colour is taken: long strips reach far, and few colours are quick.
    """
    used = [0] * len(hubs)
    shared = hubs.tolist()
    labels = find_components(len(hubs), pairs).tolist()
    palettes: Counter[int] = Counter()
    pieces: list[Piece] = []
    for particles, edges in sorted(strips, key=lambda strip: -len(strip[1])):
        start, component = 0, labels[particles[0]]
        while start < len(edges):
            stop, color = max(
                ((_first_taken(used, particles, start, c), -c) for c in range(palettes[component])),
                default=(start, 0),
            )
            if stop - start < 2 or (stop < len(particles) and palettes[component] < FEW_COLORS):
                palettes[component] += 1
                continue
            for particle in particles[start:stop]:
                used[particle] |= 0 if shared[particle] else 1 << -color
            pieces.append((-color, particles[start:stop], edges[start : stop - 1]))
            start = stop - 1
    return pieces


def _first_taken(used: list[int], particles: list[int], start: int, color: int) -> int:
    """Where, from `start` on, a colour is taken already; the path's length if nowhere."""
    for place in range(start, len(particles)):
        if used[particles[place]] >> color & 1:
            return place
    return len(particles)


def strip_batches(
    strips: Strips, inverse_masses: Floats, h_squared: Floats, *, firmness: float
) -> list[StripBatch]:
    """One batch per colour for one h² (n,) [s²].

    `firmness` is a share of the mobility added to the diagonal, so that a taut strip between two
    pins, or one that can only buckle, has a solution; more of it is safer and less exact.
    """
    batches = []
    for start, stop, longest in zip(
        strips.starts[:-1], strips.starts[1:], strips.longest, strict=True
    ):
        path = strips.path[start:stop]
        linked = strips.linked[start : stop - 1]
        copies = strips.copies[start:stop]
        masses = inverse_masses[path] * copies
        both = linked[:-1] & linked[1:]
        mobilities = np.where(linked, masses[:-1] + masses[1:], 0.0)
        scaled = strips.compliances[start : stop - 1] / h_squared[path[:-1]]
        yielding = strips.yielding[start : stop - 1] / h_squared[path[:-1]]
        batches.append(
            StripBatch(
                path=path,
                labels=np.concatenate([[0], np.cumsum(~linked)]),
                inverse_masses=masses,
                copies=gather_copies(path, copies, masses),
                joints=np.where(both, masses[1:-1], 0.0),
                rest_lengths=strips.rest_lengths[start : stop - 1],
                measures=np.where(linked, strips.rest_lengths[start : stop - 1], 1.0),
                scaled_compliances=scaled,
                scaled_yielding=yielding if yielding.any() else np.empty(0),
                mobilities=mobilities,
                movable=(mobilities > 0.0).astype(np.float64),
                diagonal=np.where(mobilities > 0.0, mobilities * (1.0 + firmness) + scaled, 1.0),
                rounds=int(longest).bit_length(),
                multipliers=np.zeros(stop - start - 1),
                start_gains=np.empty(0),
            )
        )
    return batches


def acting_from_start(batches: list[StripBatch]) -> list[StripBatch]:
    """Batches whose soft links act by their stretch C at a step's start as well as C' at its end.

    XPBD's λ = −C'/α̃ is implicit Euler's: it brakes every vibration, within a second where
    h ω = 0.1. Here λ = −((1 − β) C + β C')/α̃, with β = m/(m + α̃), m being the mobility of both
    ends: what the steps resolve acts almost explicitly, which keeps its energy and its period; what
    is too stiff for that stays implicit. The first part is a force, −C/(m + α̃); the second is a
    constraint of compliance α̃/β.
    """
    return [_acting_from_start(batch) for batch in batches]


def _acting_from_start(batch: StripBatch) -> StripBatch:
    """The same batch; its soft links act by their stretch at the start too."""
    scaled = batch.scaled_compliances
    if not scaled.any():
        return batch
    movable = batch.mobilities > 0.0
    more = scaled**2 / np.where(movable, batch.mobilities, np.inf)
    return replace(
        batch,
        scaled_compliances=scaled + more,
        diagonal=batch.diagonal + more,
        start_gains=np.where(movable & (scaled > 0.0), 1.0 / batch.diagonal, 0.0),
    )
