"""Vertices in groups that move nearly rigidly, with which a decomposition begins."""

import numpy as np

from ..arrays import Floats, Integers
from .transforms import fit_groups
from .weights import errors_alone

_ROUNDS = 6
"""Times that vertices choose their group anew after each split."""


def split_to_groups(points: Floats, motion: Floats, count: int) -> tuple[Integers, Floats]:
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
        for _ in range(_ROUNDS):
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
