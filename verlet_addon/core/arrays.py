"""Types of arrays, and what NumPy leaves to write again and again."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Table = TypeVar("Table")

SHORTEST = 1e-12
"""Distances are not divided by less than this [m]; coincident particles have no direction."""
NONZERO = 1e-300
"""Keeps 0 / 0 away where sizes may be as small as any."""


def sum_by(labels: Integers, values: Floats, count: int) -> Floats:
    """(count,) the values added up label by label."""
    return np.bincount(labels, values, count).astype(np.float64, copy=False)


def sum_rows(labels: Integers, rows: Floats, count: int) -> Floats:
    """(r, count) the values of each row (r, k) added up label by label."""
    return np.stack([sum_by(labels, row, count) for row in rows])


def sum_products(
    labels: Integers, first: Floats, second: Floats, count: int, weights: Floats | float = 1.0
) -> Floats:
    """(count, 3, 3) Σ w a bᵀ of vectors a and b (3, k), added up label by label."""
    products = (first[:, None] * second * weights).reshape(9, -1)
    return sum_rows(labels, products, count).T.reshape(-1, 3, 3)


def in_turn(values: Floats) -> float:
    """The sum of values (k,), added one after the other as C does: NumPy adds some at a time."""
    return float(np.cumsum(values)[-1])


def ranges(starts: Integers, counts: Integers) -> Integers:
    """(sum of counts,) numbers that count on from each start, so many from each."""
    before = np.cumsum(counts) - counts
    return np.asarray(np.arange(int(counts.sum())) + np.repeat(starts - before, counts))


def dot(a: Sequence[Floats] | Floats, b: Sequence[Floats] | Floats) -> Floats:
    """(k,) products of vectors that are given by axis."""
    return np.asarray(a[0] * b[0] + a[1] * b[1] + a[2] * b[2])


def cross(a: Floats, b: Floats) -> Floats:
    """(3, k) cross products of vectors (3, k)."""
    return np.stack(
        [
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        ]
    )


def cofactors(matrices: Floats) -> tuple[Floats, Floats]:
    """(k, 3, 3) cofactors of matrices, whose transposes over determinants (k,) invert these.

    LAPACK rounds in its own way on every processor.
    """
    one, two, three = matrices.transpose(1, 2, 0)
    found = np.stack([cross(two, three), cross(three, one), cross(one, two)])
    return found.transpose(2, 0, 1), dot(one, found[0])


def magnitudes(vectors: Sequence[Floats] | Floats) -> Floats:
    """(k,) lengths of vectors that are given by axis (3, k)."""
    squares = vectors[0] * vectors[0]
    squares += vectors[1] * vectors[1]
    squares += vectors[2] * vectors[2]
    return np.sqrt(squares, out=squares)


def norms(vectors: Sequence[Floats] | Floats) -> Floats:
    """(k,) the same, but never less than SHORTEST, so that one can divide by them."""
    found = magnitudes(vectors)
    return np.maximum(found, SHORTEST, out=found)


CHUNK_SIZE = 32768
"""Numbers that are worked on at a time: no more than a processor has at hand."""


def concatenated(*tables: Table, axis: int = 0) -> Table:
    """Dataclasses of arrays, one after the other along an axis of all of them."""
    columns = zip(*(vars(table).values() for table in tables), strict=True)
    return type(tables[0])(*(np.concatenate(column, axis=axis) for column in columns))


def selected(table: Table, which: Booleans | Integers) -> Table:
    """A dataclass of arrays, some places of their last axis."""
    return type(table)(*(array[..., which] for array in vars(table).values()))


def inverse(resistance: Floats, mobility: Floats) -> Floats:
    """(c,) 1 / resistance, and 0 where nothing can move."""
    movable = mobility > 0.0
    return np.where(movable, 1.0 / np.where(movable, resistance, 1.0), 0.0)


def weighted_sums(weights: Floats, values: Floats) -> Floats:
    """(k, …) Σ weights (k, p) × values (p, …), added one after the other.

    Matrix products add in an order that the processor decides, and so end in other digits.
    """
    flat = values.reshape(len(values), int(np.prod(values.shape[1:])))
    total = np.zeros((len(weights), flat.shape[1]))
    rows = max(1, CHUNK_SIZE // max(1, flat.shape[1]))
    for first in range(0, len(weights), rows):
        found = total[first : first + rows]
        product = np.empty_like(found)
        for column, value in zip(weights[first : first + rows].T, flat, strict=True):
            found += np.multiply(column[:, None], value, out=product)
    return total.reshape(len(weights), *values.shape[1:])


def unique_in_order(values: Integers) -> Integers:
    """Each of the values once, as they occur first."""
    _, places = np.unique(values, return_index=True)
    return values[np.sort(places)]
