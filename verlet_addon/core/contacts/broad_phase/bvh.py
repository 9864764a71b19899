"""A bounding volume hierarchy (BVH) over the triangles and loose edges of one surface."""

from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np

from ...arrays import SHORTEST, Booleans, Floats, Integers, Singles
from ...geometry.graph import find_components, match_greedily
from ...kernel import Struct

LEAF_SIZE = 2
"""Number of triangles or loose edges in a leaf, which arrays and C are laid out for."""
MIN_CONE_HEIGHT = 3
"""Nodes up to this height, or about twice as wide as the gap, are culled from self-collision by
their normal cones; wider ones could touch themselves all the same."""


@dataclass(frozen=True, eq=False)
class BVH:
    """A complete binary tree: node k has the children 2 k and 2 k + 1; the root is node 1.

    Each vertex and each edge is owned by exactly one of the leaves whose triangles have it, so that
    a traversal tests each pair of features once.
    """

    height: int
    """Levels below the root; the 2^height leaves are the nodes from 2^height on."""
    corners: Integers
    """(leaves, LEAF, 3) corners of triangles and loose edges; −1 = none. The last two corners of a
    loose edge are the same."""
    triangles: Integers
    """(leaves, LEAF) numbers of the triangles; −1 for none and for loose edges."""
    vertices: Integers
    """Particles that the leaves own, leaf after leaf."""
    vertex_starts: Integers
    """(leaves + 1,) index of each leaf's first vertex."""
    edges: Integers
    """Edges that the leaves own, leaf after leaf."""
    edge_starts: Integers
    """(leaves + 1,) index of each leaf's first edge."""
    connected: Integers
    """(j,) keys a · 2 leaves + b of small nodes a ≤ b of one height, sorted: the triangles of each
    node, and of both together, are connected across edges. Empty without self-collision."""
    connected_starts: Integers
    """(2 leaves + 1,) index of the first key of each a."""
    cones: Floats
    """(2 leaves, 2, 3) least and largest components of the triangles' unit normals over both ends
    of the step. Written by `refit`."""
    boxes: Singles
    """(2 leaves, 2, 4) swept box of each node [m]: the least coordinates, and the negated largest
    ones; all are infinite for an empty node, and the fourth entries are 0. Written by `refit`."""

    edge_paths: Floats
    """(edges, 18) swept box, direction and adjacent triangles of each edge, cached by the compiled
    kernels, which test each edge in many pairs of leaves."""
    swept_boxes: Singles
    """(leaves, LEAF, 2, 4) swept boxes of the triangles, in the form of `boxes` [m]. Written by the
    compiled kernels."""
    turns: Floats
    """(leaves, 2) largest angle and curvature of a collider's surface at the vertices and edges of
    each leaf [rad], [rad/m]; infinite for bodies. Written by the compiled kernels."""
    active: Booleans
    """(2 leaves,) whether a node has active particles; a pair of nodes is traversed if either
    has."""

    @property
    def leaves(self) -> int:
        """Number of leaves, a power of two."""
        return 1 << self.height


Struct(
    "bvh",
    BVH,
    reads="height corners triangles vertices vertex_starts edges edge_starts connected "
    "connected_starts",
    shares="active cones turns",
    boxes=("struct box", attrgetter("boxes")),
    swept_boxes=("struct box", attrgetter("swept_boxes")),
    edge_paths=("struct edge_path", attrgetter("edge_paths")),
)


