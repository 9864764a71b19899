"""Assignment of triangles to the leaves of a BVH, and the order of leaves."""

import numpy as np

from ..arrays import Floats, Integers
from ..geometry.graph import match_greedily

LEAF_SIZE = 2
"""Triangles or loose edges in a leaf."""


def fill_leaves(middles: Floats, neighbours: Integers, lengths: Floats) -> Integers:
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
