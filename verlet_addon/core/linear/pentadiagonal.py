"""Symmetric pentadiagonal systems: block tridiagonal ones, with blocks of two unknowns."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Floats, Integers
from ..kernel import Sized, kernel
from . import tridiagonal


@kernel()
def factorize_pentadiagonal(rows: Sized) -> None:
    """Factorizes rows (3, n, …) of `Bands` in place as L D Lᵀ; the diagonal becomes 1 / D."""
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
    longest_run: int
    """Number of unknowns in the longest run of coupled ones."""

    @cached_property
    def runs(self) -> list[Integers]:
        """Unknowns of coupled runs, by length; empty if any is long: see `short_runs`."""
        _, beside, beyond = self.rows != 0.0
        return tridiagonal.short_runs(beside[1:] | beyond[1:] | np.append(beyond, False)[2:])

    def whole_factors(self) -> Floats:
        """(3, n) the same factors of all unknowns, one after the other."""
        rows = self.rows.copy()
        factorize_pentadiagonal(rows)
        return rows

    @cached_property
    def factors(self) -> Floats:
        """(3, n) factors L D Lᵀ of short runs: 1 / D, and the first and second subdiagonal of L."""
        rows_of_factors = self.rows.copy()
        for run in self.runs:
            rows = rows_of_factors[:, run]
            factorize_pentadiagonal.reference(rows)
            rows_of_factors[:, run] = rows
        return rows_of_factors

    @cached_property
    def blocks(self) -> tridiagonal.Factors:
        """Factors of the block tridiagonal matrix."""
        filled = np.pad(self.rows, ((0, 0), (0, self.rows.shape[1] % 2)))
        filled[0, self.rows.shape[1] :] = 1.0
        first, second = filled[:, ::2], filled[:, 1::2]
        block = np.stack([[first[0], second[1]], [second[1], second[0]]])
        onward = first[:, 1:]
        across = np.stack([[onward[2], np.zeros_like(onward[2])], [onward[1], second[2, 1:]]])
        rounds = (self.longest_run // 2 + 1).bit_length()
        return tridiagonal.factorize(block, across, rounds, BLOCKS)


def solve(bands: Bands, right: Floats) -> Floats:
    """Returns (3, n) the solutions for right-hand sides (3, n)."""
    size = right.shape[1]
    if bands.runs:
        return _solve_sequentially(bands, right)
    blocks = np.zeros((3, 2, (size + 1) // 2))
    blocks[:, 0] = right[:, ::2]
    blocks[:, 1, : size // 2] = right[:, 1::2]
    solution = tridiagonal.solve(bands.blocks, blocks)
    return solution.transpose(0, 2, 1).reshape(3, -1)[:, :size]


def _solve_sequentially(bands: Bands, right: Floats) -> Floats:
    """(3, n) the solutions, one unknown of a run after the other, to the bits of the C kernel."""
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


def _transposed(blocks: Floats) -> Floats:
    """Transposes 2 × 2 blocks (2, 2, k)."""
    return np.asarray(blocks.transpose(1, 0, 2))


def _times(first: Floats, second: Floats) -> Floats:
    """Products of 2 × 2 blocks (2, 2, k)."""
    return np.asarray(first[:, 0, None] * second[0] + first[:, 1, None] * second[1])


def _apply(blocks: Floats, vectors: Floats) -> Floats:
    """(3, 2, k) blocks (2, 2, k) times vectors (3, 2, k)."""
    result = blocks[:, 0] * vectors[:, :1]
    result += blocks[:, 1] * vectors[:, 1:]
    return np.asarray(result)


def _inverted(blocks: Floats) -> Floats:
    """Inverses of symmetric 2 × 2 blocks (2, 2, k) with positive determinants."""
    (a, b), (_, d) = blocks
    return np.asarray(np.stack([[d, -b], [-b, a]]) / (a * d - b * b))


BLOCKS = tridiagonal.Arithmetic(_times, _apply, _transposed, _inverted)
