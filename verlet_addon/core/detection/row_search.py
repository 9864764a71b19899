"""The search for rows of pairs of owners, which threads share."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from ..arrays import Integers
from .detected_rows import DetectedRows, RowBuffer, join_rows, make_row_buffer
from .kernels import find_near_rows
from .search_criteria import SearchCriteria
from .surfaces import Surfaces

ROWS_PER_PARTICLE = 8
"""Capacity of a row buffer per particle; a search that finds more rows is repeated with a larger
buffer. Stacked layers have five rows per particle."""

SELF_LEAVES_PER_THREAD, PAIR_LEAVES_PER_THREAD = 2048, 512
"""Leaves (of two triangles each) per thread in self-collision, and in collision of two owners. With
fewer, waking a thread costs more time than the thread saves."""
TARGET_PARTS, MIN_PART_HEIGHT = 128, 8
"""A traversal of two BVHs is split into about this many parts, which threads take one by one, as
long as a BVH is higher than the second number, some hundred triangles."""


def find_rows(
    surfaces: Surfaces, pairs: Sequence[tuple[int, int]], criteria: SearchCriteria
) -> DetectedRows:
    """Finds the pairs of features of pairs of owners that satisfy the criteria.

    The BVHs must have been refitted to the motion.
    """
    walks = []
    for a, b in pairs:
        one, other = surfaces.bvhs[a], surfaces.bvhs[b]
        of_pair = criteria.for_pair(a, b, float(surfaces.gaps[a, b]), float(surfaces.longest[a]))
        nodes = _parts(one.height, other.height, own=a == b)
        walks.append((surfaces, one, other, of_pair, int(surfaces.max_tests[a, b]), nodes))
    max_threads = max((_thread_limit(surfaces, a, b) for a, b in pairs), default=0)
    capacity, used = ROWS_PER_PARTICLE * len(surfaces.owners), list[RowBuffer]()

    def search_parts() -> tuple[int, DetectedRows]:
        """Rows of the parts that this thread takes, after the number in excess of the capacity."""
        try:
            buffer = surfaces.row_buffers.pop()
        except IndexError:
            buffer = make_row_buffer(capacity)
        count = 0
        for walk, part in zip(walks, progress, strict=True):
            count = find_near_rows(*walk, part, buffer, count)
        if count <= buffer.capacity:
            used.append(buffer)
        return count - buffer.capacity, buffer.first(count)

    both = tuple(np.array(pairs, dtype=np.int64).reshape(-1, 2).T)
    before = np.stack([np.zeros(len(pairs), dtype=np.int64), surfaces.tests[both]], axis=1)
    while True:
        progress, used[:] = before.copy(), []
        shortfalls, found = zip(
            *surfaces.thread_pool.run_all(search_parts, max_threads=max_threads), strict=True
        )
        known = join_rows(found)
        surfaces.row_buffers.extend(used)
        if max(shortfalls) <= 0:
            surfaces.tests[both] = progress[:, 1]
            return known
        capacity += max(shortfalls)


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
