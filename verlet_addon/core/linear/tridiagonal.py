"""Symmetric tridiagonal systems by cyclic reduction.

Each round eliminates every second unknown (R. W. Hockney, *A Fast Direct Solution of Poisson's
Equation*, 1965), so that NumPy works on whole arrays.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..arrays import Booleans, Floats, Integers

MAX_SHORT_RUN = 16
"""Size: unknowns of a run up to which Thomas's algorithm, as in C, takes NumPy no longer."""


class ReductionRound(NamedTuple):
    """Factors of one round, for the unknowns that it eliminates: every second one, from 1 on."""

    inverse: Floats
    """Inverse of their diagonal elements."""
    before: Floats
    """`inverse` times the element between the unknown before and each of them."""
    after: Floats
    """`inverse` times the element between each of them and the unknown after."""


class Factors(NamedTuple):
    """A tridiagonal matrix factorized by cyclic reduction."""

    rounds: list[ReductionRound]
    inverse: Floats
    """Inverse diagonal of the remaining unknowns, which are not coupled to each other."""


def factorize(diagonal: Floats, off_diagonal: Floats, rounds: int) -> Factors:
    """Factorizes a symmetric positive definite tridiagonal matrix for `solve`.

    Parameters
    ----------
    diagonal : (n,) diagonal elements.
    off_diagonal : (n − 1,) element between each unknown and the next.
    rounds : number of rounds; runs of coupled unknowns must be shorter than 2^rounds.
    """
    done: list[ReductionRound] = []
    while len(done) < rounds and len(diagonal) > 1:
        left, onward = off_diagonal[::2], off_diagonal[1::2]
        inverse = 1.0 / diagonal[1::2]
        before, after = inverse * left, inverse[: len(onward)] * onward
        done.append(ReductionRound(inverse, before, after))
        kept = diagonal[::2].copy()
        kept[: len(before)] -= left * before
        kept[1:] -= onward * after
        diagonal, off_diagonal = kept, -(left[: len(after)] * after)
    return Factors(done, 1.0 / diagonal)


def find_runs(linked: Booleans) -> list[Integers]:
    """Runs of consecutive linked unknowns: for each length l, (l, r) unknowns of r runs.

    `linked` (n − 1,) is whether each of n unknowns is linked to the next.
    """
    starts = np.flatnonzero(np.append(True, ~linked))
    sizes = np.diff(starts, append=len(linked) + 1)
    return [starts[sizes == size] + np.arange(size)[:, None] for size in np.unique(sizes)]


def solve_sequentially(
    diagonal: Floats, off_diagonal: Floats, right: Floats, runs: Sequence[Integers]
) -> Floats:
    """Returns (n,) the solutions for right-hand sides (n,), of the runs (l, r) alone; 0 elsewhere.

    Thomas's algorithm from both ends to the middle and back, to the same bits as the C kernel.
    """
    solution = np.zeros_like(right)
    for run in runs:
        solution[run] = _thomas(diagonal[run], off_diagonal[run[:-1]], right[run])
    return solution


def _thomas(pivot: Floats, off_diagonal: Floats, right: Floats) -> Floats:
    """(l, r) solutions of r systems of l unknowns; the arguments are overwritten."""
    low, high = 0, len(right) - 1
    while low + 1 < high:
        for here, onward, link in ((low, low + 1, low), (high, high - 1, high - 1)):
            coupling, inverse = off_diagonal[link].copy(), 1.0 / pivot[here]
            off_diagonal[link] *= inverse
            pivot[onward] -= off_diagonal[link] * coupling
            right[onward] -= off_diagonal[link] * right[here]
            right[here] *= inverse
        low, high = low + 1, high - 1
    if low == high:
        right[low] /= pivot[low]
    else:
        share = off_diagonal[low] / pivot[low]
        right[high] -= share * right[low]
        right[high] /= pivot[high] - share * off_diagonal[low]
        right[low] -= off_diagonal[low] * right[high]
        right[low] /= pivot[low]
    while low > 0:
        low, high = low - 1, high + 1
        right[low] -= off_diagonal[low] * right[low + 1]
        right[high] -= off_diagonal[high - 1] * right[high - 1]
    return right


def solve(factors: Factors, right: Floats) -> Floats:
    """Returns (…, n) the solutions for right-hand sides (…, n)."""
    odds = []
    for _, before, after in factors.rounds:
        odd = right[..., 1::2]
        odds.append(odd)
        right = right[..., ::2].copy()
        right[..., : len(before)] -= before * odd
        right[..., 1:] -= after * odd[..., : len(after)]
    solution = factors.inverse * right
    for (inverse, before, after), rest in zip(
        reversed(factors.rounds), reversed(odds), strict=True
    ):
        odd = inverse * rest
        odd -= before * solution[..., : len(before)]
        odd[..., : len(after)] -= after * solution[..., 1:]
        both = np.empty((*solution.shape[:-1], solution.shape[-1] + odd.shape[-1]))
        both[..., ::2], both[..., 1::2] = solution, odd
        solution = both
    return solution
