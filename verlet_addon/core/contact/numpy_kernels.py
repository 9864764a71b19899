"""Detection of contacts in NumPy."""

import numpy as np

from ..arrays import SHORTEST, Booleans, Floats, Integers
from .proximity import NEAREST, Proximity, cross, dot
from .reach import Reach
from .surfaces import Surfaces
from .trees import Tree

REST = 0.9
"""Pairs of one owner are kept apart by no more than this share of their distance at rest."""
LEAST_GAP = 1e-9
"""What is nearer than this at rest is taken for joined [m]."""
ADVANCES = 12
"""Rounds of conservative advancement, after which a pair counts as touching."""
TOUCHING = 1.01
"""As near as this, in gaps, is taken for touching."""

Rows = tuple[Integers, Floats, Floats, Floats]
"""(3, k) kinds (0 vertex and triangle, 1 two edges) and features, (4, k) weights, (3, k) normals,
(k,) gaps."""


def refit(tree: Tree, start: Floats, end: Floats) -> None:
    """Puts boxes round the ways of all nodes from `start` to `end` (3, N) [m]."""
    used = tree.corners.reshape(tree.leaves, -1)
    ways = np.stack([start[:, used], end[:, used]], axis=2)  # (3, leaves, 2, corners)
    whole = np.isfinite(ways).all(axis=(0, 2)) & (used >= 0)
    whole = np.repeat(whole.reshape(-1, 3).all(axis=1), 3).reshape(used.shape)[:, None]
    leaves = tree.boxes[tree.leaves :]
    leaves[:, 0] = np.where(whole, ways, np.inf).min(axis=(2, 3)).T
    leaves[:, 1] = np.where(whole, ways, -np.inf).max(axis=(2, 3)).T
    for height in range(tree.height):
        level = tree.leaves >> height
        pairs = tree.boxes[level : 2 * level].reshape(-1, 2, 2, 3)
        tree.boxes[level >> 1 : level, 0] = pairs[:, :, 0].min(axis=1)
        tree.boxes[level >> 1 : level, 1] = pairs[:, :, 1].max(axis=1)


def find_near(surfaces: Surfaces, a: int, b: int, start: Floats, end: Floats, reach: Reach) -> Rows:
    """Returns what two owners come near each other with, whose trees are refitted."""
    trees = surfaces.trees[a], surfaces.trees[b]
    margin = surfaces.gaps[a, b] * reach.of_gap + reach.beyond
    leaves = _near_leaves(*trees, margin)
    vertices, edges = _near_vertices(*trees, leaves), _near_edges(*trees, leaves)
    first, second = surfaces.edges[:, edges[0]], surfaces.edges[:, edges[1]]
    apart = (first[:, None] != second[None]).all(axis=(0, 1))
    edges, first, second = edges[:, apart], first[:, apart], second[:, apart]
    corners = surfaces.triangles[:, vertices[1]]
    apart = (corners != vertices[0]).all(axis=0)
    vertices, corners = vertices[:, apart], corners[:, apart]
    found = [
        _narrow(surfaces, kind, features, particles, start, end, reach)
        for kind, features, particles in (
            (0, vertices, np.concatenate([vertices[:1], corners])),
            (1, edges, np.concatenate([first, second])),
        )
    ]
    joined = [np.concatenate(parts, axis=-1) for parts in zip(*found, strict=True)]
    return joined[0], joined[1], joined[2], joined[3]


def _near_leaves(a: Tree, b: Tree, margin: float) -> Integers:
    """(2, p) leaves whose boxes are as near as the margin; those of one tree once each."""
    heights = [a.height, b.height]
    nodes = np.ones((2, 1), dtype=np.int64)
    while True:
        nodes = nodes[:, _overlap(a.boxes[nodes[0]], b.boxes[nodes[1]], margin)]
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


def _overlap(a: Floats, b: Floats, margin: float) -> Booleans:
    """(k,) whether boxes (k, 2, 3) come as near as the margin on every axis."""
    near = (a[:, 0] - margin <= b[:, 1]) & (b[:, 0] - margin <= a[:, 1])
    return np.asarray(near.all(axis=1))


def _near_vertices(a: Tree, b: Tree, leaves: Integers) -> Integers:
    """(2, k) the vertices of either leaf and the triangles of the other."""
    pairs = [_vertices_by_triangles(a, b, leaves)]
    others = leaves[::-1] if a is not b else leaves[::-1, leaves[0] != leaves[1]]
    pairs.append(_vertices_by_triangles(b, a, others))
    return np.concatenate(pairs, axis=1)


def _vertices_by_triangles(a: Tree, b: Tree, leaves: Integers) -> Integers:
    """(2, k) every vertex of the first leaf and every triangle of the second."""
    which, vertices = _members(a.vertex_starts, a.vertices, leaves[0])
    triangles = b.triangles[leaves[1, which]]
    pairs = np.stack([np.repeat(vertices, triangles.shape[1]), triangles.ravel()])
    return np.asarray(pairs[:, pairs[1] >= 0])


def _near_edges(a: Tree, b: Tree, leaves: Integers) -> Integers:
    """(2, k) the edges of both leaves; those of one tree once each, the lower number first."""
    which, first = _members(a.edge_starts, a.edges, leaves[0])
    place, second = _members(b.edge_starts, b.edges, leaves[1, which])
    pairs = np.stack([first[place], second])
    if a is b:
        same = leaves[0, which[place]] == leaves[1, which[place]]
        pairs = np.sort(pairs[:, ~same | (pairs[0] < pairs[1])], axis=0)
    return np.asarray(pairs)


