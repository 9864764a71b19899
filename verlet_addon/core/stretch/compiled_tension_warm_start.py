"""Tension warm start in C: `numpy_tension_warm_start`, by tension_warm_start.c."""

import numpy as np

from ..arrays import Floats
from ..compiled import Packed, cached_struct, declare, falls_back_to, members, pack, shared_arrays
from . import numpy_tension_warm_start as reference
from .strip_system import SEARCH_DIRECTIONS, StripSystem

_warm_start_tension = declare("warm_start_tension", "ppddi")


def pack_strip_system(strip_system: StripSystem) -> Packed:
    """The `strip_system` struct of tension_warm_start.c."""
    entries, n = len(strip_system.path), len(strip_system.masses)
    ends = np.append(np.flatnonzero(np.diff(strip_system.labels)) + 1, entries)
    return pack(
        n,
        entries,
        len(ends),
        ends,
        *members(strip_system, "path warm_started both_free max_inverse_masses masses"),
        len(strip_system.pinned),
        *members(strip_system, "pinned"),
        *shared_arrays(strip_system, "displacement gas_forces multipliers"),
        np.empty(entries),
        np.empty(entries),
        np.empty(entries),
        np.empty((int(np.diff(ends, prepend=0).max()), 3)),
        np.empty(entries, dtype=np.int64),
        np.empty(len(ends), dtype=np.bool_),
        np.empty(n),
        np.empty(n),
        *(np.empty((n, 3)) for _ in range(5)),
    )


_strip_system_struct = cached_struct(pack_strip_system)


@falls_back_to(reference.warm_start_tension)
def warm_start_tension(
    positions: Floats,
    strip_system: StripSystem,
    *,
    kept_share: float,
    min_tautness: float,
    rounds: int = SEARCH_DIRECTIONS,
) -> None:
    if len(strip_system.path):
        _warm_start_tension(
            positions, _strip_system_struct(strip_system), kept_share, min_tautness, rounds
        )
