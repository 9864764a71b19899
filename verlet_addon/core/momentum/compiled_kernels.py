"""Momentum in C: what `numpy_kernels` does."""

import numpy as np

from ..arrays import Floats, Integers
from ..compiled import declare, instead_of
from . import numpy_kernels as reference

_conserve_momentum = declare("conserve_momentum", "ipppppip")


@instead_of(reference.conserve_momentum)
def conserve_momentum(
    components: Integers, inverse_masses: Floats, before: Floats, after: Floats, *, about: Floats
) -> Floats:
    count = int(components.max(initial=-1)) + 1
    if not count:
        return after
    given = [np.ascontiguousarray(rows) for rows in (inverse_masses, before, about)]
    kept, work = np.array(after, order="C"), np.empty((count, 16))
    _conserve_momentum(len(components), components, *given, kept, count, work)
    return kept
