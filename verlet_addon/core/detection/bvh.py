"""A bounding volume hierarchy (BVH) over the triangles and loose edges of one surface."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import SHORTEST, Booleans, Floats, Integers, Singles
from ..geometry.graph import find_components
from .bvh_leaves import LEAF_SIZE, fill_leaves

MIN_CONE_HEIGHT = 3
"""Up to this height, or twice as wide as they keep off themselves, pieces are small enough to tell
from their normals that they cannot touch."""


@dataclass(frozen=True, eq=False)
class BVH:
    """A complete binary tree: node k has the children 2 k and 2 k + 1; the root is node 1.

    Each leaf owns some of the vertices and edges of its triangles, and every one is owned by one
    leaf only, so that a walk comes upon each pair of them once.
    """

    height: int
    """Its 2^height leaves are the nodes from there on."""
    corners: Integers
    """(leaves, LEAF, 3) of triangles and loose edges, whose last two are alike; −1 = none."""
    triangles: Integers
    """(leaves, LEAF) their numbers; −1 for none and for loose edges."""
    vertices: Integers
    """Particles that leaves own, leaf after leaf."""
    vertex_starts: Integers
    """(leaves + 1,) where those of each leaf begin."""
    edges: Integers
    """Edges that leaves own, leaf after leaf."""
    ridges: Booleans
    """Whether their triangles make an angle, or there are not two. Written by NumPy's `refit`."""
    edge_starts: Integers
    """(leaves + 1,) where those of each leaf begin."""
    connected: Integers
    """(j,) a · 2 leaves + b for any two small nodes a ≤ b of one height whose triangles make up one
    piece across edges, each and together; sorted. Empty if it never meets itself."""
    connected_starts: Integers
    """(2 leaves + 1,) where those of each a begin."""
    cones: Floats
    """(2 leaves, 2, 3) the least and the largest components of their triangles' unit normals, at
    both ends of the way. Written by `refit`."""
    boxes: Singles
    """(2 leaves, 2, 4) the least coordinates of each node on its way, and the largest with the
    other sign [m]; all are infinite for an empty one, and the last are 0. Written by `refit`."""

    edge_paths: Floats
    """(its edges, 18) the box of each on its way, and what is beside it. For the compiled kernels,
    which come upon each edge in many pairs of leaves; written by them."""
    swept_boxes: Singles
    """(leaves, LEAF, 2, 4) boxes of triangles on their way, likewise [m]."""
    turns: Floats
    """(leaves, 2) the most that a collider's surface turns at what each leaf owns, likewise [rad],
    [rad/m]; infinite for bodies."""
    active: Booleans
    """(2 leaves,) whether what nodes come near is wanted; two nodes are if either of them is."""

    @property
    def leaves(self) -> int:
        """How many there are, a power of two."""
        return 1 << self.height


def build_bvh(
    rest: Floats,
    triangles: Integers,
    edges: Integers,
    sides: Integers,
    own: Integers,
    lines: Integers,
    apart: float,
) -> BVH:
    """Gathers triangles and loose edges that lie together at rest in leaves, and these in nodes.

    Of `triangles` (3, t) and `edges` (2, e), which have particles in `rest` (3, N) [m] and `sides`
    (2, e), it holds its own and the lines among them. These keep so far apart [m]; below 0 if they
    never meet.
    """
    loose = lines[sides[0, lines] < 0]
    corners = np.concatenate([triangles[:, own], edges[:, loose][[0, 1, 1]]], axis=1).T
    numbers = np.concatenate([own, np.full(len(loose), -1)])
    across, lengths = _neighbours(rest, edges[:, lines], sides[:, lines], own)
    filled = fill_leaves(rest[:, corners].mean(axis=2), across, lengths)
    leaves, padded = len(filled), filled.ravel()
    sorted_corners = np.where(padded[:, None] < 0, -1, np.append(corners, [[-1] * 3], 0)[padded])
    vertices, vertex_starts = _owned(sorted_corners, leaves)
    first = _owned_edges(sorted_corners, edges[:, lines], rest.shape[1])
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
        edges=lines[by_leaf],
        edge_starts=np.searchsorted(first[by_leaf], np.arange(leaves + 1)),
        connected=connected,
        connected_starts=np.searchsorted(connected, np.arange(2 * leaves + 1) * (2 * leaves)),
        **_work_arrays(leaves, len(lines)),
    )


def _work_arrays(leaves: int, edges: int) -> dict[str, Any]:
    """Fields of BVH that `refit`, `activate` and compiled kernels write, for so many leaves."""
    return {
        "ridges": np.ones(edges, dtype=bool),
        "cones": np.empty((2 * leaves, 2, 3)),
        "boxes": np.empty((2 * leaves, 2, 4), dtype=np.float32),
        "edge_paths": np.empty((edges, 18)),
        "swept_boxes": np.empty((leaves, LEAF_SIZE, 2, 4), dtype=np.float32),
        "turns": np.full((leaves, 2), np.inf),
        "active": np.ones(2 * leaves, dtype=bool),
    }


def _neighbours(
    rest: Floats, edges: Integers, sides: Integers, own: Integers
) -> tuple[Integers, Floats]:
    """(2, k) triangles that share an edge, counted from the first of their own, and its length."""
    inner = (sides >= 0).all(axis=0)
    a, b = edges[:, inner]
    return sides[:, inner] - own[:1].sum(), np.linalg.norm(rest[:, b] - rest[:, a], axis=0)


def _places(members: Integers, count: int) -> Integers:
    """(count + 1,) where each member stands in the list, −1 for none."""
    places = np.full(count + 1, -1)
    places[members] = np.arange(len(members))
    places[-1] = -1
    return places


def _connected(neighbours: Integers, used: Booleans, most: int) -> Integers:
    """The keys of nodes that are one piece, and of any two that are so together, sorted.

    Neighbours (2, k) are places of triangles in the leaves, some of which (p,) are used; nodes have
    so many leaves at most.
    """
    if not used.any():
        return np.empty(0, dtype=np.int64)
    levels = range(min(len(used) // LEAF_SIZE, most).bit_length())
    return np.sort(np.concatenate([_connected_at(neighbours, used, at) for at in levels]))


def _connected_at(neighbours: Integers, used: Booleans, at: int) -> Integers:
    """The keys of nodes of one height."""
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
    """Each vertex in the first leaf that has it, and where the vertices of each leaf begin."""
    particles, first = np.unique(corners.ravel(), return_index=True)
    first = first[particles >= 0] // (3 * LEAF_SIZE)
    particles = particles[particles >= 0]
    order = np.argsort(first, kind="stable")
    return particles[order], np.searchsorted(first[order], np.arange(leaves + 1))


def _owned_edges(corners: Integers, edges: Integers, count: int) -> Integers:
    """(e,) the first leaf that has each edge (2, e) between so many particles."""
    keys = edges[0] * count + edges[1]
    ends = np.sort(corners[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    found, first = np.unique(ends[:, 0] * count + ends[:, 1], return_index=True)
    return np.asarray(first[np.searchsorted(found, keys)] // (3 * LEAF_SIZE))
