"""The search for rows and near pairs: owners near each other, then features, shared by threads."""

import numpy as np

from ...arrays import Integers, concatenated, selected
from ...geometry.sweep_and_prune import find_near_boxes
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

SELF_LEAVES_PER_THREAD, PAIR_LEAVES_PER_THREAD = 2048, 512
"""Leaves (of two triangles each) per thread in self-collision, and in collision of two owners. With
fewer, waking a thread costs more time than the thread saves."""

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
    used = list[tuple[DetectedRows, NearPairs]]()

    def search_parts() -> tuple[Integers, DetectedRows, NearPairs]:
        """What is in the parts that this thread takes, after the numbers beyond the capacity."""
        try:
            buffers = surfaces.buffers.pop()
        except IndexError:
            buffers = room_for_rows(capacity[0]), room_for_near_pairs(capacity[1])
        counts = np.zeros(2, dtype=np.int64)
        find_near_rows(surfaces, pairs, criteria, slack, progress, *buffers, counts)
        counts -= [buffer.capacity for buffer in buffers]
        if (counts <= 0).all():
            used.append(buffers)
        rows, near = buffers
        return counts, rows.first(rows.capacity + counts[0]), near.first(near.capacity + counts[1])

    before = np.zeros((len(pairs.pairs), 3), dtype=np.int64)
    before[:, 1] = surfaces.tests[tuple(pairs.owners)]
    most = _most_threads(surfaces, pairs)
    while True:
        progress, used[:] = before.copy(), []
        shortfalls, rows, near = zip(
            *surfaces.thread_pool.run_all(search_parts, max_threads=most), strict=True
        )
        surfaces.buffers.extend(used)
        lacks = np.max(shortfalls, axis=0)
        if (lacks <= 0).all():
            _count_tests(surfaces, pairs.owners, progress)
            found = without_exempt(surfaces, concatenated(*rows, axis=-1))
            return found, concatenated(*near, axis=-1)
        capacity += np.maximum(lacks, 0)


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


def _most_threads(surfaces: Surfaces, pairs: BVHPairs) -> int:
    """Largest number of threads worth using for any pair of owners."""
    a, b = pairs.owners
    active = surfaces.active_leaves[a] + surfaces.active_leaves[b]
    each = np.where(a == b, SELF_LEAVES_PER_THREAD, PAIR_LEAVES_PER_THREAD)
    return int((np.minimum(active, pairs.leaves) // each).max(initial=0))


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
