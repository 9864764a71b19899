"""The search for rows and near pairs: owners near each other, then features, shared by threads."""

import numpy as np

from ...arrays import Integers, concatenated, selected
from ...geometry.sweep_and_prune import find_near_boxes
from ...team.threads import threads_at_work
from ..broad_phase.bvh_traversal import ROUNDING_MARGIN, BVHPairs
from ..broad_phase.searches import (
    DetectedRows,
    NearPairs,
    SearchCriteria,
    room_for_near_pairs,
    room_for_rows,
)
from ..broad_phase.surfaces import Surfaces
from .kernels import find_near_rows

ROWS_PER_PARTICLE = 8
"""Capacity of buffers of rows and near pairs per particle; a search that finds more is repeated
with larger buffers. Stacked layers have five rows per particle."""

FEW_OWNERS = 64
"""Number of owners up to which all pairs are tested, in place of sweep and prune: a cloth on a ball
takes 9 % less time. With half, 64 owners take 6 % more; with twice, they take as long."""


def candidate_owners(surfaces: Surfaces, criteria: SearchCriteria, slack: float) -> BVHPairs:
    """The pairs of colliding owners that may be within gap and skin, in order.

    The BVHs must have been refitted to the motion, or to one that is within a slack [m].
    """
    given_up = surfaces.given_up
    if len(surfaces.bvhs) <= FEW_OWNERS:
        pairs = surfaces.all_pairs
        if not given_up:  # the usual case
            return pairs
        return BVHPairs([pair for pair in pairs.pairs if (pair.first, pair.second) not in given_up])
    boxes = np.array([bvh.boxes[1] for bvh in surfaces.bvhs])
    widest = float(surfaces.gaps.max()) * criteria.gap_share + slack
    corners = boxes[:, :, :3].astype(float) * np.array([[1.0], [-1.0]])
    near = find_near_boxes(corners[:, 0], corners[:, 1], widest * (1.0 + ROUNDING_MARGIN))
    own = np.tile(np.flatnonzero(surfaces.collides.diagonal()), (2, 1))
    both = np.concatenate([near[:, surfaces.collides[near[0], near[1]]], own], axis=1)
    margins = (surfaces.gaps * criteria.gap_share)[both[0], both[1]] + slack
    near = both[:, (boxes[both, 0] + boxes[both[::-1], 1] <= margins[:, None]).all(axis=(0, 2))]
    owners = near[:, np.lexsort(near[::-1])].T.tolist()
    return BVHPairs([surfaces.pair_of(*pair) for pair in owners if tuple(pair) not in given_up])


def find_rows(
    surfaces: Surfaces, pairs: BVHPairs, criteria: SearchCriteria, slack: float = 0.0
) -> tuple[DetectedRows, NearPairs]:
    """Finds the pairs of features of pairs of owners that satisfy the criteria, and the near ones.

    Pairs of exempt features have no rows. The BVHs must have been refitted to the motion, or to one
    that is within a slack [m].
    """
    capacity = np.full(2, ROWS_PER_PARTICLE * len(surfaces.owners))
    before = np.zeros((len(pairs.pairs), 3), dtype=np.int64)
    before[:, 1] = surfaces.tests[tuple(pairs.owners)]
    while True:
        buffers = _take_buffers(surfaces, capacity)
        rows, near = zip(*buffers, strict=True)
        progress, counts = before.copy(), np.zeros((len(buffers), 2), dtype=np.int64)
        find_near_rows(surfaces, pairs, criteria, slack, progress, rows, near, counts)
        rooms = np.array([[room.capacity for room in both] for both in buffers])
        if (counts <= rooms).all():
            surfaces.buffers[: len(buffers)] = buffers  # those of further threads stay
            _count_tests(surfaces, pairs.owners, progress)
            parts = counts.tolist()
            found = (room.first(count) for room, (count, _) in zip(rows, parts, strict=True))
            listed = (room.first(count) for room, (_, count) in zip(near, parts, strict=True))
            exempted = without_exempt(surfaces, concatenated(*found, axis=-1))
            return exempted, concatenated(*listed, axis=-1)
        capacity = np.maximum(capacity, counts.max(axis=0))
        surfaces.buffers.clear()


def _take_buffers(surfaces: Surfaces, capacity: Integers) -> list[tuple[DetectedRows, NearPairs]]:
    """Room for each thread, kept from the searches before or made for so many rows and pairs."""
    count = threads_at_work()
    kept = surfaces.buffers[:count]
    return [
        *kept,
        *(
            (room_for_rows(int(capacity[0])), room_for_near_pairs(int(capacity[1])))
            for _ in range(count - len(kept))
        ),
    ]


def _count_tests(surfaces: Surfaces, owners: Integers, progress: Integers) -> None:
    """Counts the tests of a search of pairs of owners (2, p): their `progress` (p, 3).

    How far a traversal gets beyond the limit of its owners depends on the threads, so that is left
    out.
    """
    searched = np.flatnonzero(progress[:, 0])
    both, progress = tuple(owners[:, searched]), progress[searched]
    limits = surfaces.max_tests[both]
    tests = np.minimum(progress[:, 1], limits + 1)
    surfaces.work.leaf_tests += int((tests - surfaces.tests[both]).sum())
    surfaces.work.pair_tests += int(progress[progress[:, 1] <= limits, 2].sum())
    surfaces.tests[both] = tests
    surfaces.count_searches(owners[:, searched])


def without_exempt(surfaces: Surfaces, rows: DetectedRows) -> DetectedRows:
    """Removes rows of features whose particles are all exempt from contact with the other owner."""
    if not surfaces.exempt.any():
        return rows
    kind, first, second = rows.features
    passes, edges = np.zeros(len(kind), dtype=bool), surfaces.edges
    for of_kind, of_first, of_second in (
        (kind == 0, np.arange(len(surfaces.owners))[None], surfaces.triangles),
        (kind == 1, edges, edges),
    ):
        one, other = of_first[:, first[of_kind]], of_second[:, second[of_kind]]
        own = (surfaces.owners[one[0]] == surfaces.owners[other[0]]).astype(int)
        passes[of_kind] = surfaces.exempt[own, one].all(axis=0)
        passes[of_kind] |= surfaces.exempt[own, other].all(axis=0)
    return selected(rows, ~passes)
