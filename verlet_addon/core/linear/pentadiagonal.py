"""Symmetric pentadiagonal systems, as tridiagonal ones of 2 × 2 blocks.

Unknowns are taken two by two.
"""

from typing import NamedTuple

import numpy as np

from ..arrays import Floats
from . import tridiagonal


class Factors(NamedTuple):
    """A factorized system."""

    size: int
    """Number of unknowns."""
    blocks: tridiagonal.Factors


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
    rounds = (longest // 2 + 1).bit_length()
    return Factors(n, tridiagonal.factorize(block, across, rounds, BLOCKS))


def solve(factors: Factors, right: Floats) -> Floats:
    """Returns (3, n) the solutions for right-hand sides (3, n)."""
    blocks = np.zeros((3, 2, (factors.size + 1) // 2))
    blocks[:, 0] = right[:, ::2]
    blocks[:, 1, : factors.size // 2] = right[:, 1::2]
    found = tridiagonal.solve(factors.blocks, blocks)
    return found.transpose(0, 2, 1).reshape(3, -1)[:, : factors.size]


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


BLOCKS = tridiagonal.Arithmetic(_times, _apply, _turned, _inverted)
