"""Conservation of momentum in C: the function of `numpy_kernels`, compiled."""

import numpy as np

from ..arrays import Floats, Integers
from ..compiled import declare, falls_back_to
from . import numpy_kernels as reference

_conserve_momentum = declare("conserve_momentum", "iprrrpip")


@falls_back_to(reference.conserve_momentum)
def conserve_momentum(
    components: Integers, inverse_masses: Floats, before: Floats, after: Floats, *, about: Floats
) -> Floats:
    count = int(components.max(initial=-1)) + 1
    if not count:
        return after
    kept, work = np.array(after, order="C"), np.empty((count, 16))
    given = components, inverse_masses, before, about
    _conserve_momentum(len(components), *given, kept, count, work)
    return kept
