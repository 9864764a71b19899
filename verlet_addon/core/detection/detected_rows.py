"""Arrays of detected pairs that the detection kernels return."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers

DetectedRows = tuple[Integers, Floats, Floats, Floats]
"""(3, k) kinds (0 = vertex and triangle, 1 = two edges) and numbers of both features, (4, k)
weights, (3, k) normals, (k,) gaps [m]."""
GatheredRows = tuple[Integers, Floats, Floats, Floats, Integers]
"""(4, k) particles, (4, k) weights, (3, k) normals, (k,) gaps [m], (2, k) owners of features."""
NO_ROWS: DetectedRows = (
    np.empty((3, 0), dtype=np.int64),
    np.empty((4, 0)),
    np.empty((3, 0)),
    np.empty(0),
)


def join_rows(parts: Iterable[DetectedRows]) -> DetectedRows:
    """Concatenates the rows of all parts."""
    features, weights, normals, gaps = (
        np.concatenate(each, axis=-1) for each in zip(NO_ROWS, *parts, strict=True)
    )
    return features, weights, normals, gaps


@dataclass(frozen=True, eq=False)
class RowBuffer:
    """Arrays that a kernel writes rows to."""

    capacity: int
    """Largest number of rows."""
    features: Integers
    """(3, capacity); this and the following arrays are those of DetectedRows."""
    weights: Floats
    normals: Floats
    gaps: Floats

    def write(self, before: int, rows: DetectedRows) -> int:
        """Writes rows after the first `before`, if there is room; returns the number of all."""
        count = before + len(rows[3])
        if count <= self.capacity:
            for to, part in zip(
                (self.features, self.weights, self.normals, self.gaps), rows, strict=True
            ):
                to[..., before:count] = part
        return count

    def first(self, count: int) -> DetectedRows:
        """The first `count` rows."""
        columns = slice(count)
        parts = (self.features[:, columns], self.weights[:, columns], self.normals[:, columns])
        return *parts, self.gaps[columns]


def make_row_buffer(capacity: int) -> RowBuffer:
    """Allocates a buffer for `capacity` rows."""
    features = np.empty((3, capacity), dtype=np.int64)
    return RowBuffer(
        capacity, features, np.empty((4, capacity)), np.empty((3, capacity)), np.empty(capacity)
    )