def build_bvh(
    rest: Floats,
    triangles: Integers,
    edges: Integers,
    sides: Integers,
    own: Integers,
    lines: Integers,
    touching: Integers,
    apart: float,
) -> BVH:
    """Builds the BVH of one surface from its rest shape.

    Parameters
    ----------
    rest : (3, N) positions of all particles at rest [m].
    triangles : (3, t) corners of all surfaces.
    edges, sides : (2, e) of all surfaces; see `Surfaces`.
    own : numbers of this surface's triangles.
    lines : numbers of this surface's edges.
    touching : those of these edges that the leaves own, because they touch other edges.
    apart : gap of self-collision [m]; below 0 without self-collision.
    """
    loose = lines[sides[0, lines] < 0]
    corners = np.concatenate([triangles[:, own], edges[:, loose][[0, 1, 1]]], axis=1).T
    numbers = np.concatenate([own, np.full(len(loose), -1)])
    across, lengths = _neighbours(rest, edges[:, lines], sides[:, lines], own)
    filled = _fill_leaves(rest[:, corners].mean(axis=2), across, lengths)
    leaves, padded = len(filled), filled.ravel()
    sorted_corners = np.where(padded[:, None] < 0, -1, np.append(corners, [[-1] * 3], 0)[padded])
    vertices, vertex_starts = _owned(sorted_corners, leaves)
    first = _owned_edges(sorted_corners, edges[:, touching], rest.shape[1])
    by_leaf = np.argsort(first, kind="stable")
    edge = max(float(np.nansum(lengths)) / max(len(lengths), 1), SHORTEST)
    most = max(1 << MIN_CONE_HEIGHT, int((2.0 * apart / edge) ** 2))
    connected = _connected(
        _places(padded, len(corners))[across], (padded >= 0) & (apart >= 0.0), most
    )
    return BVH(
        height=leaves.bit_length() - 1,
        corners=sorted_corners.reshape(leaves, LEAF_SIZE, 3),
        triangles=np.where(padded < 0, -1, np.append(numbers, -1)[padded]).reshape(
            leaves, LEAF_SIZE
        ),
        vertices=vertices,
        vertex_starts=vertex_starts,
        edges=touching[by_leaf],
        edge_starts=np.searchsorted(first[by_leaf], np.arange(leaves + 1)),
        connected=connected,
        connected_starts=np.searchsorted(connected, np.arange(2 * leaves + 1) * (2 * leaves)),
        **_work_arrays(leaves, len(touching)),
    )


def _work_arrays(leaves: int, edges: int) -> dict[str, Any]:
    """Fields of BVH that `refit`, `activate_all` and the compiled kernels write."""
    return {
        "cones": np.empty((2 * leaves, 2, 3)),
        "boxes": np.empty((2 * leaves, 2, 4), dtype=np.float32),
        "edge_paths": np.zeros((edges, 18)),
        "swept_boxes": np.empty((leaves, LEAF_SIZE, 2, 4), dtype=np.float32),
        "turns": np.full((leaves, 2), np.inf),
        "active": np.ones(2 * leaves, dtype=bool),
    }


def _neighbours(
    rest: Floats, edges: Integers, sides: Integers, own: Integers
) -> tuple[Integers, Floats]:
    """(2, k) triangles that share an edge, numbered from the first own one, and edge lengths."""
    inner = (sides >= 0).all(axis=0)
    a, b = edges[:, inner]
    return sides[:, inner] - own[:1].sum(), np.linalg.norm(rest[:, b] - rest[:, a], axis=0)


def _places(members: Integers, count: int) -> Integers:
    """(count + 1,) index of each member in the list, −1 for none."""
    places = np.full(count + 1, -1)
    places[members] = np.arange(len(members))
    places[-1] = -1
    return places


