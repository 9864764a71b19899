"""Graph colouring: constraints of one colour share no particle, so they are solved at once."""

import numpy as np

from .mesh import Integers


def color_constraints(members: Integers, particle_count: int) -> tuple[Integers, Integers]:
    """Sorts constraints by colour, greedily in their order.

    Parameters
    ----------
    members : (m, k) the particles of each constraint.
    particle_count : number of particles.

    Returns
    -------
    order : (m,) constraints sorted by colour, in their own order within a colour.
    starts : (colours + 1,) where each colour begins in `order`.
    """
    used = [0] * particle_count
    colors = np.empty(len(members), dtype=np.int64)
    for index, particles in enumerate(members.tolist()):
        taken = 0
        for particle in particles:
            taken |= used[particle]
        bit = ~taken & (taken + 1)
        for particle in particles:
            used[particle] |= bit
        colors[index] = bit.bit_length() - 1
    order = np.argsort(colors, kind="stable")
    count = int(colors.max()) + 1 if len(colors) else 0
    return order, np.searchsorted(colors[order], np.arange(count + 1))
