"""Greedy matching: a choice among candidate pairs in which each number occurs once at most."""

import numpy as np

from ..arrays import Integers


def match_greedily(candidates: Integers, count: int) -> Integers:
    """(k,) rows of the candidates (c, 2) whose numbers are in no better chosen row.

    Parameters
    ----------
    candidates : pairs of numbers 0 … count − 1, the best first.
    count : number of different numbers.
    """
    rows, matched = np.arange(len(candidates)), [np.zeros(0, dtype=np.int64)]
    while len(rows):
        left, ranks = candidates[rows], np.arange(len(rows))
        foremost = np.full(count, len(rows))
        np.minimum.at(foremost, left, ranks[:, None])
        first = (foremost[left] == ranks[:, None]).all(axis=1)
        matched.append(rows[first])
        used = np.zeros(count, dtype=bool)
        used[left[first]] = True
        rows = rows[~used[left].any(axis=1)]
    return np.concatenate(matched)
