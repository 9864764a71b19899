"""Symmetric pentadiagonal systems, as tridiagonal ones of 2 × 2 blocks, by cyclic reduction.

Unknowns are taken two by two; see `tridiagonal` for the method.
"""

from typing import NamedTuple

import numpy as np

from ..arrays import Floats


class Round(NamedTuple):
    """What one round needs of the blocks that it eliminates, those with odd places."""

    inverse: Floats
    """(2, 2, k) inverses of their diagonal blocks."""
    before: Floats
    """(2, 2, k) inverse times the coupling to the block before."""
    after: Floats
    """(2, 2, k') inverse times the coupling to the block after."""


class Factors(NamedTuple):
    """A factorized system."""

    size: int
    """Number of unknowns."""
    rounds: list[Round]
    inverse: Floats
    """(2, 2, k) of the blocks that are left, none coupled to another."""


def factorize(diagonal: Floats, beside: Floats, beyond: Floats, longest: int) -> Factors:
    """Prepares a system for `solve`.

    Parameters
    ----------
    diagonal : (n,) above 0.
    beside : (n − 1,) element between an unknown and the next.
    beyond : (n − 2,) element between an unknown and the next but one.
    longest : the most unknowns that are coupled in a run.
    """
    n = len(diagonal)
    even = n + n % 2
    diagonal = np.concatenate([diagonal, np.ones(even - n)])
    beside = np.concatenate([beside, np.zeros(even - 1 - len(beside))])
    beyond = np.concatenate([beyond, np.zeros(even - 2 - len(beyond))])
    block = np.stack([[diagonal[::2], beside[::2]], [beside[::2], diagonal[1::2]]])
    across = np.stack([[beyond[::2], np.zeros(even // 2 - 1)], [beside[1::2], beyond[1::2]]])
    done: list[Round] = []
    while len(done) < (longest // 2 + 1).bit_length() and block.shape[2] > 1:
        left, onward = across[..., ::2], across[..., 1::2]
        inverse = _inverted(block[..., 1::2])
        before = _times(inverse, _turned(left))
        after = _times(inverse[..., : onward.shape[2]], onward)
        done.append(Round(inverse, before, after))
        kept = block[..., ::2].copy()
        kept[..., : before.shape[2]] -= _times(left, before)
        kept[..., 1:] -= _times(_turned(onward), after)
        block, across = kept, -_times(left[..., : after.shape[2]], after)
    return Factors(n, done, _inverted(block))


def solve(factors: Factors, right: Floats) -> Floats:
    """Returns (3, n) the solutions for right-hand sides (3, n)."""
    blocks = np.zeros((3, 2, (factors.size + 1) // 2))
    blocks[:, 0] = right[:, ::2]
    blocks[:, 1, : factors.size // 2] = right[:, 1::2]
    odds = []
    for _, before, after in factors.rounds:
        odd = blocks[..., 1::2]
        odds.append(odd)
        blocks = blocks[..., ::2].copy()
        blocks[..., : before.shape[2]] -= _apply(_turned(before), odd)
        blocks[..., 1:] -= _apply(_turned(after), odd[..., : after.shape[2]])
    found = _apply(factors.inverse, blocks)
    for (inverse, before, after), rest in zip(
        reversed(factors.rounds), reversed(odds), strict=True
    ):
        odd = _apply(inverse, rest)
        odd -= _apply(before, found[..., : before.shape[2]])
        odd[..., : after.shape[2]] -= _apply(after, found[..., 1:])
        both = np.empty((3, 2, found.shape[2] + odd.shape[2]))
        both[..., ::2], both[..., 1::2] = found, odd
        found = both
    solution = np.empty((3, 2 * found.shape[2]))
    solution[:, ::2], solution[:, 1::2] = found[:, 0], found[:, 1]
    return solution[:, : factors.size]


def _turned(blocks: Floats) -> Floats:
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
