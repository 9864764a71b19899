"""What contacts pushed in the step before: solving for those of this step starts from there."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Booleans, Floats, Integers
from .compiled_kernels import push_rows
from .response import ContactRows

KEPT = 0.5
"""Share of a push that is remembered. With all of it taut cloth that touches something swings on
for ever, as it would if it remembered all of its tension; with more than half sheets of triangles
tremble beside poles of balls."""


@dataclass(frozen=True, eq=False)
class Memory:
    """Rows of the step before that may push again."""

    rows: ContactRows
    """By their keys; they push half as much as they did in both of the last two steps."""
    pushed: Floats
    """(k,) what they did push in the last [kg m]."""
    count: int
    """How many particles there are in the world."""

    @cached_property
    def moved(self) -> Floats:
        """(3, count) by how much the rows move each particle [m]."""
        return displacements(self.rows, self.count)


def begin(rows: ContactRows, memory: Memory) -> None:
    """Lets rows start from what they pushed and rubbed before."""
    place, known = _find(memory, rows)
    rows.pushed[known] = memory.rows.pushed[place]
    rows.rubbed[:, known] = memory.rows.rubbed[:, place]


def remember(rows: ContactRows, lasting: Booleans, count: int, memory: Memory | None) -> Memory:
    """What to start from in the next step, of these rows (k,) between so many particles.

    An impact pushes once. So a push is remembered only as far as the step before had it too.
    """
    kept = np.flatnonzero(lasting & (rows.pushed > 0.0) & (rows.keys >= 0) & (rows.climbs == 0.0))
    rows = rows.taken(kept[np.argsort(rows.keys[kept], kind="stable")])
    pushed, before = rows.pushed.copy(), np.zeros(len(kept))
    if memory is not None:
        place, known = _find(memory, rows)
        before[known] = memory.pushed[place]
    share = KEPT * np.minimum(before / pushed, 1.0)
    rows.pushed[:] *= share
    rows.rubbed[:] *= share
    return Memory(rows, pushed, count)


def displacements(rows: ContactRows, count: int) -> Floats:
    """(3, count) by how much rows have moved each particle in all [m]."""
    moved = np.zeros((3, count))
    push_rows(moved, rows)
    return moved


def _find(memory: Memory, rows: ContactRows) -> tuple[Integers, Booleans]:
    """Where what is remembered of rows stands, and which rows are (k,)."""
    keys = memory.rows.keys
    if not len(keys):
        return np.empty(0, dtype=np.int64), np.zeros(len(rows.keys), dtype=bool)
    place = np.searchsorted(keys, rows.keys).clip(max=len(keys) - 1)
    known = keys[place] == rows.keys
    return place[known], known
