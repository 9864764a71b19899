"""What comes near, as the kernels that look for it tell."""

from collections.abc import Iterable

import numpy as np

from ..arrays import Floats, Integers

Rows = tuple[Integers, Floats, Floats, Floats]
"""(3, k) kinds (0 vertex and triangle, 1 two edges) and features, (4, k) weights, (3, k) normals,
(k,) gaps."""
NO_ROWS: Rows = np.empty((3, 0), dtype=np.int64), np.empty((4, 0)), np.empty((3, 0)), np.empty(0)


def join_rows(parts: Iterable[Rows]) -> Rows:
    """All rows of some parts, one after the other."""
    features, weights, normals, gaps = (
        np.concatenate(each, axis=-1) for each in zip(NO_ROWS, *parts, strict=True)
    )
    return features, weights, normals, gaps


def make_room(capacity: int) -> Rows:
    """Room for so many rows."""
    features = np.empty((3, capacity), dtype=np.int64)
    return features, np.empty((4, capacity)), np.empty((3, capacity)), np.empty(capacity)
