"""Convex weights of few bones a vertex: quadratic programs of all vertices at once."""

from dataclasses import dataclass

import numpy as np

from ..arrays import NONZERO, Booleans, Floats, Integers

_SMALL = 1e-10
"""Rounding: share of the mean of a diagonal that is added to it, since bones may move alike."""
_GAIN = 1e-5
"""Least share by which a bone that enters has to lower the error of a vertex. Half and twice as
much give the same weights; with 0, bones enter and leave without end."""
_ROUNDING = 1e-13
"""Rounding: share of the squares of a motion below which errors are rounding; with 0, systems
become singular."""
_CHUNK = 8_000_000
"""Size: numbers processed at a time, 64 MB."""


def errors_alone(points: Floats, motion: Floats, transforms: Floats) -> Floats:
    """(n, b) Σ |T p − v|² over frames: how far each bone alone leaves each vertex."""
    columns, rows = _columns(transforms), motion.reshape(-1, points.shape[1])
    count = len(transforms)
    blocks = (columns.T @ columns).reshape(count, 4, count, 4)
    own = np.einsum("bcbd->bcd", blocks).reshape(count, 16)
    outer = (points[:, None] * points[None]).reshape(16, -1)
    along = _along(columns, rows, points)
    return np.asarray((own @ outer).T - 2 * along + np.einsum("rn,rn->n", rows, rows)[:, None])


