"""What users may be told of contacts, counted step by step."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Booleans, Floats, Integers, magnitudes, sum_by, sum_rows
from ..contact.response import ContactRows
from ..detection.proximity import nearest_on_edges, nearest_on_triangle
from ..detection.surfaces import Surfaces

CROWDED = 0.5
"""Pairs that end a step nearer than their gap by this share of it have found no room."""
ONE_SIDED = 0.5
"""What contacts push together by this share of what they push one by one has room on the other
side: a sharp tip only presses far into what hangs on it."""
MANY, FEW = 4, 2000
"""More contacts than so many for each vertex that touches take long, if there are more than a few:
layers that lie on each other have two or three."""


@dataclass(eq=False)
class Tally:
    """Counted since it was last read, but for what has been told."""

    deepest: Floats
    """(owners,) how much nearer than its gap each came to anything."""
    crowded: Integers
    """(owners, owners) in how many steps two ended too near to each other."""
    many: Integers
    """(owners, owners) in how many steps two had far more contacts than vertices that touch."""
    steps: int
    """Steps with contacts."""
    told: Booleans
    """(owners,) whose lack of room has been told."""
    told_many: Booleans
    """(owners, owners) whose many contacts have."""


def start_tally(owners: int) -> Tally:
    """Nothing has been counted yet."""
    both = (owners, owners)
    return Tally(
        deepest=np.zeros(owners),
        crowded=np.zeros(both, dtype=np.int64),
        many=np.zeros(both, dtype=np.int64),
        steps=0,
        told=np.zeros(owners, dtype=bool),
        told_many=np.zeros(both, dtype=bool),
    )


def count_step(
    tally: Tally, surfaces: Surfaces, rows: ContactRows, depths: Floats, positions: Floats
) -> None:
    """Counts the rows of one step, which end so much nearer (k,) than their gaps [m].

    That is along their normals; what ends beside what it met on its way, at positions (3, N), is
    no nearer than it is.
    """
    tally.steps += 1
    if not len(depths):
        return  # as mostly, with colliders that are far away
    deep = np.flatnonzero(depths > CROWDED * rows.gaps)
    depths[deep] = np.minimum(depths[deep], rows.gaps[deep] - _apart(rows, deep, positions))
    first, second = surfaces.owners[rows.particles[[0, 3]]]
    deeper = np.flatnonzero(depths > tally.deepest.min())
    for owners in (first, second):
        np.maximum.at(tally.deepest, owners[deeper], depths[deeper])
    near = np.flatnonzero(depths > np.maximum(CROWDED * rows.gaps, 0.0))
    if len(near):
        near = _squeezed(rows, near, len(surfaces.owners))
        tally.crowded += _between(first[near], second[near], len(tally.told)) > 0
    counts = _between(first, second, len(tally.told)) if len(depths) > FEW else None
    if counts is None or counts.max() <= FEW:
        return
    own = np.zeros(len(surfaces.owners), dtype=bool)
    own[rows.particles] = True
    touching = np.bincount(surfaces.owners[own], minlength=len(tally.told))
    touching[surfaces.colliders] = 0
    both = touching[:, None] + touching
    np.fill_diagonal(both, touching)
    tally.many += counts > np.maximum(MANY * both, FEW)


def _squeezed(rows: ContactRows, which: Integers, count: int) -> Integers:
    """Those of some rows that press what is pushed from opposite sides, on either side of them.

    There are so many particles in all.
    """
    touching, pushes = rows.particles.ravel(), rows.weights * rows.pushed
    sums = sum_rows(touching, (rows.normals[:, None] * pushes).reshape(3, -1), count)
    sizes = sum_by(touching, np.abs(pushes).ravel(), count)
    own, moves = rows.particles[:, which], rows.pulls[:, which] != 0.0
    squeezed = np.zeros(len(which), dtype=bool)
    for its in (rows.weights[:, which] > 0.0, rows.weights[:, which] < 0.0):
        together = magnitudes((sums[:, own] * (its & moves)).sum(axis=1))
        one_by_one = (sizes[own] * (its & moves)).sum(axis=0)
        squeezed |= together < ONE_SIDED * one_by_one
    return np.asarray(which[squeezed])


def _apart(rows: ContactRows, which: Integers, positions: Floats) -> Floats:
    """(k,) how far apart the features of some rows are [m]."""
    apart = np.empty(len(which))
    by_vertex = np.signbit(rows.weights[1, which])
    for its, nearest in ((by_vertex, nearest_on_triangle), (~by_vertex, nearest_on_edges)):
        if its.any():
            apart[its] = nearest(positions[:, rows.particles[:, which[its]]])[2]
    return apart


def start_frame(tally: Tally) -> None:
    """Begins to count anew."""
    tally.crowded.fill(0)
    tally.many.fill(0)
    tally.steps = 0


def _between(first: Integers, second: Integers, owners: int) -> Integers:
    """(owners, owners) how many rows any two have, whichever comes first."""
    keys = np.minimum(first, second) * owners + np.maximum(first, second)
    counts = np.bincount(keys, minlength=owners * owners).reshape(owners, owners)
    return np.asarray(np.maximum(counts, counts.T))
