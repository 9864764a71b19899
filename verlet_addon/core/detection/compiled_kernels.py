"""Detection of contacts in C: what `numpy_kernels` and `numpy_walk` do."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from ..arrays import Booleans, Floats, Integers
from ..compiled import Packed, declare, instead_of, members, once, pack
from . import numpy_kernels as reference
from .reach import Reach, flush
from .rows import Gathered, Room, Rows, join_rows, make_room
from .surfaces import Surfaces
from .trees import Tree

_activate_tree = declare("activate_tree", "pp")
_weigh_rows = declare("weigh_rows", "prrirrri")
_gather_rows = declare("gather_rows", "prrrrripp")
_sum_weighted = declare("sum_weighted", "prirri")
_take_ways = declare("take_ways", "pprriii", "i")
_fit_trees = declare("fit_trees", "pppprr")
_refit_leaves = declare("refit_leaves", "ppp")
_refit_nodes = declare("refit_nodes", "pp")
_find_near_rows = declare("find_near_rows", "ppppdpippi", "i")

ROOM = 8
"""Rows that there is room for, for each particle: what finds more is searched again. Layers that
lie on each other have five for each."""

WORTH, WORTH_OF_OTHERS, WORTH_FITTING = 2048, 512, 4096
"""Each thread has so many leaves, twice as many triangles, to look at in what meets itself, or
another, or to fit. With fewer it takes longer to call one than it gains."""
LARGE = 2 * WORTH_FITTING
"""Trees of so many leaves are worth more than one thread; others are fitted by one call."""
PARTS, PART_HEIGHT = 128, 8
"""A walk through two trees is shared out in about so many parts, none of less than this height,
which is some hundred triangles."""


@once
def _surfaces(surfaces: Surfaces) -> Packed:
    """The surfaces of surfaces.h."""
    return pack(
        len(surfaces.owners),
        len(surfaces.gaps),
        surfaces.owners,
        surfaces.rest.T,
        surfaces.ways,
        surfaces.spans,
        surfaces.triangles.shape[1],
        surfaces.edges.shape[1],
        *members(
            surfaces,
            "triangles edges sides wings opposite_edges fans fan_starts near_starts near gaps "
            "single_sided colliders edge_turns corner_turns",
        ),
    )


def _pack_tree(tree: Tree) -> Packed:
    """The tree of surfaces.h."""
    return pack(
        *members(
            tree,
            "height corners triangles vertices vertex_starts edges edge_starts active joined "
            "joined_starts cones boxes ways spans turns",
        ),
    )


_tree = once(_pack_tree)


@instead_of(reference.take_ways)
def take_ways(surfaces: Surfaces, owner: int, start: Floats, end: Floats) -> bool:
    first, last = surfaces.starts[owner : owner + 2].tolist()
    return bool(_take_ways(surfaces.ways, surfaces.spans, start, end, start.shape[1], first, last))


@instead_of(reference.refit)
def refit(surfaces: Surfaces, owner: int) -> None:
    tree, taken = surfaces.trees[owner], np.zeros(1, dtype=np.int64)
    addresses = _tree(tree), _surfaces(surfaces)
    most = tree.leaves // WORTH_FITTING
    surfaces.crew.all_do(lambda: _refit_leaves(*addresses, taken), most=most)
    _refit_nodes(*addresses)


@instead_of(reference.fit_all)
def fit_all(surfaces: Surfaces, start: Floats, end: Floats) -> None:
    structs = _surfaces(surfaces), _fits(surfaces)
    _fit_trees(surfaces.ways, surfaces.spans, *structs, start, end)
    for owner in np.flatnonzero(surfaces.leaves >= LARGE).tolist():
        if surfaces.meets[owner].any() and take_ways(surfaces, owner, start, end):
            refit(surfaces, owner)


@once
def _fits(surfaces: Surfaces) -> Packed:
    """The fits of boxes.c."""
    owners = [each for each in surfaces.meeting_owners if surfaces.leaves[each] < LARGE]
    trees = pack(*(_pack_tree(surfaces.trees[owner]) for owner in owners))
    return pack(len(owners), np.array(owners, dtype=np.int64), surfaces.starts, trees)


@instead_of(reference.find_near)
def find_near(surfaces: Surfaces, pairs: Sequence[tuple[int, int]], reach: Reach) -> Rows:
    walks = [_walk(surfaces, a, b, reach.between(a, b)) for a, b in pairs]
    most = max((_worth(surfaces, a, b) for a, b in pairs), default=0)
    capacity, used = ROOM * len(surfaces.owners), list[Room]()

    def look() -> tuple[int, Rows]:
        """How many rows there are in the parts that this thread has taken on, and these rows."""
        try:
            room = surfaces.rooms.pop()
        except IndexError:
            room = make_room(capacity)
        count = 0
        for walk, part in zip(walks, taken, strict=True):
            count = _find_near_rows(*walk, part, _room(room), count)
        if count <= room.capacity:
            used.append(room)
        return count - room.capacity, room.first(count)

    while True:
        taken, used[:] = np.zeros((len(pairs), 1), dtype=np.int64), []
        lacks, found = zip(*surfaces.crew.all_do(look, most=most), strict=True)
        known = join_rows(found)
        surfaces.rooms.extend(used)
        if max(lacks) <= 0:
            return known
        capacity += max(lacks)


def _walk(surfaces: Surfaces, a: int, b: int, reach: Reach) -> tuple[Any, ...]:
    """What tells the kernel how to look for what two owners come near each other with."""
    trees, gap = (surfaces.trees[a], surfaces.trees[b]), float(surfaces.gaps[a, b])
    search = _search(reach, gap, float(surfaces.longest[a])).address
    nodes = _parts(trees[0].height, trees[1].height, own=a == b)
    margin = gap * reach.of_gap + float(reach.beyond)
    return _surfaces(surfaces), *map(_tree, trees), search, margin, nodes, len(nodes)


def _worth(surfaces: Surfaces, a: int, b: int) -> int:
    """By how many threads it is worth being looked for."""
    trees = surfaces.trees[a], surfaces.trees[b]
    wanted = sum(np.count_nonzero(tree.active[tree.leaves :]) for tree in trees)
    return min(wanted, *(tree.leaves for tree in trees)) // (WORTH if a == b else WORTH_OF_OTHERS)


@cache
def _search(reach: Reach, gap: float, longest: float) -> Packed:
    """The search of pairs.h, for two owners that are kept so far apart."""
    limits = flush(reach, gap, longest)
    return pack(reach.beyond, reach.of_gap, reach.of_start, *limits, int(reach.all_touching))


@once
def _room(room: Room) -> Packed:
    """The rows of pairs.h."""
    return pack(room.capacity, room.features, room.weights, room.normals, room.gaps)


@cache
def _parts(height: int, other_height: int, *, own: bool) -> Integers:
    """(p, 2) pairs of nodes of two trees, or of one and itself, that make up the whole walk.

    Each is worth a thread's while, and they are many enough to share out evenly.
    """
    pairs = [(1, 1)]
    while max(height, other_height) > PART_HEIGHT and len(pairs) < PARTS:
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


@instead_of(reference.activate)
def activate(tree: Tree, active: Booleans) -> None:
    _activate_tree(_tree(tree), active)


@instead_of(reference.gather_rows)
def gather_rows(surfaces: Surfaces, rows: Rows, order: Integers) -> Gathered:
    count = len(order)
    integers, numbers = np.empty((6, count), dtype=np.int64), np.empty((8, count))
    _gather_rows(_surfaces(surfaces), *rows, order, count, integers, numbers)
    return integers[:4], numbers[:4], numbers[4:7], numbers[7], integers[4:]


@instead_of(reference.sum_weighted)
def sum_weighted(positions: Floats, particles: Integers, weights: Floats) -> Floats:
    k = particles.shape[1]
    sums = np.empty((3, k))
    _sum_weighted(sums, positions, positions.shape[1], particles, weights, k)
    return sums


@instead_of(reference.weigh)
def weigh(
    positions: Floats, inverse_masses: Floats, particles: Integers, weights: Floats, normals: Floats
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    n, k = positions.shape[1], particles.shape[1]
    numbers = np.empty((10, k))
    _weigh_rows(numbers, positions, inverse_masses, n, particles, weights, normals, k)
    return numbers[:4], numbers[4], numbers[5], numbers[6:9], numbers[9]
