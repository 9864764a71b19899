"""Symmetric pentadiagonal systems, factorized as L D Lᵀ."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Floats, Integers
from ..kernel import Sized, kernel
from .tridiagonal import find_runs


@kernel()
def factorize_pentadiagonal(rows: Sized) -> None:
    """Factorizes rows (3, n) of `Bands` in place as L D Lᵀ; the diagonal becomes 1 / D."""
    diagonal, beside, beyond = rows
    for k in range(rows.shape[1]):
        pivot, near, far = rows[:, k].copy()
        if k > 1:
            near -= far * beside[k - 1]
            beyond[k] = far * diagonal[k - 2]
            pivot -= beyond[k] * far
        if k:
            beside[k] = near * diagonal[k - 1]
            pivot -= beside[k] * near
        diagonal[k] = 1.0 / pivot


@dataclass(frozen=True, eq=False)
class Bands:
    """A symmetric positive definite pentadiagonal matrix, factorized at its first use."""

    rows: Floats
    """(3, n) the diagonal, and the elements of each unknown with the one before and the second
    before; 0 where there is none."""

    @cached_property
    def runs(self) -> list[Integers]:
        """Unknowns of coupled runs, by length: see `find_runs`."""
        _, beside, beyond = self.rows != 0.0
        return find_runs(beside[1:] | beyond[1:] | np.append(beyond, False)[2:])

    @cached_property
    def factors(self) -> Floats:
        """(3, n) factors L D Lᵀ: 1 / D, and the first and second subdiagonal of L."""
        rows = self.rows.copy()
        factorize_pentadiagonal(rows)
        return rows

    @cached_property
    def lines(self) -> list[tuple[Integers, Floats]]:
        """Of runs of l unknowns, r at a time, (l, 3 r) places in flat arrays (3, n), and factors.

        The factors (3, l, 3 r) are there once for each axis, so that rows are contiguous.
        """
        axes = self.rows.shape[1] * np.arange(3)
        return [
            (
                (run[:, None] + axes[:, None]).reshape(len(run), -1),
                np.tile(self.factors[:, run], 3),
            )
            for run in self.runs
        ]


def solve(bands: Bands, right: Floats) -> Floats:
    """Returns (3, n) the solutions for right-hand sides (3, n).

    One unknown of a run after the other, to the bits of the C kernel.
    """
    solution = np.empty(right.shape)
    for places, (inverse, beside, beyond) in bands.lines:
        values = right.take(places)
        _eliminate(values, beside[1:], beyond[2:])
        values *= inverse
        _eliminate(values[::-1], beside[:0:-1], beyond[:1:-1])
        solution.put(places, values)
    return solution


def _eliminate(values: Floats, near: Floats, far: Floats) -> None:
    """Subtracts from each row but the first its products with the one and the two before."""
    rows, near_rows, far_rows = list(values), list(near), list(far)
    product = np.empty(values.shape[1])
    for k in range(1, len(rows)):
        np.multiply(near_rows[k - 1], rows[k - 1], out=product)
        np.subtract(rows[k], product, out=rows[k])
        if k > 1:
            np.multiply(far_rows[k - 2], rows[k - 2], out=product)
            np.subtract(rows[k], product, out=rows[k])
