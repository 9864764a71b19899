"""Sparse symmetric systems of meshes, solved directly in nearly linear time by nested dissection.

A thin separator divides the unknowns into two halves, which are divided in turn; each part is
eliminated before the separators around it (A. George, *Nested Dissection of a Regular Finite
Element Mesh*, 1973). Parts of one depth are solved together, as dense blocks padded to one size.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Booleans, Floats, Integers, weighted_sums
from ..kernel import Struct
from .elimination import eliminate_unknowns

MAX_LEAF_UNKNOWNS = 40
"""Number of unknowns up to which a part is not divided further."""
MAX_IN_ORDER = 256
"""Number of unknowns up to which NumPy solves systems in the C kernel's order of summation, to the
same bits; larger ones would take too long."""


class Depth(NamedTuple):
    """The p parts of one depth, padded to s unknowns and b around them by the unknown number n."""

    own: Integers
    """(p, s) unknowns of each part."""
    border: Integers
    """(p, b) unknowns of the separators around each part that are coupled to it."""
    root: Floats
    """(p, s, s) L⁻¹, with L Lᵀ the diagonal block of the part after elimination of deeper parts."""
    coupling: Floats
    """(p, s, b) L⁻¹ times the matrix block between the part and its border."""


class Factors(NamedTuple):
    """A matrix factorized by nested dissection."""

    size: int
    """n, the number of unknowns."""
    depths: list[Depth]
    """From the deepest parts to the first separator."""


@dataclass(frozen=True, eq=False)
class DepthInUse:
    """One depth of a system, as C reads it: part by part, without padding."""

    depth: Depth
    size: int
    """n, the number of unknowns."""
    axes: int
    """Number of right-hand sides."""

    @property
    def in_use(self) -> tuple[Booleans, Booleans]:
        """(p, s) and (p, b) bool, unknowns that are no padding."""
        return self.depth.own < self.size, self.depth.border < self.size

    def root(self) -> Floats:
        """The columns of L⁻¹ of each part, from the diagonal down."""
        own, _ = self.in_use
        below = own[:, :, None] & np.tri(own.shape[1], dtype=bool).T
        return np.asarray(self.depth.root.transpose(0, 2, 1)[below & own[:, None, :]])

    def coupling(self) -> Floats:
        """The rows of the coupling of each part."""
        own, border = self.in_use
        return np.asarray(self.depth.coupling[own[:, :, None] & border[:, None, :]])


@dataclass(frozen=True, eq=False)
class RightSides:
    """A system with right-hand sides, which C solves in place."""

    factors: Factors
    values: Floats
    """(axes, n + 1) right-hand sides, then solutions; the last column is not used."""

    @property
    def depths(self) -> list[DepthInUse]:
        """The depths of the system."""
        axes, size = len(self.values), self.factors.size
        return [DepthInUse(depth, size, axes) for depth in self.factors.depths]


Struct(
    "dissected_depth",
    DepthInUse,
    parts=(int, lambda of: len(of.depth.own)),
    size=(int, lambda of: of.depth.own.shape[1]),
    reach=(int, lambda of: of.depth.border.shape[1]),
    sizes=(Integers, lambda of: of.in_use[0].sum(axis=1)),
    reaches=(Integers, lambda of: of.in_use[1].sum(axis=1)),
    own=(Integers, lambda of: of.depth.own),
    border=(Integers, lambda of: of.depth.border),
    root=(Floats, DepthInUse.root),
    coupling=(Floats, DepthInUse.coupling),
    scratch={
        "answers": lambda of: (*of.depth.own.shape, of.axes),
        "outside": lambda of: (of.axes, of.depth.border.shape[1]),
    },
)
Struct(
    "dissected_system",
    RightSides,
    reads="depths",
    shares="values",
    size=(int, lambda of: of.factors.size),
    axes=(int, lambda of: len(of.values)),
)


@dataclass(eq=False)
class _Part:
    """A separator with the parts on both sides as children, or a part that is not divided."""

    depth: int
    own: Integers
    children: list["_Part"]
    border: Integers = field(init=False)
    root: Floats = field(init=False)
    coupling: Floats = field(init=False)

    def walk(self) -> Iterator["_Part"]:
        """All parts of this one, children before their separator."""
        for child in self.children:
            yield from child.walk()
        yield self


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
    parts = list(_dissect(points, pairs, np.arange(n), 0, side).walk())
    owner = np.empty(n, dtype=np.int64)
    for number, part in enumerate(parts):
        owner[part.own] = number
    earlier = owner[pairs].min(axis=1, initial=len(parts))
    order = np.argsort(earlier, kind="stable")
    firsts = np.searchsorted(earlier[order], np.arange(len(parts) + 1))
    place = np.empty(n, dtype=np.int64)
    updates: dict[int, tuple[Integers, Floats]] = {}
    depths: dict[int, list[_Part]] = {}
    for number, part in enumerate(parts):
        chosen = order[firsts[number] : firsts[number + 1]]
        below = [updates.pop(id(child)) for child in part.children]
        touched = np.unique(
            np.concatenate([pairs[chosen].ravel(), *(around for around, _ in below)])
        )
        border = touched[owner[touched] != number]
        front = _front(part.own, border, pairs[chosen], couplings[chosen], diagonal, place)
        for around, update in below:
            front[np.ix_(place[around], place[around])] += update
        size = len(part.own)
        part.border = border
        part.root = np.eye(size)
        eliminate_unknowns(front, part.root)
        part.coupling = front[:size, size:].copy()
        updates[id(part)] = border, front[size:, size:]
        depths.setdefault(part.depth, []).append(part)
    return Factors(n, [_pad_parts(depths[depth], n) for depth in sorted(depths, reverse=True)])


def _dissect(points: Floats, pairs: Integers, own: Integers, depth: int, side: Integers) -> _Part:
    """Divides the unknowns `own`, with the pairs among them, across the axis of largest extent.

    `side` (n,) is workspace.
    """
    if len(own) <= MAX_LEAF_UNKNOWNS:
        return _Part(depth, own, [])
    widest = int(np.argmax(np.ptp(points[own], axis=0)))
    order = own[np.argsort(points[own, widest], kind="stable")]
    side[order[: len(own) // 2]] = 1
    side[order[len(own) // 2 :]] = 2
    ends = pairs[side[pairs[:, 0]] != side[pairs[:, 1]]].ravel()
    side[ends[side[ends] == 1]] = 0
    within = side[own]
    sides = side[pairs]
    halves = [
        (pairs[(sides == which).all(axis=1)], own[within == which])
        for which in (1, 2)
        if (within == which).any()
    ]
    children = [_dissect(points, among, half, depth + 1, side) for among, half in halves]
    return _Part(depth, own[within == 0], children)


def _front(
    own: Integers,
    border: Integers,
    pairs: Integers,
    couplings: Floats,
    diagonal: Floats,
    place: Integers,
) -> Floats:
    """(m, m) matrix of a part's unknowns and its border; sets their rows in `place` (n,)."""
    place[own] = np.arange(len(own))
    place[border] = np.arange(len(own), len(own) + len(border))
    front = np.zeros((len(own) + len(border),) * 2)
    front[place[own], place[own]] = diagonal[own]
    first, second = place[pairs].T
    front[first, second] = front[second, first] = couplings
    return front


