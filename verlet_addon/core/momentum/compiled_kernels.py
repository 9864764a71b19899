"""Momentum in C: what `numpy_kernels` does, by the function of kernels.c."""

import numpy as np

from ..arrays import Floats, Integers
from ..compiled import address, declare

_conserve_momentum = declare("conserve_momentum", "ipppppip")


def conserve_momentum(
    components: Integers, inverse_masses: Floats, before: Floats, after: Floats, *, about: Floats
) -> Floats:
    """See `numpy_kernels`."""
    count = int(components.max(initial=-1)) + 1
    if not count:
        return after
    given = [np.ascontiguousarray(rows) for rows in (inverse_masses, before, about)]
    kept, work = np.array(after, order="C"), np.empty((count, 16))
    _conserve_momentum(
        len(components),
        address(components),
        *(address(rows) for rows in given),
        address(kept),
        count,
        address(work),
    )
    return kept
