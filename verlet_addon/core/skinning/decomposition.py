"""Decomposition of motion into rigid bones and sparse weights: Le and Deng 2012.

Weights and bones are fitted in turn. Both find only the next minimum, so vertices begin with more
bones than they keep: then bones learn where they are needed. Rest positions are fitted as well.
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import Floats, Integers
from ..errors import SettingsError
from .transforms import fit_groups, fit_rest, refit, skinned
from .weights import errors_alone, fit_weights

MOST = 4
"""Maximum number of bones that act on a vertex, as in engines and files. With half, errors of a
waving sheet are twice as large; with twice, less than half as large."""
_LEARNING = ((16, 10), (8, 8), (5, 5))
"""Bones a vertex, and rounds with so many."""
_ROUNDS = 10
"""Rounds with `MOST` bones a vertex."""
_LEARNED = 0.5
"""Share of the work that bones take to learn, for its progress alone."""
_GROUPING = 6
"""Times that vertices choose their group anew after each split. With half, 8 bones leave 0.9 mm of
a waving sheet's motion, with twice 1.3 mm, and with this 1.4 mm; on a finer sheet 0.59, 0.50 and
0.57 mm."""
_TAUGHT = 2000
"""Number of vertices that suffice for bones to learn. With half, a waving sheet of 4,900 vertices
takes 1.1 s in place of 1.4 s, and with twice 1.9 s, with errors of 0.57, 0.56 and 0.59 mm."""


class SkinningProgress(NamedTuple):
    """Progress of a decomposition."""

    share: float
    """Share of the work that is done, 0 to 1."""
    text: str
    """The work in progress, for users."""


@dataclass(frozen=True)
class Skinning:
    """Bones and weights of a motion."""

    rest: Floats
    """(n, 3) rest positions [m]."""
    transforms: Floats
    """(b, f, 3, 4) rotation and offset [m] of each bone at each frame, from the rest positions."""
    weights: Floats
    """(n, b) weights, none below 0, of sum 1 a vertex, at most `MOST` of them above 0."""
    errors: Floats
    """(f, n) distance of each vertex from its motion at each frame [m]."""

    @property
    def rms(self) -> float:
        """Root mean square of all errors [m]."""
        return float(np.sqrt(np.mean(self.errors**2)))

    @property
    def worst(self) -> float:
        """The largest error [m]."""
        return float(self.errors.max())


Decomposition = Generator[SkinningProgress, None, Skinning]
"""A decomposition in progress, which returns its result."""


def decompose(motion: Floats, count: int) -> Decomposition:
    """The motion (f, n, 3) [m] as at most `count` bones; the same in every run.

    Raises
    ------
    SettingsError
        The number of bones is below 1.
    """
    if count < 1:
        raise SettingsError(f"A motion has 1 bone or more, not {count}; set another number")
    middle = motion[0].mean(axis=0)
    places = np.ascontiguousarray((motion - middle).transpose(0, 2, 1), np.float64)
    points = np.vstack([places[0], np.ones(places.shape[2])])
    chosen = np.unique(np.linspace(0, points.shape[1] - 1, _TAUGHT).astype(np.int64))
    some = np.ascontiguousarray(places[..., chosen])
    transforms = yield from _learn(points[:, chosen], some, count)
    weights = _rigid(errors_alone(points, places, transforms).argmin(axis=1), len(transforms))
    for number, (most, _) in enumerate(_LEARNING):
        weights = yield from _fit_in_parts(points, places, transforms, weights, most, number)
        points = fit_rest(points, places, transforms, weights)
    for number in range(len(_LEARNING), len(_LEARNING) + _ROUNDS):
        weights = yield from _fit_in_parts(points, places, transforms, weights, MOST, number)
        points = _improve(points, places, transforms, weights)
    used = np.flatnonzero(weights.any(axis=0))
    transforms, weights = transforms[used], weights[:, used]
    errors = np.linalg.norm(places - skinned(points, transforms, weights), axis=1)
    # From positions about the middle to those given.
    transforms[..., 3] += middle - transforms[..., :3] @ middle
    return Skinning(points[:3].T + middle, transforms, weights, errors)


def decompose_within(motion: Floats, tolerance: float, count: int) -> Decomposition:
    """The motion (f, n, 3) [m] as the fewest bones whose rms error is within a tolerance [m].

    The number is found by bisection. With `count` bones, the most, the error may be larger.
    """
    fewest, most = 1, min(count, 4)
    best = yield from decompose(motion, most)
    while best.rms > tolerance and most < count:
        fewest, most = most + 1, min(2 * most, count)
        best = yield from decompose(motion, most)
    while fewest < most and best.rms <= tolerance:
        middle = (fewest + most) // 2
        trial = yield from decompose(motion, middle)
        if trial.rms <= tolerance:
            best, most = trial, middle
        else:
            fewest = middle + 1
    return best


def _fitting(count: int) -> str:
    """Text of the progress of a decomposition into `count` bones."""
    return "fitting 1 bone" if count == 1 else f"fitting {count} bones"


def _learn(points: Floats, motion: Floats, count: int) -> Generator[SkinningProgress, None, Floats]:
    """(b, f, 3, 4) transforms of at most `count` bones, learned with more bones a vertex."""
    yield SkinningProgress(0.0, _fitting(count))
    labels, transforms = _split_to_groups(points, motion, count)
    weights = _rigid(labels, len(transforms))
    rounds = [most for most, number in _LEARNING for _ in range(number)]
    for number, most in enumerate(rounds):
        yield SkinningProgress(_LEARNED * number / len(rounds), _fitting(count))
        weights = fit_weights(points, motion, transforms, weights, most)
        points = _improve(points, motion, transforms, weights)
    return transforms


def _fit_in_parts(
    points: Floats, motion: Floats, transforms: Floats, weights: Floats, most: int, number: int
) -> Generator[SkinningProgress, None, Floats]:
    """(n, b) weights that fit well, of some vertices after the other, in a round of all of them."""
    result, rounds = np.empty_like(weights), len(_LEARNING) + _ROUNDS
    for first in range(0, len(weights), _TAUGHT):
        done = (number + first / len(weights)) / rounds
        yield SkinningProgress(_LEARNED + (1 - _LEARNED) * done, _fitting(weights.shape[1]))
        part = slice(first, first + _TAUGHT)
        result[part] = fit_weights(
            points[:, part], motion[..., part], transforms, weights[part], most
        )
    return result


def _improve(points: Floats, motion: Floats, transforms: Floats, weights: Floats) -> Floats:
    """Fits the bones, in place, and then the rest positions, which are returned."""
    refit(points, motion - skinned(points, transforms, weights), transforms, weights)
    return fit_rest(points, motion, transforms, weights)


def _rigid(labels: Integers, count: int) -> Floats:
    """(n, count) weights with which one bone alone, given by its label, moves each vertex."""
    return np.asarray(np.eye(count)[labels])


def _split_to_groups(points: Floats, motion: Floats, count: int) -> tuple[Integers, Floats]:
    """Labels (n,) of at most `count` groups, and their rigid motions (b, f, 3, 4).

    The groups that fit worst are split, between their middle and a vertex that is far from it and
    far off; then each vertex chooses the motion that fits it best. There are fewer groups where
    fewer motions occur.
    """
    labels = np.zeros(points.shape[1], np.int64)
    number = 1
    transforms = fit_groups(points, motion, labels, number)
    while number < count:
        errors = errors_alone(points, motion, transforms)[np.arange(len(labels)), labels]
        before = number
        sums = np.bincount(labels, errors, number)
        for group in np.argsort(-sums, kind="stable")[: count - before]:
            number += _split(points, errors, labels, int(group), number)
        for _ in range(_GROUPING):
            transforms = fit_groups(points, motion, labels, number)
            labels = errors_alone(points, motion, transforms).argmin(axis=1)
            # Groups that no vertex has chosen are dropped.
            _, labels = np.unique(labels, return_inverse=True)
            number = int(labels.max()) + 1
        transforms = fit_groups(points, motion, labels, number)
        if number <= before:
            break
    return labels, transforms


def _split(points: Floats, errors: Floats, labels: Integers, group: int, new: int) -> bool:
    """Gives the vertices of a group that are nearer to its worst one than to its middle a label."""
    members = np.flatnonzero(labels == group)
    places = points[:3, members]
    apart = ((places - places.mean(axis=1, keepdims=True)) ** 2).sum(axis=0)
    worst = int((errors[members] * apart).argmax())
    nearer = ((places - places[:, [worst]]) ** 2).sum(axis=0) < apart
    if nearer.all() or not nearer.any():
        return False
    labels[members[nearer]] = new
    return True