def fit_weights(
    points: Floats, motion: Floats, transforms: Floats, weights: Floats, most: int
) -> Floats:
    """(n, b) weights, none below 0, of sum 1, of at most `most` bones a vertex, that fit well.

    Each vertex has the program min wᵀ D w, where D holds the products of the vectors from the
    vertex to where two bones take it, summed over frames.

    Parameters
    ----------
    weights : (n, b) weights so far, with which it begins.
    """
    columns, rows = _columns(transforms), motion.reshape(-1, points.shape[1])
    count = len(transforms)
    blocks = (columns.T @ columns).reshape(count, 4, count, 4)
    blocks = blocks.transpose(0, 2, 1, 3).reshape(count * count, 16)
    result = np.empty_like(weights)
    step = max(1, _CHUNK // max(count * count, len(columns)))
    for first in range(0, points.shape[1], step):
        part = slice(first, first + step)
        its, ways = points[:, part], rows[:, part]
        outer = (its[:, None] * its[None]).reshape(16, -1)
        products = np.ascontiguousarray((blocks @ outer).T).reshape(-1, count, count)
        along = _along(columns, ways, its)
        products -= along[:, :, None] + along[:, None, :]
        squares = np.einsum("rn,rn->n", ways, ways)
        products += squares[:, None, None]
        result[part] = _solve(products, weights[part], min(most, count), _ROUNDING * squares)
    return result


def _columns(transforms: Floats) -> Floats:
    """(3 f, 4 b) transforms, frame by frame downwards and bone by bone across."""
    return np.ascontiguousarray(transforms.transpose(1, 2, 0, 3)).reshape(-1, 4 * len(transforms))


def _along(columns: Floats, rows: Floats, points: Floats) -> Floats:
    """(n, b) products of each vertex's motion and the motion that each bone gives it."""
    products = (columns.T @ rows).reshape(-1, 4, points.shape[1])
    return np.asarray(np.einsum("bcn,cn->nb", products, points))


@dataclass
class _Programs:
    """Programs in progress: the bones that act on each vertex, in slots."""

    products: Floats
    """(n, b, b) D."""
    bones: Integers
    """(n, m) bone in each slot."""
    acting: Booleans
    """(n, m) whether a slot is in use."""
    shares: Floats
    """(n, m) its weight; 0 out of use."""

    def __getitem__(self, rows: Integers) -> "_Programs":
        return _Programs(*(array[rows] for array in vars(self).values()))

    def put(self, rows: Integers, other: "_Programs") -> None:
        """Sets the slots of some programs to those of others."""
        self.bones[rows], self.acting[rows] = other.bones, other.acting
        self.shares[rows] = other.shares

    @property
    def weights(self) -> Floats:
        """(n, b) weights."""
        weights = np.zeros(self.products.shape[:2])
        np.add.at(weights, (np.arange(len(weights))[:, None], self.bones), self.shares)
        return weights

    def errors(self) -> Floats:
        """(n,) wᵀ D w."""
        weights = self.weights
        products = np.einsum("nj,njk->nk", weights, self.products)
        return np.asarray(np.einsum("nk,nk->n", products, weights))

    def enter(self, bones: Integers) -> None:
        """Has one more bone (n,) act in each program, in a free slot, with weight 0."""
        rows, free = np.arange(len(bones)), self.acting.argmin(axis=1)
        self.bones[rows, free], self.acting[rows, free] = bones, True
        self.shares[rows, free] = 0.0

    def inverses(self) -> Floats:
        """(n, m, m) inverse of D of the slots in use; 0 elsewhere."""
        rows = np.arange(len(self.bones))[:, None, None]
        both = self.acting[:, :, None] & self.acting[:, None, :]
        systems = self.products[rows, self.bones[:, :, None], self.bones[:, None, :]] * both
        diagonal = np.einsum("njj->nj", systems)
        diagonal += _SMALL * diagonal.sum(axis=1, keepdims=True) + NONZERO
        diagonal[~self.acting] = 1.0
        return np.asarray(np.linalg.inv(systems) * both, np.float64)

    def settle(self) -> Floats:
        """Solves the programs of the slots in use, which drops some; returns the inverses of D."""
        inverses = self.inverses()
        rows = np.arange(len(self.bones))
        while len(rows):
            sums = inverses[rows].sum(axis=2)
            wanted = sums / sums.sum(axis=1, keepdims=True)
            now = self.shares[rows]
            falling = self.acting[rows] & (wanted <= 0.0)
            # The way to the solution ends where the first weight becomes 0.
            ways = np.where(falling, now / np.maximum(now - wanted, NONZERO), np.inf)
            first = ways.argmin(axis=1)
            length = np.minimum(ways[np.arange(len(rows)), first], 1.0)
            self.shares[rows] = now + length[:, None] * (wanted - now)
            left = np.flatnonzero(falling.any(axis=1))
            rows, first = rows[left], first[left]
            self.acting[rows, first] = False
            self.shares[rows, first] = 0.0
            inverses[rows] = self[rows].inverses()
        return inverses

    def thin(self, most: int) -> None:
        """Drops bones that cost least, one by one, until at most `most` act on each vertex."""
        while len(rows := np.flatnonzero(self.acting.sum(axis=1) > most)):
            part = self[rows]
            inverses = part.settle()
            over = np.flatnonzero(part.acting.sum(axis=1) > most)
            sums = inverses.sum(axis=2)
            spread = np.einsum("njj->nj", inverses) - sums**2 / sums.sum(axis=1, keepdims=True)
            cost = np.where(part.acting, part.shares**2 / np.maximum(spread, NONZERO), np.inf)
            least = cost.argmin(axis=1)[over]
            part.acting[over, least] = False
            part.shares[over, least] = 0.0
            part.shares /= part.shares.sum(axis=1, keepdims=True)
            self.put(rows, part)
        self.settle()


def _solve(products: Floats, weights: Floats, most: int, rounding: Floats) -> Floats:
    """Weights (n, b) of programs (n, b, b): bones enter one by one until none lowers the error.

    Where `most` bones act, the bone that costs least leaves for the one that enters. Errors up to
    `rounding` (n,) stay.
    """
    slots = max(most, int((weights > 0.0).sum(axis=1).max())) + 1
    slots = min(slots, weights.shape[1])
    bones = np.argsort(-weights, axis=1, kind="stable")[:, :slots]
    shares = np.take_along_axis(weights, bones, axis=1)
    programs = _Programs(products, bones, shares > 0.0, shares)
    programs.thin(most)
    rows = np.arange(len(weights))
    while len(rows):
        shown = programs[rows].weights
        slopes = np.einsum("njk,nk->nj", products[rows], shown)
        errors = np.einsum("nj,nj->n", slopes, shown)
        slopes[shown > 0.0] = np.inf
        entering = slopes.argmin(axis=1)
        can = np.flatnonzero(
            (slopes.min(axis=1) < errors * (1 - _GAIN)) & (errors > rounding[rows])
        )
        rows, errors = rows[can], errors[can]
        part = programs[rows]
        part.enter(entering[can])
        part.thin(most)
        better = np.flatnonzero(part.errors() < errors * (1 - _GAIN))
        rows = rows[better]
        programs.put(rows, part[better])
    return programs.weights