def _members(starts: Integers, members: Integers, leaves: Integers) -> tuple[Integers, Integers]:
    """What leaves own, one after the other, and the place of its leaf in the list for each."""
    counts = starts[leaves + 1] - starts[leaves]
    which = np.repeat(np.arange(len(leaves)), counts)
    ends = np.cumsum(counts)
    places = np.arange(len(which)) - (ends - counts)[which] + starts[leaves][which]
    return which, members[places]


def _narrow(
    surfaces: Surfaces,
    kind: int,
    features: Integers,
    particles: Integers,
    start: Floats,
    end: Floats,
    reach: Reach,
) -> Rows:
    """Returns the pairs of one kind that come within reach."""
    somewhere = np.isfinite(start).all(axis=0) & np.isfinite(end).all(axis=0)
    whole = somewhere[particles].all(axis=0)
    features, particles = features[:, whole], particles[:, whole]
    owners = surfaces.owners[particles[[0, 3]]]
    gaps = surfaces.gaps[owners[0], owners[1]]
    x, ways = start[:, particles], end[:, particles] - start[:, particles]
    most = _fastest(ways, kind)
    apart = NEAREST[kind](x)[2]
    near = ~(apart - most > gaps * reach.of_gap + reach.beyond)
    features, particles, owners = features[:, near], particles[:, near], owners[:, near]
    x, ways, most, gaps, apart = (
        x[:, :, near],
        ways[:, :, near],
        most[near],
        gaps[near],
        apart[near],
    )
    own = owners[0] == owners[1]
    at_rest = NEAREST[kind](surfaces.rest[:, particles[:, own]])[2]
    gaps[own] = np.minimum(gaps[own], REST * at_rest)
    touch = np.minimum(gaps * reach.of_gap, (apart + SHORTEST) * reach.of_start)
    (weights, normals, _), touched = _advance(kind, x, ways, most, touch)
    final = x + ways
    row = sum(weights[k] * dot(normals, final[:, k]) for k in range(4))
    near = (gaps > LEAST_GAP) & ((row < touch + reach.beyond) | (touched & reach.passing))
    near &= ~_behind(surfaces, kind, features, owners, start, normals)
    kinds = np.full((1, np.count_nonzero(near)), kind)
    found = np.concatenate([kinds, features[:, near]])
    return found, weights[:, near], normals[:, near], gaps[near]


def _fastest(ways: Floats, kind: int) -> Floats:
    """(k,) how far any point of one feature moves relative to any of the other at most [m]."""
    first, second = ([0, 1], [2, 3]) if kind else ([0], [1, 2, 3])
    squares = [dot(ways[:, i] - ways[:, j], ways[:, i] - ways[:, j]) for i in first for j in second]
    return np.asarray(np.sqrt(np.max(squares, axis=0)))


def _advance(
    kind: int, x: Floats, ways: Floats, most: Floats, touch: Floats
) -> tuple[Proximity, Booleans]:
    """Lets pairs go on until they touch, or to the end of their way, and says which touch.

    Nothing can touch before the time in which their relative motion covers what they are apart
    (conservative advancement; Mirtich, Impulse-based dynamic simulation of rigid body systems,
    1996, section 2.3).
    """
    weights, normals, apart = NEAREST[kind](x)
    times = np.zeros(len(most))
    going = np.flatnonzero((apart > touch * TOUCHING) & (most > 0.0))
    for _ in range(ADVANCES):
        if not len(going):
            break
        times[going] = np.minimum(times[going] + (apart[going] - touch[going]) / most[going], 1.0)
        now = x[:, :, going] + times[going] * ways[:, :, going]
        weights[:, going], normals[:, going], apart[going] = NEAREST[kind](now)
        going = going[(apart[going] > touch[going] * TOUCHING) & (times[going] < 1.0)]
    touched = apart <= touch * TOUCHING
    touched[going] = True
    return (weights, normals, apart), touched


def _behind(
    surfaces: Surfaces,
    kind: int,
    features: Integers,
    owners: Integers,
    start: Floats,
    normals: Floats,
) -> Booleans:
    """(k,) whether pairs are behind a surface of which only the front touches."""
    behind = np.zeros(features.shape[1], dtype=bool)
    for place, outwards in ((0, -1.0), (1, 1.0)):
        which = np.flatnonzero(surfaces.single_sided[owners[place]])
        feature = features[place, which]
        if kind == 1:
            faces = surfaces.sides[:, feature]
        elif place == 1:
            faces = feature[None]
        else:
            faces = _fans(surfaces, feature)
        towards = outwards * normals[:, which]
        a, b, c = (start[:, surfaces.triangles[k, faces]] for k in range(3))
        heights = dot(cross(b - a, c - a), towards[:, None])
        heights = np.where(faces < 0, -np.inf, heights).max(axis=0, initial=-np.inf)
        behind[which] |= (heights < 0.0) & (faces >= 0).any(axis=0)
    return behind


def _fans(surfaces: Surfaces, vertices: Integers) -> Integers:
    """(most, k) the triangles round each vertex, −1 where there are fewer."""
    starts = surfaces.fan_starts
    counts = starts[vertices + 1] - starts[vertices]
    steps = np.arange(counts.max(initial=0))[:, None]
    places = np.minimum(starts[vertices] + steps, len(surfaces.fans) - 1)
    return np.where(steps < counts, surfaces.fans[places], -1)
