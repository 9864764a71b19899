"""Which of many boxes come near each other."""

import numpy as np

from ..arrays import Floats, Integers, ranges


def find_near_boxes(lowest: Floats, highest: Floats, margin: float) -> Integers:
    """(2, p) pairs i < j of boxes with such corners (k, 3) that come within a margin [m], sorted.

    They are sorted along the axis on which they are spread widest, and compared with those alone
    that overlap there (sweep and prune; Cohen and others, *I-COLLIDE*, 1995). Empty boxes, whose
    lowest corners are infinite, are near none.
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
