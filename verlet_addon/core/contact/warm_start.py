"""What contacts pushed in the step before: solving for those of this step starts from there."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Booleans, Floats, Integers
from .compiled_kernels import push_rows
from .contact_rows import ContactRows

WARM_START_SHARE = 0.5
"""Share of a push that is remembered. With all of it taut cloth that touches something swings on
for ever, as it would if it remembered all of its tension; with more than half sheets of triangles
tremble beside poles of balls."""


@dataclass(frozen=True, eq=False)
class ContactCache:
    """Rows of the step before that may push again."""

    rows: ContactRows
    """By their keys; they push half as much as they did in both of the last two steps."""
    normal_multipliers: Floats
    """(k,) what they did push in the last [kg m]."""
    count: int
    """How many particles there are in the world."""

    @cached_property
    def displacements(self) -> Floats:
        """(3, count) by how much the rows move each particle [m]."""
        return row_displacements(self.rows, self.count)


def warm_start_rows(rows: ContactRows, cache: ContactCache) -> None:
    """Lets rows start from what they pushed and rubbed before."""
    place, known = _find_cached(cache, rows)
    rows.normal_multipliers[known] = cache.rows.normal_multipliers[place]
    rows.friction_multipliers[:, known] = cache.rows.friction_multipliers[:, place]


def cache_rows(
    rows: ContactRows, cacheable: Booleans, count: int, cache: ContactCache | None
) -> ContactCache:
    """What to start from in the next step, of these rows (k,) between so many particles.

    An impact pushes once. So a push is remembered only as far as the step before had it too.
    """
    kept = np.flatnonzero(
        cacheable & (rows.normal_multipliers > 0.0) & (rows.keys >= 0) & (rows.rebounds == 0.0)
    )
    rows = rows.select(kept[np.argsort(rows.keys[kept], kind="stable")])
    normal_multipliers, before = rows.normal_multipliers.copy(), np.zeros(len(kept))
    if cache is not None:
        place, known = _find_cached(cache, rows)
        before[known] = cache.normal_multipliers[place]
    share = WARM_START_SHARE * np.minimum(before / normal_multipliers, 1.0)
    rows.normal_multipliers[:] *= share
    rows.friction_multipliers[:] *= share
    return ContactCache(rows, normal_multipliers, count)


def row_displacements(rows: ContactRows, count: int) -> Floats:
    """(3, count) by how much rows have moved each particle in all [m]."""
    displacements = np.zeros((3, count))
    push_rows(displacements, rows)
    return displacements


def _find_cached(cache: ContactCache, rows: ContactRows) -> tuple[Integers, Booleans]:
    """Where what is remembered of rows stands, and which rows are (k,)."""
    keys = cache.rows.keys
    if not len(keys):
        return np.empty(0, dtype=np.int64), np.zeros(len(rows.keys), dtype=bool)
    place = np.searchsorted(keys, rows.keys).clip(max=len(keys) - 1)
    known = keys[place] == rows.keys
    return place[known], known
