"""Detection kernels in C, with the same results as `numpy_kernels` and `numpy_bvh`."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from ..arrays import Booleans, Floats, Integers
from ..compiled import Packed, cached_struct, declare, falls_back_to, members, pack
from . import numpy_kernels as reference
from .bvh import BVH
from .detected_rows import DetectedRows, GatheredRows, RowBuffer, join_rows, make_row_buffer
from .search_criteria import SearchCriteria, flush_limits
from .surfaces import Surfaces

_activate_bvh = declare("activate_bvh", "pp")
_compute_row_terms = declare("compute_row_terms", "prrirrri")
_gather_rows = declare("gather_rows", "prrrrripp")
_sum_weighted = declare("sum_weighted", "prirri")
_update_paths = declare("update_paths", "pprriii", "i")
_fit_trees = declare("fit_trees", "pppprr")
_refit_leaves = declare("refit_leaves", "ppp")
_refit_nodes = declare("refit_nodes", "pp")
_find_near_rows = declare("find_near_rows", "ppppdipippi", "i")

ROWS_PER_PARTICLE = 8
"""Capacity of a row buffer per particle; a search that finds more rows is repeated with a larger
buffer. Stacked layers have five rows per particle."""

SELF_LEAVES_PER_THREAD, PAIR_LEAVES_PER_THREAD, REFIT_LEAVES_PER_THREAD = 2048, 512, 4096
"""Leaves (of two triangles each) per thread in self-collision, in collision of two owners, and in a
refit. With fewer, waking a thread costs more time than the thread saves."""
LARGE = 2 * REFIT_LEAVES_PER_THREAD
"""BVHs of this many leaves are refitted by several threads each; all smaller ones in one call."""
TARGET_PARTS, MIN_PART_HEIGHT = 128, 8
"""A traversal of two BVHs is split into about this many parts, which threads take one by one, as
long as a BVH is higher than the second number, some hundred triangles."""


@cached_struct
def _surfaces(surfaces: Surfaces) -> Packed:
    """The struct `surfaces` of surfaces.h."""
    return pack(
        len(surfaces.owners),
        len(surfaces.gaps),
        surfaces.owners,
        surfaces.rest.T,
        surfaces.paths,
        surfaces.swept_boxes,
        surfaces.triangles.shape[1],
        surfaces.edges.shape[1],
        *members(
            surfaces,
            "triangles edges sides wings opposite_edges fans fan_starts near_starts near gaps "
            "single_sided colliders active edge_turns corner_turns clearances",
        ),
    )


def _pack_tree(bvh: BVH) -> Packed:
    """The struct `bvh` of surfaces.h."""
    return pack(
        *members(
            bvh,
            "height corners triangles vertices vertex_starts edges edge_starts active connected "
            "connected_starts cones boxes edge_paths swept_boxes turns",
        ),
    )


_bvh = cached_struct(_pack_tree)


@falls_back_to(reference.update_paths)
def update_paths(surfaces: Surfaces, owner: int, start: Floats, end: Floats) -> bool:
    first, last = surfaces.starts[owner : owner + 2].tolist()
    return bool(
        _update_paths(surfaces.paths, surfaces.swept_boxes, start, end, start.shape[1], first, last)
    )


@falls_back_to(reference.refit)
def refit(surfaces: Surfaces, owner: int) -> None:
    bvh, taken = surfaces.bvhs[owner], np.zeros(1, dtype=np.int64)
    addresses = _bvh(bvh), _surfaces(surfaces)
    max_threads = bvh.leaves // REFIT_LEAVES_PER_THREAD
    surfaces.thread_pool.run_all(lambda: _refit_leaves(*addresses, taken), max_threads=max_threads)
    _refit_nodes(*addresses)


@falls_back_to(reference.fit_all)
def fit_all(surfaces: Surfaces, start: Floats, end: Floats) -> None:
    structs = _surfaces(surfaces), _refit_list(surfaces)
    _fit_trees(surfaces.paths, surfaces.swept_boxes, *structs, start, end)
    for owner in np.flatnonzero(surfaces.leaves >= LARGE).tolist():
        if surfaces.collides[owner].any() and update_paths(surfaces, owner, start, end):
            refit(surfaces, owner)


@cached_struct
def _refit_list(surfaces: Surfaces) -> Packed:
    """The struct `fits` of bvh_refit.c."""
    owners = [each for each in surfaces.colliding_owners if surfaces.leaves[each] < LARGE]
    bvhs = pack(*(_pack_tree(surfaces.bvhs[owner]) for owner in owners))
    return pack(len(owners), np.array(owners, dtype=np.int64), surfaces.starts, bvhs)


@falls_back_to(reference.find_rows)
def find_rows(
    surfaces: Surfaces, pairs: Sequence[tuple[int, int]], criteria: SearchCriteria
) -> DetectedRows:
    walks = [_traversal_arguments(surfaces, a, b, criteria.for_pair(a, b)) for a, b in pairs]
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
            count = _find_near_rows(*walk, part, _row_buffer(buffer), count)
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


def _traversal_arguments(
    surfaces: Surfaces, a: int, b: int, criteria: SearchCriteria
) -> tuple[Any, ...]:
    """Arguments of `find_near_rows` for two owners."""
    bvhs, gap = (surfaces.bvhs[a], surfaces.bvhs[b]), float(surfaces.gaps[a, b])
    criteria_struct = _criteria_struct(criteria, gap, float(surfaces.longest[a])).address
    nodes = _parts(bvhs[0].height, bvhs[1].height, own=a == b)
    margin, most = gap * criteria.gap_share + float(criteria.skin), int(surfaces.max_tests[a, b])
    return _surfaces(surfaces), *map(_bvh, bvhs), criteria_struct, margin, most, nodes, len(nodes)


def _thread_limit(surfaces: Surfaces, a: int, b: int) -> int:
    """Number of threads worth using for two owners."""
    bvhs = surfaces.bvhs[a], surfaces.bvhs[b]
    wanted = sum(np.count_nonzero(bvh.active[bvh.leaves :]) for bvh in bvhs)
    return min(wanted, *(bvh.leaves for bvh in bvhs)) // (
        SELF_LEAVES_PER_THREAD if a == b else PAIR_LEAVES_PER_THREAD
    )


@cache
def _criteria_struct(criteria: SearchCriteria, gap: float, longest: float) -> Packed:
    """The struct `search_criteria` of pairs.h, for two owners with this gap."""
    limits = flush_limits(criteria, gap, longest)
    return pack(
        criteria.skin,
        criteria.gap_share,
        criteria.start_share,
        *limits,
        int(criteria.all_touching),
        int(criteria.measures_clearances),
    )


@cached_struct
def _row_buffer(buffer: RowBuffer) -> Packed:
    """The struct `rows` of pairs.h."""
    return pack(buffer.capacity, buffer.features, buffer.weights, buffer.normals, buffer.gaps)


@cache
def _parts(height: int, other_height: int, *, own: bool) -> Integers:
    """(p, 2) pairs of nodes of two BVHs, or of one and itself, that cover the whole traversal."""
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
    return np.array(pairs, dtype=np.int64)


@falls_back_to(reference.activate)
def activate(bvh: BVH, active: Booleans) -> None:
    _activate_bvh(_bvh(bvh), active)


@falls_back_to(reference.gather_rows)
def gather_rows(surfaces: Surfaces, rows: DetectedRows, order: Integers) -> GatheredRows:
    count = len(order)
    integers, numbers = np.empty((6, count), dtype=np.int64), np.empty((8, count))
    _gather_rows(_surfaces(surfaces), *rows, order, count, integers, numbers)
    return integers[:4], numbers[:4], numbers[4:7], numbers[7], integers[4:]


@falls_back_to(reference.sum_weighted)
def sum_weighted(positions: Floats, particles: Integers, weights: Floats) -> Floats:
    k = particles.shape[1]
    sums = np.empty((3, k))
    _sum_weighted(sums, positions, positions.shape[1], particles, weights, k)
    return sums


@falls_back_to(reference.compute_row_terms)
def compute_row_terms(
    positions: Floats, inverse_masses: Floats, particles: Integers, weights: Floats, normals: Floats
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    n, k = positions.shape[1], particles.shape[1]
    numbers = np.empty((10, k))
    _compute_row_terms(numbers, positions, inverse_masses, n, particles, weights, normals, k)
    return numbers[:4], numbers[4], numbers[5], numbers[6:9], numbers[9]
