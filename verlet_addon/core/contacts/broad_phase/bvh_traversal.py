"""Traversal of two BVHs for pairs of near features (broad phase), in NumPy."""

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from ...arrays import Booleans, Integers, Singles, dot
from ...kernel import Struct
from .bvh import BVH

ROUNDING_MARGIN = 1e-6
"""Rounding: upper bound of the relative error of a sum in single precision, as boxes have it."""
CONE_COSINE = 0.5
"""Connected triangles do not touch each other if a direction exists whose cosine with each of their
normals is larger than this."""


TARGET_PARTS, MIN_PART_HEIGHT = 128, 8
"""Sizes: a traversal of two BVHs is split into about this many parts, which threads take one by
one, as long as a BVH is higher than the second number, some hundred triangles."""


@dataclass(frozen=True, eq=False)
class BVHPair:
    """The BVHs of two owners that collide, or of one and itself, to be traversed."""

    first: int
    second: int
    one: BVH
    """The BVH of the first owner."""
    other: BVH
    """The BVH of the second owner."""
    max_tests: int
    """Largest number of pairs of leaves that a step tests."""

    @cached_property
    def nodes(self) -> Integers:
        """(2, parts) pairs of nodes to begin with, which cover the whole traversal."""
        return _parts(self.one.height, self.other.height, own=self.one is self.other)

    @property
    def part_count(self) -> int:
        """Number of parts of the traversal."""
        return self.nodes.shape[1]


@dataclass(frozen=True, eq=False)
class BVHPairs:
    """Pairs of BVHs to be traversed in one search."""

    pairs: list[BVHPair]

    @cached_property
    def owners(self) -> Integers:
        """(2, p) owners of each pair, the lower first."""
        both = [(pair.first, pair.second) for pair in self.pairs]
        return np.array(both, dtype=np.int64).reshape(-1, 2).T.copy()


Struct("bvh_pair", BVHPair, reads="first second one other nodes max_tests part_count")
Struct("bvh_pairs", BVHPairs, reads="pairs")


def candidate_pairs(a: BVH, b: BVH, leaves: Integers) -> tuple[Integers, Integers]:
    """Candidate pairs, (2, k) vertices and triangles, (2, k) edges, of pairs of leaves (2, p)."""
    return _near_vertices(a, b, leaves), _near_edges(a, b, leaves)


def near_leaves(a: BVH, b: BVH, margin: float) -> Integers:
    """(2, p) pairs of leaves whose boxes are within the margin; each pair of one BVH once."""
    heights, far = [a.height, b.height], box_margin(a, b, margin)
    nodes = np.ones((2, 1), dtype=np.int64)
    while True:
        nodes = nodes[:, a.active[nodes[0]] | b.active[nodes[1]]]
        nodes = nodes[:, _overlap(a.boxes[nodes[0]], b.boxes[nodes[1]], far)]
        if a is b:
            nodes = nodes[:, ~_smooth(a, nodes)]
        if heights == [0, 0]:
            return np.asarray(nodes - np.array([[a.leaves], [b.leaves]]))
        if a is b:
            heights = [heights[0] - 1] * 2
            same = nodes[0] == nodes[1]
            left, right = 2 * nodes, 2 * nodes + 1
            crossed = np.stack([left[0], right[1]]), np.stack([right[0], left[1]])[:, ~same]
            nodes = np.concatenate([left, right, *crossed], axis=1)
        else:
            higher = int(heights[1] > heights[0])
            heights[higher] -= 1
            nodes = np.repeat(nodes, 2, axis=1)
            nodes[higher] *= 2
            nodes[higher, 1::2] += 1


def are_roots_near(owners: BVHPair, margin: float) -> bool:
    """Whether the swept boxes of two owners are within the margin."""
    a, b = owners.one, owners.other
    return bool(_overlap(a.boxes[1:2], b.boxes[1:2], box_margin(a, b, margin)).all())


def box_margin(a: BVH, b: BVH, margin: float) -> np.float32:
    """Margin plus the rounding error of boxes, relative to their largest coordinate [m]."""
    size = float(np.abs([a.boxes[1], b.boxes[1]]).max())
    return np.float32(margin + ROUNDING_MARGIN * (margin + size))


def _overlap(a: Singles, b: Singles, far: np.float32) -> Booleans:
    """(k,) whether boxes (k, 2, 4) are within the distance `far` on every axis."""
    return np.asarray(((a[:, 0] + b[:, 1] <= far) & (b[:, 0] + a[:, 1] <= far)).all(axis=1))


def _smooth(bvh: BVH, nodes: Integers) -> Booleans:
    """(k,) whether two connected nodes, or a node and itself, are too flat to touch.

    The test is whether all normals are near one direction (Volino and Thalmann, Efficient
    self-collision detection on smoothly discretized surface animations, 1994).
    """
    keys = nodes.min(axis=0) * (2 * bvh.leaves) + nodes.max(axis=0)
    connected = np.isin(keys, bvh.connected)
    low = np.minimum(bvh.cones[nodes[0], 0], bvh.cones[nodes[1], 0]).T
    high = np.maximum(bvh.cones[nodes[0], 1], bvh.cones[nodes[1], 1]).T
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    square = dot(middle, middle)
    return np.asarray(
        connected & (square - dot(half, np.abs(middle)) > CONE_COSINE * np.sqrt(square))
    )


def _near_vertices(a: BVH, b: BVH, leaves: Integers) -> Integers:
    """(2, k) vertices of either leaf and triangles of the other."""
    pairs = [_vertices_by_triangles(a, b, leaves)]
    others = leaves[::-1] if a is not b else leaves[::-1, leaves[0] != leaves[1]]
    pairs.append(_vertices_by_triangles(b, a, others))
    return np.concatenate(pairs, axis=1)


def _vertices_by_triangles(a: BVH, b: BVH, leaves: Integers) -> Integers:
    """(2, k) all vertices of the first leaf by all triangles of the second."""
    which, places = _members(a.vertex_starts, leaves[0])
    triangles = b.triangles[leaves[1, which]]
    pairs = np.stack([np.repeat(a.vertices[places], triangles.shape[1]), triangles.ravel()])
    return np.asarray(pairs[:, pairs[1] >= 0])


def _near_edges(a: BVH, b: BVH, leaves: Integers) -> Integers:
    """(2, k) pairs of edges of both leaves; each pair of one BVH once, the lower number first."""
    which, one = _members(a.edge_starts, leaves[0])
    place, other = _members(b.edge_starts, leaves[1, which])
    pairs = np.stack([a.edges[one[place]], b.edges[other]])
    if a is b:
        same = leaves[0, which[place]] == leaves[1, which[place]]
        pairs = np.sort(pairs[:, ~same | (pairs[0] < pairs[1])], axis=0)
    return np.asarray(pairs)


def _members(starts: Integers, leaves: Integers) -> tuple[Integers, Integers]:
    """Index into `leaves`, and index into the owned features, of all features of leaves."""
    counts = starts[leaves + 1] - starts[leaves]
    which = np.repeat(np.arange(len(leaves)), counts)
    ends = np.cumsum(counts)
    return which, np.arange(len(which)) - (ends - counts)[which] + starts[leaves][which]


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
