"""Refit of a BVH, and traversal of two for pairs of near features (broad phase), in NumPy."""

import numpy as np

from ..arrays import NONZERO, Booleans, Floats, Integers, Singles, cross, dot
from .bvh import BVH
from .surfaces import Surfaces

RIDGE = 0.005
"""Smallest angle between the triangles of a ridge [rad]."""
ROUNDING_MARGIN = 1e-6
"""Upper bound of the relative rounding error of a sum in single precision, as boxes have it."""
CONE_COSINE = 0.5
"""Connected triangles do not touch each other if a direction exists whose cosine with each of their
normals is larger than this."""


def update_paths(surfaces: Surfaces, owner: int, start: Floats, end: Floats) -> bool:
    """Copies an owner's motion from `start` to `end` (3, N) [m]; returns whether it has changed."""
    own = slice(*surfaces.starts[owner : owner + 2])
    known, way = surfaces.paths[own], np.stack([start[:, own], end[:, own]]).transpose(2, 0, 1)
    new = not np.array_equal(known, way)
    known[:] = way
    return new


def refit(surfaces: Surfaces, owner: int) -> None:
    """Computes the swept boxes, normal cones, ridges and turns of an owner's BVH."""
    bvh = surfaces.bvhs[owner]
    start, end = surfaces.paths.transpose(1, 2, 0)
    bvh.ridges[:] = _ridges(surfaces, bvh.edges, start)
    if surfaces.colliders[owner]:
        turns = surfaces.edge_turns[bvh.edges] = _turns(surfaces, bvh.edges, start)
        surfaces.corner_turns[bvh.vertices] = 0.0
        for ends in surfaces.edges[:, bvh.edges]:
            np.maximum.at(surfaces.corner_turns, ends, turns)
    corners = bvh.corners
    paths = np.stack([start[:, corners], end[:, corners]])  # (2, 3, leaves, LEAF, 3)
    whole = (np.isfinite(paths).all(axis=(0, 1)) & (corners >= 0)).all(axis=2, keepdims=True)
    bvh.boxes[:], bvh.boxes[..., 3] = np.inf, 0.0
    bvh.boxes[bvh.leaves :, :, :3] = _bounds(np.moveaxis(paths, 1, 0), whole) * [[[1.0], [-1.0]]]
    a, b, c = (np.where(whole[..., 0], paths[..., k], 0.0).swapaxes(0, 1) for k in range(3))
    normals = cross(b - a, c - a)
    length = np.sqrt(dot(normals, normals))
    flat = length < NONZERO
    units = normals * (1.0 / np.where(flat, 1.0, length))
    bounds = np.stack([np.where(flat, -1.0, units), np.where(flat, 1.0, units)], axis=-1)
    there = np.broadcast_to(corners[:, :, :1] >= 0, (*corners.shape[:2], 2))
    bvh.cones[bvh.leaves :] = _bounds(bounds, there)
    for height in range(bvh.height):
        level = bvh.leaves >> height
        above, below = slice(level >> 1, level), slice(level, 2 * level)
        bvh.boxes[above] = bvh.boxes[below].reshape(-1, 2, 2, 4).min(axis=1)
        cones = bvh.cones[below].reshape(-1, 2, 2, 3)
        bvh.cones[above, 0] = cones[:, :, 0].min(axis=1)
        bvh.cones[above, 1] = cones[:, :, 1].max(axis=1)


def _ridges(surfaces: Surfaces, edges: Integers, start: Floats) -> Booleans:
    """(k,) bool, edges that are borders, or whose triangles make an angle of at least RIDGE."""
    base, other = surfaces.edges[:, edges]
    left, right = surfaces.wings[:, edges]
    with np.errstate(invalid="ignore"):  # positions may be NaN
        edge, to_left, to_right = (start[:, k] - start[:, base] for k in (other, left, right))
        normal = cross(edge, to_left)
        height, square = dot(normal, to_right), dot(normal, normal)
        flat = height * height <= RIDGE * RIDGE * (square * dot(to_right, to_right))
        flat &= dot(cross(edge, to_right), normal) <= 0.0
    return np.asarray((right < 0) | ~flat)


def _turns(surfaces: Surfaces, edges: Integers, start: Floats) -> Floats:
    """(k, 2) sine of the angle between the triangles of edges, and curvature, infinite for borders.

    The curvature is the sine over a third of the sum of the triangles' heights, which is the
    distance between their centroids across the edge.
    """
    base, other = surfaces.edges[:, edges]
    left, right = surfaces.wings[:, edges]
    with np.errstate(invalid="ignore", divide="ignore"):  # NaN, or no area
        edge, to_left, to_right = (start[:, k] - start[:, base] for k in (other, left, right))
        normal, opposite = cross(edge, to_left), cross(edge, to_right)
        areas = np.sqrt(dot(normal, normal)), np.sqrt(dot(opposite, opposite))
        length = np.sqrt(dot(edge, edge))
        sine = np.abs(dot(normal, to_right)) * length / (areas[0] * areas[1])
        tight = sine * 3.0 * length / (areas[0] + areas[1])
        flat = (right >= 0) & (dot(normal, opposite) <= 0.0) & (tight < np.inf)
    return np.where(flat[:, None], np.stack([sine, tight], axis=1), np.inf)


def _bounds(points: Floats, there: Booleans) -> Floats:
    """(leaves, 2, 3) bounds of points (3, moments, leaves, LEAF, k), where `there` is True."""
    low = np.where(there, points, np.inf).min(axis=(1, 3, 4)).T
    return np.stack([low, np.where(there, points, -np.inf).max(axis=(1, 3, 4)).T], axis=1)


def activate(bvh: BVH, active: Booleans) -> None:
    """Marks the nodes of a BVH that have an active particle; `active` is (N,) bool."""
    leaves = bvh.leaves
    held = active[bvh.corners] & (bvh.corners >= 0)
    bvh.active[leaves:] = held.reshape(leaves, -1).any(axis=1)
    for level in (leaves >> at for at in range(bvh.height)):
        children = bvh.active[level : 2 * level].reshape(-1, 2)
        bvh.active[level >> 1 : level] = children[:, 0] | children[:, 1]


def candidate_pairs(a: BVH, b: BVH, leaves: Integers, *, flat: bool) -> tuple[Integers, Integers]:
    """Candidate pairs, (2, k) vertices and triangles, (2, k) edges, of pairs of leaves (2, p).

    Pairs of two edges that are no ridges are included only if `flat`: pairs of a vertex and a
    triangle cover the same contacts.
    """
    return _near_vertices(a, b, leaves), _near_edges(a, b, leaves, flat)


def near_leaves(a: BVH, b: BVH, margin: float) -> Integers:
    """(2, p) pairs of leaves whose boxes are within the margin; each pair of one BVH once."""
    heights, far = [a.height, b.height], np.float32(_widened(a, b, margin))
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


def _widened(a: BVH, b: BVH, margin: float) -> float:
    """Margin plus the rounding error of boxes, relative to their largest coordinate [m]."""
    return margin + ROUNDING_MARGIN * (margin + float(np.abs([a.boxes[1], b.boxes[1]]).max()))


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


def _near_edges(a: BVH, b: BVH, leaves: Integers, flat: bool) -> Integers:
    """(2, k) pairs of edges of both leaves; each pair of one BVH once, the lower number first."""
    which, one = _members(a.edge_starts, leaves[0])
    place, other = _members(b.edge_starts, leaves[1, which])
    wanted = a.ridges[one[place]] | b.ridges[other] | flat
    place, other = place[wanted], other[wanted]
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
