"""Array types, and small array functions that NumPy lacks."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Table = TypeVar("Table")

SHORTEST = 1e-12
"""Rounding: lower bound of distances that are divisors [m]; coincident particles have no
direction."""
NONZERO = 1e-300
"""Lower bound of divisors that may be arbitrarily small, against 0 / 0: any number that is next to
the smallest float."""


def run_ends(labels: Integers) -> Integers:
    """(r,) end of each run of equal labels (k,)."""
    return np.append(np.flatnonzero(np.diff(labels)) + 1, len(labels))


def longest_run(ends: Integers) -> int:
    """The length of the longest run, given the ends of all."""
    return int(np.diff(ends, prepend=0).max(initial=0))


def sum_by(labels: Integers, values: Floats, count: int) -> Floats:
    """(count,) sums of values (k,) with the same label (k,)."""
    return np.bincount(labels, values, count).astype(np.float64, copy=False)


def sum_rows(labels: Integers, rows: Floats, count: int) -> Floats:
    """(r, count) sums by label (k,) of each of r rows (r, k)."""
    return np.stack([sum_by(labels, row, count) for row in rows])


def sum_products(
    labels: Integers, first: Floats, second: Floats, count: int, weights: Floats | float = 1.0
) -> Floats:
    """(count, 3, 3) sums Σ w a bᵀ by label (k,) of vectors a and b (3, k)."""
    products = (first[:, None] * second * weights).reshape(9, -1)
    return sum_rows(labels, products, count).T.reshape(-1, 3, 3)


def in_turn(values: Floats) -> float:
    """The sum of values (k,), added sequentially as in C; NumPy's own sum adds pairwise."""
    return float(np.cumsum(values)[-1])


def ranges(starts: Integers, counts: Integers) -> Integers:
    """(sum of counts,) concatenated ranges: starts[i], starts[i] + 1, …, counts[i] numbers each."""
    before = np.cumsum(counts) - counts
    return np.asarray(np.arange(int(counts.sum())) + np.repeat(starts - before, counts))


def dot(a: Sequence[Floats] | Floats, b: Sequence[Floats] | Floats) -> Floats:
    """(k,) dot products of vectors (3, k)."""
    return np.asarray(a[0] * b[0] + a[1] * b[1] + a[2] * b[2])


def cross(a: Floats, b: Floats) -> Floats:
    """(3, k) cross products of vectors (3, k)."""
    return np.stack([a[k - 2] * b[k - 1] - a[k - 1] * b[k - 2] for k in range(3)])


def cofactors(matrices: Floats) -> tuple[Floats, Floats]:
    """(k, 3, 3) cofactor matrices and (k,) determinants of matrices (k, 3, 3).

    The inverse is the transposed cofactors over the determinant. LAPACK is not used because its
    rounding differs between processors.
    """
    one, two, three = matrices.transpose(1, 2, 0)
    found = np.stack([cross(two, three), cross(three, one), cross(one, two)])
    return found.transpose(2, 0, 1), dot(one, found[0])


def apply_matrices(matrices: Floats, vectors: Floats) -> Floats:
    """(3, k) matrices (k, 3, 3) times vectors (3, k)."""
    return np.stack([dot(row, vectors) for row in matrices.transpose(1, 2, 0)])


def magnitudes(vectors: Sequence[Floats] | Floats) -> Floats:
    """(k,) lengths of vectors (3, k)."""
    return np.asarray(np.sqrt(dot(vectors, vectors)))


def norms(vectors: Sequence[Floats] | Floats) -> Floats:
    """(k,) lengths of vectors (3, k), at least SHORTEST, so that they can be divisors."""
    return np.maximum(magnitudes(vectors), SHORTEST)


CHUNK_SIZE = 32768
"""Size: numbers processed at a time, so that they fit into the processor's cache (256 KiB)."""


def concatenated(*tables: Table, axis: int = 0) -> Table:
    """One dataclass of arrays: each array of the given ones, concatenated along an axis."""
    columns = zip(*(vars(table).values() for table in tables), strict=True)
    return type(tables[0])(*(np.concatenate(column, axis=axis) for column in columns))


def selected(table: Table, which: Booleans | Integers) -> Table:
    """A dataclass of arrays, each indexed by `which` along its last axis, in contiguous arrays."""
    places = np.flatnonzero(which) if which.dtype == bool else which
    return type(table)(*(array.take(places, axis=-1) for array in vars(table).values()))


def inverse(resistance: Floats, mobility: Floats) -> Floats:
    """(c,) 1 / resistance where the mobility is above 0, else 0."""
    movable = mobility > 0.0
    return np.where(movable, 1.0 / np.where(movable, resistance, 1.0), 0.0)


def with_added_masses(inverse_masses: Floats, added: Floats) -> Floats:
    """Inverse masses [1/kg] after adding masses [kg]; 0 stays 0, and an added ∞ gives 0."""
    return inverse(
        1.0 / np.where(inverse_masses > 0.0, inverse_masses, 1.0) + added, inverse_masses
    )


def weighted_sums(weights: Floats, values: Floats) -> Floats:
    """(k, …) Σ weights (k, p) × values (p, …), added sequentially.

    A matrix product of BLAS adds in an order that depends on the processor, so its last digits
    differ.
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
    """The distinct values, in the order of their first occurrence."""
    return np.array([*dict.fromkeys(values.tolist())], dtype=values.dtype)


def by_value(function: Callable[[float], float], values: Floats) -> Floats:
    """Applies a function of Python's `math` to each value, once for equal ones.

    NumPy's own exp, log and cos use the vector instructions of the processor, and round differently
    in each version; folding cloth amplifies differences of the last digit.
    """
    different, places = np.unique(values, return_inverse=True)
    results = np.array([function(value) for value in different.tolist()], dtype=float)
    return np.asarray(results[places].reshape(np.shape(values)))
