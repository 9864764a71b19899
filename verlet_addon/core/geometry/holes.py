"""Holes of surfaces: triangles that close them, once all faces have the same orientation."""

import numpy as np

from ..arrays import Integers
from ..errors import MeshError
from .graph import edge_keys, find_components


def orient_alike(triangles: Integers, *, complaint: str, remedy: str) -> Integers:
    """(3, t) triangles, flipped where needed so that all of a surface have the same orientation.

    Raises
    ------
    MeshError
        If an edge has more than two triangles, or the surface has one side only. The sentence
        begins with `complaint` and ends with `remedy`.
    """
    count = triangles.shape[1]
    tails, heads = triangles.ravel(), np.roll(triangles, -1, axis=0).ravel()
    keys = edge_keys((tails, heads), int(triangles.max(initial=0)) + 1)
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    sizes = np.diff(starts, append=len(order))
    if (sizes > 2).any():
        raise MeshError(
            f"{complaint} {np.count_nonzero(sizes > 2)} of its edges have more than two faces; "
            f"delete inner faces in Edit Mode, or {remedy}"
        )
    first, second = order[starts[sizes == 2]], order[starts[sizes == 2] + 1]
    alike = (tails[first] < heads[first]) == (tails[second] < heads[second])
    turned = triangles.copy()
    if alike.any():
        # A graph of triangles as they are and of the same flipped: each is joined to what fits.
        one, other = first % count, second % count
        fitting = np.where(alike, other + count, other), np.where(alike, other, other + count)
        pairs = np.stack([np.append(one, one + count), np.concatenate(fitting)], axis=1)
        plain, flipped = find_components(2 * count, pairs).reshape(2, -1)
        if (plain == flipped).any():
            raise MeshError(f"{complaint} its surface has only one side and no inside; {remedy}")
        flips = np.flatnonzero(flipped < plain)
        turned[:2, flips] = turned[1::-1, flips]
    return turned


def hole_lids(triangles: Integers, n: int) -> Integers:
    """(3, l) triangles that fill every hole, in zigzag between both sides of its boundary.

    The triangles (3, t) of the n vertices have the same orientation, and so have the lids.
    """
    tails, heads = triangles.ravel(), np.roll(triangles, -1, axis=0).ravel()
    keys = edge_keys((tails, heads), n)
    _, place, sizes = np.unique(keys, return_inverse=True, return_counts=True)
    rim = sizes[place.reshape(-1)] == 1
    onward: dict[int, list[int]] = {}
    for tail, head in zip(tails[rim].tolist(), heads[rim].tolist(), strict=True):
        onward.setdefault(head, []).append(tail)  # reversed: a lid is oriented like its faces
    lids: list[tuple[int, int, int]] = []
    while onward:
        start = at = next(iter(onward))
        loop = []
        while at in onward:
            loop.append(at)
            successors = onward[at]
            at = successors.pop()
            if not successors:
                del onward[loop[-1]]
            if at == start:
                break
        lids += _triangulate(loop)
    return np.array(lids, dtype=np.int64).reshape(-1, 3).T


def _triangulate(loop: list[int]) -> list[tuple[int, int, int]]:
    """Triangles that fill a polygon, in zigzag, so that no vertex is part of many."""
    low, high, triangles = 0, len(loop) - 1, []
    while high - low > 1:
        triangles.append((loop[low], loop[low + 1], loop[high]))
        low += 1
        if high - low > 1:
            triangles.append((loop[low], loop[high - 1], loop[high]))
            high -= 1
    return triangles
