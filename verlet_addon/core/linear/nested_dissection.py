"""Sparse symmetric systems of meshes, solved directly in nearly linear time by nested dissection.

A thin separator divides the unknowns into two halves, which are divided in turn; each part is
eliminated before the separators around it (A. George, *Nested Dissection of a Regular Finite
Element Mesh*, 1973), as a dense block: by Cholesky, row by row, since LAPACK rounds differently
from CPU to CPU.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..arrays import Floats, Integers, weighted_sums
from ..kernel import Sized, Struct, kernel

MAX_LEAF_UNKNOWNS = 40
"""Size: unknowns up to which a part is not divided further."""
MAX_IN_ORDER = 256
"""Size: unknowns up to which NumPy solves systems in the C kernel's order of summation, to the same
bits; larger ones would take too long."""


@dataclass(frozen=True, eq=False)
class Part:
    """Unknowns that are eliminated together."""

    own: Integers
    """(s,) unknowns of the part."""
    border: Integers
    """(b,) unknowns of the separators around the part that are coupled to it."""
    root: Floats
    """(s, s) L⁻¹, with L Lᵀ the diagonal block of the part after elimination of deeper parts."""
    coupling: Floats
    """(s, b) L⁻¹ times the matrix block between the part and its border."""


class Factors(NamedTuple):
    """A matrix factorized by nested dissection."""

    size: int
    """n, the number of unknowns."""
    parts: list[Part]
    """Parts of the matrix, from the deepest ones to the first separator."""
    levels: Integers
    """Where the parts of each depth begin, and the number of parts."""


@dataclass(frozen=True, eq=False)
class RightSides:
    """A system with right-hand sides, which C solves in place."""

    factors: Factors
    values: Floats
    """(axes, n + 1) right-hand sides, then solutions; the last column is not used."""


def _starts(of: RightSides, name: str) -> Integers:
    """Where the numbers of each part begin, for all axes."""
    sizes = [len(of.values) * len(getattr(part, name)) for part in of.factors.parts]
    return np.cumsum([0, *sizes]).astype(np.int64)


@lru_cache(maxsize=64)
def _upper_places(size: int) -> Integers:
    """Places from the diagonal up in a matrix (size, size), row by row."""
    return np.flatnonzero(np.triu(np.ones((size, size))))


Struct(
    "dissected_part",
    Part,
    reads="own border coupling",
    size=(int, lambda part: len(part.own)),
    reach=(int, lambda part: len(part.border)),
    # The columns of L⁻¹, from the diagonal down.
    root=(Floats, lambda part: part.root.T.take(_upper_places(len(part.own)))),
)
Struct(
    "dissected_system",
    RightSides,
    shares="values",
    parts=(list[Part], lambda of: of.factors.parts),
    size=(int, lambda of: of.factors.size),
    axes=(int, lambda of: len(of.values)),
    scratch={
        "answers": lambda of: (of.factors.size, len(of.values)),
        "outside": lambda of: len(of.values) * sum(len(part.border) for part in of.factors.parts),
    },
    levels=(Integers, lambda of: of.factors.levels),
    levels_count=(int, lambda of: len(of.factors.levels) - 1),
    answer_starts=(Integers, lambda of: _starts(of, "own")),
    outside_starts=(Integers, lambda of: _starts(of, "border")),
)


def factorize(points: Floats, pairs: Integers, couplings: Floats, diagonal: Floats) -> Factors:
    """Factorizes a sparse symmetric positive definite matrix for `solve`.

    Parameters
    ----------
    points : (n, d) positions of the unknowns; coupled ones should be near each other.
    pairs : (m, 2) coupled unknowns, each pair once.
    couplings : (m,) matrix elements of the pairs.
    diagonal : (n,) diagonal elements.
    """
    n = len(points)
    side = np.zeros(n, dtype=np.int64)
    blocks = list(_dissect(points, pairs, np.arange(n), 0, side))
    owner = np.empty(n, dtype=np.int64)
    for number, (_, own, _) in enumerate(blocks):
        owner[own] = number
    earlier = owner[pairs].min(axis=1, initial=len(blocks))
    order = np.argsort(earlier, kind="stable")
    firsts = np.searchsorted(earlier[order], np.arange(len(blocks) + 1))
    place = np.empty(n, dtype=np.int64)
    updates: list[tuple[Integers, Floats]] = []
    parts: list[tuple[int, Part]] = []
    for number, (depth, own, halves) in enumerate(blocks):
        chosen = order[firsts[number] : firsts[number + 1]]
        below = [updates.pop(-left) for left in range(halves, 0, -1)]
        touched = np.concatenate([pairs[chosen].ravel(), *(around for around, _ in below)])
        border = _distinct(touched[owner[touched] != number], place)
        front = _front(own, border, pairs[chosen], couplings[chosen], diagonal, place)
        for around, update in below:
            add_update(front, place[around], update)
        size = len(own)
        root = np.eye(size)
        eliminate_unknowns(front, root)
        updates.append((border, front[size:, size:].copy()))
        parts.append((-depth, Part(own, border, root, front[:size, size:].copy())))
    parts.sort(key=lambda each: each[0])
    depths = np.array([depth for depth, _ in parts], dtype=np.int64)
    levels = np.append(np.unique(depths, return_index=True)[1], len(parts)).astype(np.int64)
    return Factors(n, [part for _, part in parts], levels)


def _distinct(numbers: Integers, place: Integers) -> Integers:
    """The sorted distinct ones of these numbers; `place` (n,) is workspace."""
    order = np.arange(len(numbers))
    place[numbers] = order
    return np.sort(numbers[place[numbers] == order])


@kernel()
def add_update(front: Sized, places: Integers, update: Sized) -> None:
    """Adds a symmetric matrix (b, b) to these rows and columns (b,) of a front, above its diagonal.

    Parameters
    ----------
    front : (m, m) symmetric matrix, whose elements below the diagonal are not meaningful.
    """
    front[np.ix_(places, places)] += update


@kernel()
def eliminate_unknowns(front: Sized, root: Sized) -> None:
    """Eliminates the first s unknowns of a symmetric positive definite matrix, by Cholesky.

    Parameters
    ----------
    front : (m, m) matrix [A, B; Bᵀ, C] with A = L Lᵀ of s unknowns, which becomes
        [Lᵀ, L⁻¹ B; ·, C − Bᵀ A⁻¹ B]; elements below the diagonal are not meaningful.
    root : (s, s) unit matrix, which becomes L⁻¹.
    """
    for k in range(len(root)):
        scale = 1.0 / np.sqrt(front[k, k])
        front[k, k:] *= scale
        root[k, : k + 1] *= scale
        pulls = front[k, k + 1 :]
        front[k + 1 :, k + 1 :] -= pulls[:, None] * pulls
        inner = pulls[: len(root) - k - 1]
        root[k + 1 :, : k + 1] -= inner[:, None] * root[k, : k + 1]


def _dissect(
    points: Floats, pairs: Integers, own: Integers, depth: int, side: Integers
) -> Iterator[tuple[int, Integers, int]]:
    """Divides the unknowns `own`, with the pairs among them, across the axis of largest extent.

    Yields depth, unknowns and number of halves of each block, these halves before their separator.
    `side` (n,) is workspace.
    """
    if len(own) <= MAX_LEAF_UNKNOWNS:
        yield depth, own, 0
        return
    widest = int(np.argmax(np.ptp(points[own], axis=0)))
    order = own[np.argsort(points[own, widest], kind="stable")]
    side[order[: len(own) // 2]] = 1
    side[order[len(own) // 2 :]] = 2
    first, second = pairs.T
    ends = pairs[side[first] != side[second]].ravel()
    side[ends[side[ends] == 1]] = 0
    within, sides = side[own], side[first]
    sides[sides != side[second]] = 0
    halves = [
        (pairs[sides == which], own[within == which]) for which in (1, 2) if (within == which).any()
    ]
    for among, half in halves:
        yield from _dissect(points, among, half, depth + 1, side)
    yield depth, own[within == 0], len(halves)


def _front(
    own: Integers,
    border: Integers,
    pairs: Integers,
    couplings: Floats,
    diagonal: Floats,
    place: Integers,
) -> Floats:
    """(m, m) matrix of a block's unknowns and its border; sets their rows in `place` (n,)."""
    place[own] = np.arange(len(own))
    place[border] = np.arange(len(own), len(own) + len(border))
    front = np.zeros((len(own) + len(border),) * 2)
    front[place[own], place[own]] = diagonal[own]
    first, second = place[pairs].T
    front[first, second] = front[second, first] = couplings
    return front


