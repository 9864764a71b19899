"""Refit of BVHs to a motion."""

import numpy as np

from ...arrays import NONZERO, Booleans, Floats, Integers, cross, dot
from ...kernel import kernel
from .bvh import BVH
from .surfaces import Surfaces

RIDGE = 0.005
"""Smallest angle between the triangles of a ridge [rad]. With half, sheets that cross lie 1.3 mm
elsewhere, with twice, 5 mm."""


@kernel()
def fit_all(surfaces: Surfaces, start: Floats, end: Floats, skins: Floats) -> None:
    """Refits the BVHs of all colliding owners to a motion; those that it did not change stay.

    Parameters
    ----------
    start, end : (3, N) both ends of the motion [m].
    skins : (N,) distances from it within which particles may end it [m].
    """
    for owner in surfaces.colliding_owners:
        update_paths.reference(surfaces, owner, start, end, skins)
        if not surfaces.fitted[owner]:
            bvh = surfaces.bvhs[owner]
            refit_leaves.reference(surfaces, bvh, 0, bvh.leaves)
            refit_nodes.reference(surfaces, bvh)
            surfaces.fitted[owner] = True


@kernel()
def update_paths(surfaces: Surfaces, owner: int, start: Floats, end: Floats, skins: Floats) -> None:
    """Copies an owner's motion and skins; parameters as `fit_all`.

    If it has changed, its BVH is not fitted any more.
    """
    own = slice(*surfaces.starts[owner : owner + 2])
    known, way = surfaces.paths[own], np.stack([start[:, own], end[:, own]]).transpose(2, 0, 1)
    changed = not np.array_equal(known, way) or (surfaces.skins[own] != skins[own]).any()
    surfaces.fitted[owner] &= not changed
    surfaces.motion[0] += changed
    known[:], surfaces.skins[own] = way, skins[own]


@kernel()
def update_all_paths(surfaces: Surfaces, start: Floats, end: Floats, skins: Floats) -> None:
    """Copies the motion and skins of all owners, without a refit of BVHs; see `fit_all`."""
    for owner in range(len(surfaces.bvhs)):
        update_paths.reference(surfaces, owner, start, end, skins)


@kernel()
def widen_leaves(surfaces: Surfaces, bvh: BVH, moved: Booleans) -> None:
    """Widens the leaves with a particle that `moved` (N,), and the nodes above, to its new path.

    A BVH that was fitted to other paths, from which the other particles deviate by no more than a
    slack, then holds the motion of all within that slack, without a refit.
    """
    boxes, cones = bvh.boxes.copy(), bvh.cones.copy()
    refit_leaves.reference(surfaces, bvh, 0, bvh.leaves)
    there = (moved[bvh.corners] & (bvh.corners >= 0)).any(axis=(1, 2))
    leaves = bvh.leaves + np.flatnonzero(there)
    boxes[leaves] = np.minimum(boxes[leaves], bvh.boxes[leaves])
    cones[leaves, 0] = np.minimum(cones[leaves, 0], bvh.cones[leaves, 0])
    cones[leaves, 1] = np.maximum(cones[leaves, 1], bvh.cones[leaves, 1])
    bvh.boxes[:], bvh.cones[:] = boxes, cones
    refit_nodes.reference(surfaces, bvh)


def fit(surfaces: Surfaces, owner: int, start: Floats, end: Floats, skins: Floats) -> None:
    """Refits the BVH of an owner to a motion, if it has changed; parameters as `fit_all`."""
    bvh, path = surfaces.bvhs[owner], (np.ascontiguousarray(start), np.ascontiguousarray(end))
    update_paths(surfaces, owner, *path, skins)
    if not surfaces.fitted[owner]:
        refit_leaves(surfaces, bvh, 0, bvh.leaves)
        refit_nodes(surfaces, bvh)
        surfaces.fitted[owner] = True


@kernel()
def refit_leaves(surfaces: Surfaces, bvh: BVH, first: int, last: int) -> None:
    """Computes the swept boxes and normal cones of the leaves `first` to `last` − 1."""
    start, end = surfaces.paths.transpose(1, 2, 0)
    # The leaves are the last axis, along which NumPy is quick.
    corners, leaves = bvh.corners[first:last].T, slice(bvh.leaves + first, bvh.leaves + last)
    paths = np.stack([start[:, corners], end[:, corners]], axis=1)  # (3, 2, 3, LEAF, leaves)
    low, high = np.minimum(*paths.swapaxes(0, 1)), np.maximum(*paths.swapaxes(0, 1))
    whole = ((np.isfinite(low) & np.isfinite(high)).all(axis=0) & (corners >= 0)).all(axis=0)
    skins = surfaces.skins[corners]
    low = np.where(whole, low - skins, np.inf).min(axis=(1, 2))
    high = np.where(whole, high + skins, -np.inf).max(axis=(1, 2))
    bvh.boxes[leaves, 0, :3], bvh.boxes[leaves, 1, :3] = low.T, -high.T
    bvh.boxes[leaves, :, 3] = 0.0
    a, b, c = np.where(whole, paths, 0.0).transpose(2, 0, 1, 3, 4)
    normals = cross(b - a, c - a)
    length = np.sqrt(dot(normals, normals))
    flat = length < NONZERO
    units = normals * (1.0 / np.where(flat, 1.0, length))
    there = corners[0] >= 0
    low = np.where(there, np.where(flat, -1.0, units), np.inf).min(axis=(1, 2))
    high = np.where(there, np.where(flat, 1.0, units), -np.inf).max(axis=(1, 2))
    bvh.cones[leaves, 0], bvh.cones[leaves, 1] = low.T, high.T


@kernel()
def refit_nodes(surfaces: Surfaces, bvh: BVH) -> None:
    """Computes the nodes above the leaves, and the turns of edges."""
    start = surfaces.paths[:, 0].T
    if surfaces.colliders[surfaces.owners[bvh.vertices]].any():
        turns = surfaces.edge_turns[bvh.edges] = _turns(surfaces, bvh.edges, start)
        surfaces.corner_turns[bvh.vertices] = 0.0
        for ends in surfaces.edges[:, bvh.edges]:
            np.maximum.at(surfaces.corner_turns, ends, turns)
    for height in range(bvh.height):
        level = bvh.leaves >> height
        above, below = slice(level >> 1, level), slice(level, 2 * level)
        boxes, cones = bvh.boxes[below], bvh.cones[below]
        bvh.boxes[above] = np.minimum(boxes[::2], boxes[1::2])
        bvh.cones[above, 0] = np.minimum(cones[::2, 0], cones[1::2, 0])
        bvh.cones[above, 1] = np.maximum(cones[::2, 1], cones[1::2, 1])


def find_ridges(surfaces: Surfaces, edges: Integers, start: Floats) -> Booleans:
    """Edges (…) that are borders, or whose triangles make an angle of at least RIDGE."""
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


@kernel()
def activate_all(surfaces: Surfaces) -> None:
    """Marks the nodes of all BVHs that have an active particle."""
    for bvh in surfaces.bvhs:
        leaves = bvh.leaves
        held = surfaces.active[bvh.corners] & (bvh.corners >= 0)
        bvh.active[leaves:] = held.reshape(leaves, -1).any(axis=1)
        for level in (leaves >> at for at in range(bvh.height)):
            children = bvh.active[level : 2 * level].reshape(-1, 2)
            bvh.active[level >> 1 : level] = children[:, 0] | children[:, 1]