def _pad_parts(parts: Sequence[_Part], n: int) -> Depth:
    """Parts of one depth, padded to arrays of one size."""
    count = len(parts)
    size = max(len(part.own) for part in parts)
    reach = max(len(part.border) for part in parts)
    arrays = Depth(
        own=np.full((count, size), n),
        border=np.full((count, reach), n),
        root=np.zeros((count, size, size)),
        coupling=np.zeros((count, size, reach)),
    )
    for row, part in enumerate(parts):
        s, b = part.coupling.shape
        arrays.own[row, :s] = part.own
        arrays.border[row, :b] = part.border
        arrays.root[row, :s, :s] = part.root
        arrays.coupling[row, :s, :b] = part.coupling
    return arrays


def solve(factors: Factors, right: Floats) -> Floats:
    """Returns (3, n) the solutions for right-hand sides (3, n)."""
    n = factors.size
    if n <= MAX_IN_ORDER:
        return _solve_sequentially(factors, right)
    values = np.zeros((n + 1, len(right)))
    values[:n] = right.T
    eliminated = []
    for depth in factors.depths:
        eliminated.append(depth.root @ values[depth.own])
        passed = depth.coupling.transpose(0, 2, 1) @ eliminated[-1]
        border = depth.border.ravel()
        for axis in range(len(right)):
            values[:, axis] -= np.bincount(border, passed[..., axis].ravel(), n + 1)
    for depth, own in zip(reversed(factors.depths), reversed(eliminated), strict=True):
        unknowns = own - depth.coupling @ values[depth.border]
        values[depth.own] = depth.root.transpose(0, 2, 1) @ unknowns
    return values[:n].T


def _solve_sequentially(factors: Factors, right: Floats) -> Floats:
    """(3, n) the solutions, summed in the order of the C kernel, to the same bits."""
    values = np.append(right.T, np.zeros((1, len(right))), axis=0)
    parts = [
        _without_padding(part, factors.size)
        for depth in factors.depths
        for part in zip(*depth, strict=True)
    ]
    eliminated = []
    for own, border, root, coupling in parts:
        eliminated.append(weighted_sums(root, values[own]))
        values[border] -= weighted_sums(coupling.T, eliminated[-1])
    for own, border, root, coupling in reversed(parts):
        unknowns, starts = eliminated.pop(), np.arange(len(own))
        unknowns -= _sum_in_lanes(coupling, values[border], 0 * starts)
        values[own] = _sum_in_lanes(root.T, unknowns, starts)
    return values[:-1].T


def _without_padding(part: Sequence[Any], n: int) -> tuple[Integers, Integers, Floats, Floats]:
    """A part of a depth without its padding."""
    own, border, root, coupling = part
    s, b = np.count_nonzero(own < n), np.count_nonzero(border < n)
    return own[:s], border[:b], root[:s, :s], coupling[:s, :b]


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