def _connected(neighbours: Integers, used: Booleans, most: int) -> Integers:
    """Sorted keys of connected nodes of at most `most` leaves, from adjacent triangles (2, k)."""
    if not used.any():
        return np.empty(0, dtype=np.int64)
    levels = range(min(len(used) // LEAF_SIZE, most).bit_length())
    return np.sort(np.concatenate([_connected_at(neighbours, used, at) for at in levels]))


def _connected_at(neighbours: Integers, used: Booleans, at: int) -> Integers:
    """Keys of connected nodes of height `at`."""
    leaves = len(used) // LEAF_SIZE
    nodes = (neighbours // LEAF_SIZE >> at) + (leaves >> at)
    within = nodes[0] == nodes[1]
    labels = find_components(len(used), neighbours[:, within].T)[used]
    own = (np.flatnonzero(used) // LEAF_SIZE >> at) + (leaves >> at)
    pieces = np.unique(own * len(used) + labels) // len(used)
    whole = np.bincount(pieces, minlength=2 * leaves) == 1
    alone = np.flatnonzero(whole)
    low, high = nodes.min(axis=0), nodes.max(axis=0)
    both = whole[low] & whole[high] & ~within
    keys = np.concatenate([alone * (2 * leaves) + alone, (low * (2 * leaves) + high)[both]])
    return np.asarray(np.unique(keys))


def _owned(corners: Integers, leaves: int) -> tuple[Integers, Integers]:
    """Vertices, each in the first leaf that has it, and the index of each leaf's first vertex."""
    particles, first = np.unique(corners.ravel(), return_index=True)
    first = first[particles >= 0] // (3 * LEAF_SIZE)
    particles = particles[particles >= 0]
    order = np.argsort(first, kind="stable")
    return particles[order], np.searchsorted(first[order], np.arange(leaves + 1))


def _owned_edges(corners: Integers, edges: Integers, count: int) -> Integers:
    """(e,) first leaf that has each edge (2, e); `count` particles."""
    keys = edges[0] * count + edges[1]
    ends = np.sort(corners[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    found, first = np.unique(ends[:, 0] * count + ends[:, 1], return_index=True)
    return np.asarray(first[np.searchsorted(found, keys)] // (3 * LEAF_SIZE))


def _fill_leaves(middles: Floats, neighbours: Integers, lengths: Floats) -> Integers:
    """Assigns triangles to leaves, in pairs that share an edge where possible.

    Parameters
    ----------
    middles : (3, k) centroids of triangles [m].
    neighbours : (2, e) triangles that share an edge.
    lengths : (e,) lengths of the shared edges [m].

    Returns
    -------
    (leaves, LEAF) triangles of each leaf, −1 for none; the number of leaves is a power of two.
    """
    pairs = _in_pairs(neighbours, lengths, middles.shape[1])
    filled = np.full((1 << max(len(pairs) - 1, 0).bit_length(), LEAF_SIZE), -1)
    both = middles[:, np.where(pairs < 0, pairs[:, :1], pairs)].mean(axis=2)
    filled[: len(pairs)] = pairs[_along_axes(both)]
    return filled


def _in_pairs(neighbours: Integers, lengths: Floats, count: int) -> Integers:
    """(u, 2) triangles paired across their longest shared edges; unpaired ones have −1."""
    longest_first = neighbours.T[np.argsort(-lengths, kind="stable")]
    one, other = longest_first[match_greedily(longest_first, count)].T
    partner = np.full(count, -1)
    partner[one], partner[other] = other, one
    first = np.flatnonzero((partner < 0) | (np.arange(count) < partner))
    return np.stack([first, partner[first]], axis=1)


def _along_axes(points: Floats) -> Integers:
    """(k,) order of points (3, k) by recursive median splits along the axis of largest extent.

    k-d trees: Bentley, Multidimensional binary search trees, 1975.
    """
    count = points.shape[1]
    points = np.where(np.isfinite(points), points, 0.0)
    order = np.arange(count)
    size = 1 << max(count - 1, 0).bit_length()
    while size > 1:
        starts = np.arange(0, count, size)
        nodes = np.arange(count) // size
        sorted_points = points[:, order]
        extents = np.maximum.reduceat(sorted_points, starts, axis=1)
        extents -= np.minimum.reduceat(sorted_points, starts, axis=1)
        heights = np.choose(extents.argmax(axis=0)[nodes], sorted_points)
        order = order[np.lexsort((order, heights, nodes))]
        size //= 2
    return order
