"""Detection of contacts in C: what `numpy_kernels` does, by the functions of kernels.c."""

import numpy as np

from ..arrays import Booleans, Floats, Integers
from ..compiled import Packed, address, declare, once, pack
from .reach import Reach, flush
from .surfaces import Surfaces
from .trees import Tree

_activate_tree = declare("activate_tree", "pp")
_sum_weighted = declare("sum_weighted", "ppippi")
_refit_tree = declare("refit_tree", "pp")
_find_near_rows = declare("find_near_rows", "pppppd", "i")

ROOM = 8
"""Rows that there is room for, for each particle: what finds more is searched again. Layers that
lie on each other have five for each."""

Rows = tuple[Integers, Floats, Floats, Floats]


@once
def _surfaces(surfaces: Surfaces) -> Packed:
    """The surfaces of kernels.c."""
    return pack(
        len(surfaces.owners),
        len(surfaces.gaps),
        surfaces.owners,
        surfaces.rest.T,
        surfaces.ways,
        surfaces.triangles.shape[1],
        surfaces.edges.shape[1],
        surfaces.triangles,
        surfaces.edges,
        surfaces.sides,
        surfaces.wings,
        surfaces.opposite_edges,
        surfaces.fans,
        surfaces.fan_starts,
        surfaces.gaps,
        surfaces.single_sided,
        surfaces.colliders,
        surfaces.edge_turns,
        surfaces.corner_turns,
    )


@once
def _tree(tree: Tree) -> Packed:
    """The tree of kernels.c."""
    return pack(
        tree.height,
        tree.corners,
        tree.triangles,
        tree.vertices,
        tree.vertex_starts,
        tree.edges,
        tree.edge_starts,
        tree.active,
        tree.joined,
        tree.joined_starts,
        tree.cones,
        tree.boxes,
        tree.ways,
        tree.spans,
    )


def refit(surfaces: Surfaces, owner: int) -> None:
    """See `numpy_walk`."""
    _refit_tree(_tree(surfaces.trees[owner]), _surfaces(surfaces))


def find_near(surfaces: Surfaces, a: int, b: int, reach: Reach) -> Rows:
    """See `numpy_kernels`."""
    margin = float(surfaces.gaps[a, b] * reach.of_gap + reach.beyond)
    trees = _tree(surfaces.trees[a]), _tree(surfaces.trees[b])
    limits = flush(reach, float(surfaces.gaps[a, b]), float(surfaces.longest[a]))
    search = pack(reach.beyond, reach.of_gap, reach.of_start, *limits, int(reach.all_touching))
    capacity = ROOM * len(surfaces.owners)
    while True:
        features = np.empty((capacity, 3), dtype=np.int64)
        weights, normals = np.empty((capacity, 4)), np.empty((capacity, 3))
        gaps = np.empty(capacity)
        rows = pack(capacity, features, weights, normals, gaps)
        count = _find_near_rows(_surfaces(surfaces), *trees, search.address, rows.address, margin)
        if count <= capacity:
            return features[:count].T, weights[:count].T, normals[:count].T, gaps[:count]
        capacity = count


def activate(tree: Tree, active: Booleans) -> None:
    """See `numpy_walk`."""
    _activate_tree(_tree(tree), address(active))


def sum_weighted(positions: Floats, particles: Integers, weights: Floats) -> Floats:
    """See `numpy_kernels`."""
    sums = np.empty((3, particles.shape[1]))
    # Each is kept as long as it is read.
    x, p, w = (np.ascontiguousarray(each) for each in (positions, particles, weights))
    _sum_weighted(address(sums), address(x), x.shape[1], address(p), address(w), p.shape[1])
    return sums
