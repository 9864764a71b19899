"""What the moves that are solved for leave of a solid's motion as a whole, in NumPy."""

import numpy as np

from ..arrays import Booleans, Floats
from ..momentum.numpy_kernels import conserve_momentum
from .numpy_touching import System
from .rolling import resist_rolling


def land(system: System, start: Floats, moves: Floats) -> tuple[Floats, Floats]:
    """(3, m) where nodes end that began at `start` (3, m), and where they would have come from.

    Pieces that nothing presses on or draws keep their momentum, and those that roll are slowed.
    Turning the body itself, not only its speed, would press what lies flat into what it lies on.
    `moves` (3, m) are written to.
    """
    nodes = system.places + moves
    nodes = conserve_momentum(
        system.components,
        1.0 / system.masses,
        np.where(_pressed(system), nodes, system.places),
        nodes,
        about=start,
    )
    moves[:] = nodes - system.places
    slowed = nodes.copy()
    resist_rolling(system, start, slowed)
    return nodes, start + (nodes - slowed)


def _pressed(system: System) -> Booleans:
    """(m,) which nodes are of pieces that something presses on, or draws."""
    loaded = np.append(np.flatnonzero(system.stops.loads > 0.0), system.holds.points)
    found = np.zeros(system.components.max(initial=0) + 2, dtype=bool)
    found[system.components[system.embedding.nodes[loaded, 0]]] = True
    return np.asarray(found[system.components])