def solve(factors: Factors, right: Floats) -> Floats:
    """Returns (r, n) the solutions for right-hand sides (r, n)."""
    in_order = factors.size <= MAX_IN_ORDER
    product = weighted_sums if in_order else _product
    values, eliminated = right.T.copy(), []
    for part in factors.parts:
        eliminated.append(product(part.root, values[part.own]))
        values[part.border] -= product(part.coupling.T, eliminated[-1])
    for part in reversed(factors.parts):
        own, around = eliminated.pop(), values[part.border]
        if in_order:
            starts = np.arange(len(own))
            own -= _sum_in_lanes(part.coupling, around, 0 * starts)
            values[part.own] = _sum_in_lanes(part.root.T, own, starts)
        else:
            values[part.own] = product(part.root.T, own - product(part.coupling, around))
    return values.T


def _product(first: Floats, second: Floats) -> Floats:
    """The matrix product, by einsum, for the last digits of BLAS depend on the processor."""
    return np.asarray(np.einsum("ij,jk->ik", first, second))


def _sum_in_lanes(weights: Floats, values: Floats, firsts: Integers) -> Floats:
    """(k, r) Σ weights (k, p) × values (p, r), for each row from its column `firsts` (k,) on.

    Four lanes sum every fourth product each, and the first also the remainder, as the C kernel.
    """
    counts = weights.shape[1] - firsts
    lanes = np.zeros((4, len(weights), values.shape[1]))
    for column in range(weights.shape[1]):
        rows = np.flatnonzero(column < counts)
        at = firsts[rows] + column
        lane = np.where(column < counts[rows] // 4 * 4, column % 4, 0)
        lanes[lane, rows] += weights[rows, at, None] * values[at]
    return np.asarray((lanes[0] + lanes[1]) + (lanes[2] + lanes[3]))
