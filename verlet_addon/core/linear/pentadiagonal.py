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


def solve(bands: Bands, right: Floats) -> Floats:
    """Returns (3, n) the solutions for right-hand sides (3, n).

    One unknown of a run after the other, to the bits of the C kernel.
    """
    solution = right.copy()
    for run in bands.runs:
        inverse, beside, beyond = bands.factors[:, run]
        values, last = solution[:, run], len(run) - 1
        for k in range(1, last + 1):
            values[:, k] -= beside[k] * values[:, k - 1]
            if k > 1:
                values[:, k] -= beyond[k] * values[:, k - 2]
        for k in range(last, -1, -1):
            values[:, k] *= inverse[k]
            if k < last:
                values[:, k] -= beside[k + 1] * values[:, k + 1]
            if k + 1 < last:
                values[:, k] -= beyond[k + 2] * values[:, k + 2]
        solution[:, run] = values
    return solution
