"""Pairs of bounding boxes near each other, by sweep and prune."""

import numpy as np

from ..arrays import Floats, Integers, ranges


def find_near_boxes(lowest: Floats, highest: Floats, margin: float) -> Integers:
    """(2, p) sorted pairs i < j of boxes (corners (k, 3)) at most `margin` apart on each axis [m].

    Boxes are sorted along the axis of their largest spread, and compared only with those that
    overlap there (sweep and prune; Cohen and others, *I-COLLIDE*, 1995). Empty boxes, whose lowest
    corners are infinite, are in no pair.
    """
    somewhere = np.where(np.isfinite(lowest), lowest, 0.0)
    axis = int(np.ptp(somewhere, axis=0).argmax()) if len(lowest) else 0
    order = np.argsort(lowest[:, axis], kind="stable")
    begin, end = lowest[order, axis], highest[order, axis] + margin
    number = np.arange(len(order))
    counts = np.maximum(np.searchsorted(begin, end, side="right") - number - 1, 0)
    pairs = order[np.stack([np.repeat(number, counts), ranges(number + 1, counts)])]
    one, other = pairs
    near = (lowest[one] <= highest[other] + margin) & (lowest[other] <= highest[one] + margin)
    pairs = np.sort(pairs[:, near.all(axis=1)], axis=0)
    return np.asarray(pairs[:, np.lexsort(pairs[::-1])])
