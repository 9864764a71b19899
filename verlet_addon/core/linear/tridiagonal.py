"""Symmetric tridiagonal systems by cyclic reduction.

Each round eliminates every second unknown (R. W. Hockney, *A Fast Direct Solution of Poisson's
Equation*, 1965), so that whole arrays are worked on at once.
"""

from typing import NamedTuple

import numpy as np

from ..arrays import Floats


class Round(NamedTuple):
    """What one round needs of the unknowns it eliminates, those with odd places."""

    inverse: Floats
    """1 / their diagonal."""
    before: Floats
    """Coupling to the unknown before, over their diagonal."""
    after: Floats
    """Coupling to the unknown after, over their diagonal."""


class Factors(NamedTuple):
    """A factorized system."""

    rounds: list[Round]
    inverse: Floats
    """1 / the diagonal of the unknowns that are left, none coupled to another."""


def factorize(diagonal: Floats, beside: Floats, rounds: int) -> Factors:
    """Prepares a system for `solve`.

    Parameters
    ----------
    diagonal : (n,) above 0.
    beside : (n − 1,) element between an unknown and the next.
    rounds : so many that runs of coupled unknowns are shorter than 2^rounds.
    """
    done: list[Round] = []
    while len(done) < rounds and len(diagonal) > 1:
        left, onward = beside[::2], beside[1::2]
        inverse = 1.0 / diagonal[1::2]
        before, after = left * inverse, onward * inverse[: len(onward)]
        done.append(Round(inverse, before, after))
        kept = diagonal[::2].copy()
        kept[: len(before)] -= before * left
        kept[1:] -= after * onward
        diagonal, beside = kept, -after * left[: len(after)]
    return Factors(done, 1.0 / diagonal)


def solve(factors: Factors, right: Floats) -> Floats:
    """Returns (…, n) the solutions for right-hand sides (…, n)."""
    odds = []
    for _, before, after in factors.rounds:
        odd = right[..., 1::2]
        odds.append(odd)
        right = right[..., ::2].copy()
        right[..., : len(before)] -= before * odd
        right[..., 1:] -= after * odd[..., : len(after)]
    found = right * factors.inverse
    for (inverse, before, after), rest in zip(
        reversed(factors.rounds), reversed(odds), strict=True
    ):
        odd = rest * inverse
        odd -= before * found[..., : len(before)]
        odd[..., : len(after)] -= after * found[..., 1:]
        both = np.empty((*found.shape[:-1], found.shape[-1] + odd.shape[-1]))
        both[..., ::2], both[..., 1::2] = found, odd
        found = both
    return found
