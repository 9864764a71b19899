"""Graph colouring: constraints of one colour share no particle and are solved together."""

from collections.abc import Iterable, Sequence

import numpy as np

from .arrays import Booleans, Integers


def color_constraints(members: Integers) -> tuple[Integers, Integers]:
    """Colours constraints greedily in the given order and sorts them by colour.

    Parameters
    ----------
    members : (m, k) the particles of each constraint.

    Returns
    -------
    order : (m,) constraints sorted by colour, in their own order within a colour.
    starts : (colours + 1,) where each colour begins in `order`.
    """
    if not len(members):
        return np.empty(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
    groups = members.tolist()
    colors = np.array(first_free_colors(groups, int(members.max()) + 1), dtype=np.int64)
    order = np.argsort(colors, kind="stable")
    return order, np.searchsorted(colors[order], np.arange(int(colors.max()) + 2))


def first_free_colors(groups: Iterable[Sequence[int]], count: int) -> list[int]:
    """The colour of each group of particles: the lowest that none of the particles has yet.

    `count` is the number of particles.
    """
    used = [0] * count
    colors: list[int] = []
    for particles in groups:
        taken = 0
        for particle in particles:
            taken |= used[particle]
        bit = ~taken & (taken + 1)
        for particle in particles:
            used[particle] |= bit
        colors.append(bit.bit_length() - 1)
    return colors


def sequential_batches(members: Integers, moved: Booleans) -> list[Integers]:
    """Batches of constraints whose parallel solution equals the sequential one.

    Parameters
    ----------
    members : (k, m) the particles of each constraint.
    moved : (k, m) bool, whether the constraint moves the particle.

    Returns
    -------
    The constraints of each batch, ascending. A constraint is in a later batch than all earlier
    constraints that move one of the same particles.
    """
    latest: dict[int, int] = {}
    numbers = []
    for particles, moving in zip(members.T.tolist(), moved.T.tolist(), strict=True):
        mine = [one for one, moves in zip(particles, moving, strict=True) if moves]
        number = 1 + max((latest.get(one, -1) for one in mine), default=-1)
        latest.update(dict.fromkeys(mine, number))
        numbers.append(number)
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.cumsum(np.bincount(numbers))[:-1]) if numbers else []
