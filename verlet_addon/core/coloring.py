"""Graph colouring: constraints of one colour share no particle, so they are solved at once.

Hubs are left out of this: where very many constraints meet, as at the pole of a sphere, each would
need a colour of its own. A colour may hold a hub several times. Each copy has an even part of its
mass, and all of them meet at their mean (R. Tonge et al., *Mass Splitting for Jitter-Free Parallel
Rigid Body Simulation*, 2012).
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .arrays import Booleans, Floats, Integers
from .compiled import declare, instead_of

_find_colors = declare("find_colors", "iippipp", "i")
CROWDED = 16
"""A particle of more edges than this is a hub."""


@dataclass(frozen=True, eq=False)
class Copies:
    """The entries of a batch that hold hubs."""

    entries: Integers
    """(s,)"""
    labels: Integers
    """(s,) number of the hub, counted from 0."""
    shares: Floats
    """(s,) 1 / number of its copies."""


def color_constraints(members: Integers, hubs: Booleans) -> tuple[Integers, Integers]:
    """Sorts constraints by colour, greedily in their order.

    Parameters
    ----------
    members : (m, k) the particles of each constraint.
    hubs : (n,) bool, particles that constraints of one colour may share.

    Returns
    -------
    order : (m,) constraints sorted by colour, in their own order within a colour.
    starts : (colours + 1,) where each colour begins in `order`.
    """
    colors = find_colors(members, hubs)
    order = np.argsort(colors, kind="stable")
    count = int(colors.max()) + 1 if len(colors) else 0
    return order, np.searchsorted(colors[order], np.arange(count + 1))


def find_colors_one_by_one(members: Integers, hubs: Booleans) -> Integers:
    """(m,) colours: each the first that no particle of the constraint has, or only hubs have."""
    used = [0] * len(hubs)
    shared = hubs.tolist()
    bits: list[int] = []
    for particles in members.tolist():
        taken = 0
        for particle in particles:
            taken |= used[particle]
        bit = ~taken & (taken + 1)
        for particle in particles:
            used[particle] |= 0 if shared[particle] else bit
        bits.append(bit)
    return np.array([bit.bit_length() - 1 for bit in bits], dtype=np.int64)


@instead_of(find_colors_one_by_one)
def find_colors(members: Integers, hubs: Booleans) -> Integers:
    """(m,) the same, by coloring.c."""
    members, hubs = np.ascontiguousarray(members), np.ascontiguousarray(hubs)
    colors, (m, k) = np.zeros(len(members), dtype=np.int64), members.shape
    words, enough = 0, False
    while not enough:
        words = max(1, 2 * words)  # of 64 colours
        used = np.zeros((len(hubs), words), dtype=np.int64)
        enough = bool(_find_colors(m, k, members, hubs, words, used, colors))
    return colors


def turns(members: Integers, moved: Booleans) -> list[Integers]:
    """Turns in which constraints can be solved at once, and yet as if one after the other.

    Parameters
    ----------
    members : (k, m) the particles of each constraint.
    moved : (k, m) bool, which of them it moves.

    Returns
    -------
    Each turn's constraints, ascending: those that come after all earlier ones that move a particle
    which they move, too.
    """
    latest: dict[int, int] = {}
    numbers = []
    for particles, moving in zip(members.T.tolist(), moved.T.tolist(), strict=True):
        mine = [one for one, moves in zip(particles, moving, strict=True) if moves]
        number = 1 + max((latest.get(one, -1) for one in mine), default=-1)
        latest.update(dict.fromkeys(mine, number))
        numbers.append(number)
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.cumsum(np.bincount(numbers))[:-1]) if numbers else []


def find_hubs(edges: Integers, particle_count: int) -> Booleans:
    """(n,) bool, where very many of the edges (m, 2) meet."""
    return np.asarray(np.bincount(edges.ravel(), minlength=particle_count) > CROWDED)


def count_copies(members: Integers, starts: Integers) -> Integers:
    """(m, …) how often the colour of each member, of the same shape, holds the same particle."""
    parts = [members[start:stop] for start, stop in pairwise(starts)]
    return np.concatenate([members[:0], *(np.bincount(part.ravel())[part] for part in parts)])


def gather_copies(particles: Integers, copies: Integers, masses: Floats) -> Copies | None:
    """The hubs of a batch (c,), given how often it holds each particle, and inverse masses.

    None without any. Copies of a pinned hub stay with it by themselves.
    """
    entries = np.flatnonzero((copies > 1) & (masses > 0.0))
    if not len(entries):
        return None
    _, labels = np.unique(particles[entries], return_inverse=True)
    return Copies(entries, labels.reshape(-1), 1.0 / copies[entries])


def meet(values: Floats, copies: Copies | None) -> None:
    """Puts all copies of each hub among the values (c,) at their mean."""
    if copies is not None:
        means = np.bincount(copies.labels, values[copies.entries] * copies.shares)
        values[copies.entries] = means[copies.labels]
