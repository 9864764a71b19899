"""Warm start of contact rows from the multipliers of the step before."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Booleans, Floats, Integers
from .contact_rows import ContactRows
from .kernels import push_rows

WARM_START_SHARE = 0.5
"""Share of the multipliers that is kept. With all of them taut cloth in contact oscillates for
ever, as it would with all of its strip multipliers; with more than half, sheets of triangles
tremble beside poles of balls."""


@dataclass(frozen=True, eq=False)
class ContactCache:
    """Rows of the step before, with multipliers for the warm start."""

    rows: ContactRows
    """Rows sorted by keys; multipliers are WARM_START_SHARE of the smaller of the last two."""
    normal_multipliers: Floats
    """(k,) multipliers of the last step, unscaled [kg m]."""
    count: int
    """Number of particles in the world."""

    @cached_property
    def displacements(self) -> Floats:
        """(3, count) displacement of each particle by the rows [m]."""
        return row_displacements(self.rows, self.count)


def warm_start_rows(rows: ContactRows, cache: ContactCache) -> None:
    """Sets multipliers of rows to the cached ones of the same keys."""
    place, known = _find_cached(cache, rows)
    rows.normal_multipliers[known] = cache.rows.normal_multipliers[place]
    rows.friction_multipliers[:, known] = cache.rows.friction_multipliers[:, place]


def cache_rows(
    rows: ContactRows, cacheable: Booleans, count: int, cache: ContactCache | None
) -> ContactCache:
    """Caches the multipliers of `cacheable` rows (k,) between `count` particles.

    The multiplier of an impact lasts one step. So the smaller of the last two steps is kept.
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
    """(3, count) total displacement of each particle by rows [m]."""
    displacements = np.zeros((3, count))
    push_rows(displacements, rows)
    return displacements


def _find_cached(cache: ContactCache, rows: ContactRows) -> tuple[Integers, Booleans]:
    """Places of rows in the cache, and which rows (k,) are in it."""
    keys = cache.rows.keys
    if not len(keys):
        return np.empty(0, dtype=np.int64), np.zeros(len(rows.keys), dtype=bool)
    place = np.searchsorted(keys, rows.keys).clip(max=len(keys) - 1)
    known = keys[place] == rows.keys
    return place[known], known
