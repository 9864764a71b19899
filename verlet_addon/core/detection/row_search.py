"""The search for rows: owners near each other, and their pairs of features, shared by threads."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from ..arrays import Integers, concatenated, selected
from ..geometry.sweep_and_prune import find_near_boxes
from .bvh_traversal import ROUNDING_MARGIN
from .kernels import find_near_rows
from .searches import DetectedRows, SearchCriteria, room_for_rows
from .surfaces import Surfaces

ROWS_PER_PARTICLE = 8
"""Capacity of a row buffer per particle; a search that finds more rows is repeated with a larger
buffer. Stacked layers have five rows per particle."""

SELF_LEAVES_PER_THREAD, PAIR_LEAVES_PER_THREAD = 2048, 512
"""Leaves (of two triangles each) per thread in self-collision, and in collision of two owners. With
fewer, waking a thread costs more time than the thread saves."""
TARGET_PARTS, MIN_PART_HEIGHT = 128, 8
"""Sizes: a traversal of two BVHs is split into about this many parts, which threads take one by
one, as long as a BVH is higher than the second number, some hundred triangles."""

FEW_OWNERS = 64
"""Number of owners up to which all pairs are tested, in place of sweep and prune: a cloth on a ball
takes 9 % less time. With half, 64 owners take 6 % more; with twice, they take as long."""


def overlapping_owners(surfaces: Surfaces, criteria: SearchCriteria) -> list[tuple[int, int]]:
    """Pairs of colliding owners whose swept boxes are within gap and skin.

    The BVHs must have been refitted. Those of distant owners are not traversed.
    """
    boxes = np.array([bvh.boxes[1] for bvh in surfaces.bvhs])
    if len(boxes) <= FEW_OWNERS:
        both = np.stack(np.nonzero(np.triu(surfaces.collides)))
    else:
        widest = float(surfaces.gaps.max() * criteria.gap_share + np.max(criteria.skin))
        corners = boxes[:, :, :3].astype(float) * np.array([[1.0], [-1.0]])
        near = find_near_boxes(corners[:, 0], corners[:, 1], widest * (1.0 + ROUNDING_MARGIN))
        own = np.tile(np.flatnonzero(surfaces.collides.diagonal()), (2, 1))
        both = np.concatenate([near[:, surfaces.collides[near[0], near[1]]], own], axis=1)
    margins = (surfaces.gaps * criteria.gap_share + criteria.skin)[both[0], both[1]]
    near = both[:, (boxes[both, 0] + boxes[both[::-1], 1] <= margins[:, None]).all(axis=(0, 2))]
    pairs = [(first, second) for first, second in near[:, np.lexsort(near[::-1])].T.tolist()]
    return [pair for pair in pairs if pair not in surfaces.given_up]


def find_rows(
    surfaces: Surfaces, pairs: Sequence[tuple[int, int]], criteria: SearchCriteria
) -> DetectedRows:
    """Finds the pairs of features of pairs of owners that satisfy the criteria.

    Pairs of exempt features are left out. The BVHs must have been refitted to the motion.
    """
    walks = []
    for a, b in pairs:
        one, other = surfaces.bvhs[a], surfaces.bvhs[b]
        of_pair = criteria.for_pair(a, b, float(surfaces.gaps[a, b]), float(surfaces.longest[a]))
        nodes = _parts(one.height, other.height, own=a == b)
        walks.append((surfaces, one, other, of_pair, int(surfaces.max_tests[a, b]), nodes))
    max_threads = max((_thread_limit(surfaces, a, b) for a, b in pairs), default=0)
    capacity, used = ROWS_PER_PARTICLE * len(surfaces.owners), list[DetectedRows]()

    def search_parts() -> tuple[int, DetectedRows]:
        """Rows of the parts that this thread takes, after the number in excess of the capacity."""
        try:
            buffer = surfaces.row_buffers.pop()
        except IndexError:
            buffer = room_for_rows(capacity)
        count = 0
        for walk, part in zip(walks, progress, strict=True):
            count = find_near_rows(*walk, part, buffer, count)
        if count <= buffer.capacity:
            used.append(buffer)
        return count - buffer.capacity, buffer.first(count)

    both = tuple(np.array(pairs, dtype=np.int64).reshape(-1, 2).T)
    before = np.zeros((len(pairs), 3), dtype=np.int64)
    before[:, 1] = surfaces.tests[both]
    while True:
        progress, used[:] = before.copy(), []
        shortfalls, found = zip(
            *surfaces.thread_pool.run_all(search_parts, max_threads=max_threads), strict=True
        )
        surfaces.row_buffers.extend(used)
        if max(shortfalls) <= 0:
            _count_tests(surfaces, both, progress)
            return _without_exempt(surfaces, concatenated(*found, axis=-1))
        capacity += max(shortfalls)


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


def _without_exempt(surfaces: Surfaces, rows: DetectedRows) -> DetectedRows:
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
