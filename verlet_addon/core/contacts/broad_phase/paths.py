"""Paths of particles in a step, compared with those for which contacts were searched."""

import numpy as np

from ...arrays import Booleans, Floats, magnitudes
from ...kernel import Sized, SizedIntegers, kernel


@kernel(result=lambda starts, *_: np.empty(starts.shape[1]))
def find_deviations(starts: Sized, ends: Floats, start: Floats, end: Floats) -> Floats:
    """(N,) distances between paths `start` to `end` and `starts` to `ends`, each (3, N) [m].

    They are 0 for particles that are not finite, as those of colliders without area.
    """
    return np.nan_to_num(np.maximum(magnitudes(start - starts), magnitudes(end - ends)))


@kernel()
def renew_paths(
    starts: Sized,
    ends: Floats,
    start: Floats,
    end: Floats,
    tolerances: Floats,
    moved: Booleans,
) -> int:
    """Replaces paths that are farther off than tolerances on any axis; returns their number.

    Parameters
    ----------
    starts, ends : (3, N) both ends of the paths that may be replaced [m].
    start, end : (3, N) both ends of the paths that are to be searched [m].
    tolerances : (N,) distances allowed [m].
    moved : (N,) bool, set where the path is replaced, also where it is not finite.
    """
    off = np.maximum(np.abs(start - starts), np.abs(end - ends)).max(axis=0)
    moved[:] = ~(off <= tolerances)
    starts[:, moved], ends[:, moved] = start[:, moved], end[:, moved]
    return int(np.count_nonzero(moved))


@kernel(result=lambda *_: np.empty(3))
def total_displacement(start: Sized, end: Floats, members: SizedIntegers) -> Floats:
    """(3,) sum of the displacements from `start` to `end` (3, N) of some particles [m]."""
    moved = end[:, members] - start[:, members]
    return np.asarray(np.cumsum(moved, axis=1)[:, -1])
