"""The search for rows and near pairs: owners near each other, then features, shared by threads."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from ..arrays import Integers, concatenated, selected
from ..geometry.sweep_and_prune import find_near_boxes
from .bvh import BVH
from .bvh_traversal import ROUNDING_MARGIN
from .kernels import find_near_rows
from .searches import (
    DetectedRows,
    NearPairs,
    PairCriteria,
    SearchCriteria,
    room_for_near_pairs,
    room_for_rows,
)
from .surfaces import Surfaces

ROWS_PER_PARTICLE = 8
"""Capacity of buffers of rows and near pairs per particle; a search that finds more is repeated
with larger buffers. Stacked layers have five rows per particle."""

SELF_LEAVES_PER_THREAD, PAIR_LEAVES_PER_THREAD = 2048, 512
"""Leaves (of two triangles each) per thread in self-collision, and in collision of two owners. With
fewer, waking a thread costs more time than the thread saves."""
TARGET_PARTS, MIN_PART_HEIGHT = 128, 8
"""Sizes: a traversal of two BVHs is split into about this many parts, which threads take one by
one, as long as a BVH is higher than the second number, some hundred triangles."""

FEW_OWNERS = 64
"""Number of owners up to which all pairs are tested, in place of sweep and prune: a cloth on a ball
takes 9 % less time. With half, 64 owners take 6 % more; with twice, they take as long."""


def overlapping_owners(
    surfaces: Surfaces, criteria: SearchCriteria, slack: float = 0.0
) -> list[tuple[int, int]]:
    """Pairs of colliding owners whose swept boxes are within gap and skin.

    The BVHs must have been refitted to the motion, or to one that is within a slack [m]. Those of
    distant owners are not traversed.
    """
    boxes = np.array([bvh.boxes[1] for bvh in surfaces.bvhs])
    if len(boxes) <= FEW_OWNERS:
        both = np.stack(np.nonzero(np.triu(surfaces.collides)))
    else:
        widest = float(surfaces.gaps.max() * criteria.gap_share + np.max(criteria.skin)) + slack
        corners = boxes[:, :, :3].astype(float) * np.array([[1.0], [-1.0]])
        near = find_near_boxes(corners[:, 0], corners[:, 1], widest * (1.0 + ROUNDING_MARGIN))
        own = np.tile(np.flatnonzero(surfaces.collides.diagonal()), (2, 1))
        both = np.concatenate([near[:, surfaces.collides[near[0], near[1]]], own], axis=1)
    margins = (surfaces.gaps * criteria.gap_share + criteria.skin)[both[0], both[1]] + slack
    near = both[:, (boxes[both, 0] + boxes[both[::-1], 1] <= margins[:, None]).all(axis=(0, 2))]
    pairs = [(first, second) for first, second in near[:, np.lexsort(near[::-1])].T.tolist()]
    return [pair for pair in pairs if pair not in surfaces.given_up]


def find_rows(
    surfaces: Surfaces,
    pairs: Sequence[tuple[int, int]],
    criteria: SearchCriteria,
    slack: float = 0.0,
) -> tuple[DetectedRows, NearPairs]:
    """Finds the pairs of features of pairs of owners that satisfy the criteria, and the near ones.

    Pairs of exempt features have no rows. The BVHs must have been refitted to the motion, or to one
    that is within a slack [m].
    """
    walks = [_walk(surfaces, a, b, criteria) for a, b in pairs]
    max_threads = max((_thread_limit(surfaces, a, b) for a, b in pairs), default=0)
    capacity = np.full(2, ROWS_PER_PARTICLE * len(surfaces.owners))
    used = list[tuple[DetectedRows, NearPairs]]()

    def search_parts() -> tuple[Integers, DetectedRows, NearPairs]:
        """What is in the parts that this thread takes, after the numbers beyond the capacity."""
        try:
            buffers = surfaces.buffers.pop()
        except IndexError:
            buffers = room_for_rows(capacity[0]), room_for_near_pairs(capacity[1])
        counts = np.zeros(2, dtype=np.int64)
        for walk, part in zip(walks, progress, strict=True):
            find_near_rows(*walk, slack, part, *buffers, counts)
        counts -= [buffer.capacity for buffer in buffers]
        if (counts <= 0).all():
            used.append(buffers)
        rows, near = buffers
        return counts, rows.first(rows.capacity + counts[0]), near.first(near.capacity + counts[1])

    both = tuple(np.array(pairs, dtype=np.int64).reshape(-1, 2).T)
    before = np.insert(np.zeros((len(pairs), 2), np.int64), 1, surfaces.tests[both], axis=1)
    while True:
        progress, used[:] = before.copy(), []
        shortfalls, rows, near = zip(
            *surfaces.thread_pool.run_all(search_parts, max_threads=max_threads), strict=True
        )
        surfaces.buffers.extend(used)
        lacks = np.max(shortfalls, axis=0)
        if (lacks <= 0).all():
            _count_tests(surfaces, both, progress)
            found = without_exempt(surfaces, concatenated(*rows, axis=-1))
            return found, concatenated(*near, axis=-1)
        capacity += np.maximum(lacks, 0)


def _count_tests(surfaces: Surfaces, both: tuple[Integers, Integers], progress: Integers) -> None:
    """Counts the tests of a search of pairs of owners: their `progress` (p, 3).

    How far a traversal gets beyond the limit of its owners depends on the threads, so that is left
    out.
    """
    limits = surfaces.max_tests[both]
    tests = np.minimum(progress[:, 1], limits + 1)
    surfaces.work.leaf_tests += int((tests - surfaces.tests[both]).sum())
    surfaces.work.pair_tests += int(progress[progress[:, 1] <= limits, 2].sum())
    surfaces.tests[both] = tests


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


def _walk(
    surfaces: Surfaces, a: int, b: int, criteria: SearchCriteria
) -> tuple[Surfaces, BVH, BVH, PairCriteria, int, Integers]:
    """The first arguments of `find_near_rows` for two owners."""
    one, other = surfaces.bvhs[a], surfaces.bvhs[b]
    of_pair = criteria.for_pair(a, b, float(surfaces.gaps[a, b]), float(surfaces.longest[a]))
    nodes = _parts(one.height, other.height, own=a == b)
    return surfaces, one, other, of_pair, int(surfaces.max_tests[a, b]), nodes


def _thread_limit(surfaces: Surfaces, a: int, b: int) -> int:
    """Number of threads worth using for two owners."""
    bvhs = surfaces.bvhs[a], surfaces.bvhs[b]
    wanted = sum(np.count_nonzero(bvh.active[bvh.leaves :]) for bvh in bvhs)
    return min(wanted, *(bvh.leaves for bvh in bvhs)) // (
        SELF_LEAVES_PER_THREAD if a == b else PAIR_LEAVES_PER_THREAD
    )


@cache
def _parts(height: int, other_height: int, *, own: bool) -> Integers:
    """(2, p) pairs of nodes of two BVHs, or of one and itself, that cover the whole traversal."""
    pairs = [(1, 1)]
    while max(height, other_height) > MIN_PART_HEIGHT and len(pairs) < TARGET_PARTS:
        if own:
            pairs = [
                pair
                for a, b in pairs
                for pair in ((2 * a, 2 * b), (2 * a + 1, 2 * b + 1), (2 * a, 2 * b + 1))
                + (((2 * a + 1, 2 * b),) if a != b else ())
            ]
            height, other_height = height - 1, other_height - 1
        elif other_height > height:
            pairs = [(a, child) for a, b in pairs for child in (2 * b, 2 * b + 1)]
            other_height -= 1
        else:
            pairs = [(child, b) for a, b in pairs for child in (2 * a, 2 * a + 1)]
            height -= 1
    return np.array(pairs, dtype=np.int64).T.copy()
