"""What the moves that are solved for leave of a solid's motion as a whole, in NumPy."""

import numpy as np

from ..arrays import Booleans, Floats
from ..momentum.numpy_kernels import conserve_momentum
from .numpy_contact_solver import SolidSystem
from .rolling_resistance import resist_rolling


def update_velocities(system: SolidSystem, start: Floats, moves: Floats) -> tuple[Floats, Floats]:
    """(3, m) where nodes end that began at `start` (3, m), and where they would have come from.

    Pieces that nothing presses on or draws keep their momentum, and those that roll are slowed.
    Turning the body itself, not only its speed, would press what lies flat into what it lies on.
    `moves` (3, m) are written to.
    """
    nodes = system.predicted_nodes + moves
    nodes = conserve_momentum(
        system.components,
        1.0 / system.masses,
        np.where(_loaded_nodes(system), nodes, system.predicted_nodes),
        nodes,
        about=start,
    )
    moves[:] = nodes - system.predicted_nodes
    slowed_nodes = nodes.copy()
    resist_rolling(system, start, slowed_nodes)
    return nodes, start + (nodes - slowed_nodes)


def _loaded_nodes(system: SolidSystem) -> Booleans:
    """(m,) which nodes are of pieces that something presses on, or draws."""
    loaded = np.append(
        np.flatnonzero(system.contacts.normal_forces > 0.0), system.pin_springs.points
    )
    is_loaded = np.zeros(system.components.max(initial=0) + 2, dtype=bool)
    is_loaded[system.components[system.embedding.nodes[loaded, 0]]] = True
    return np.asarray(is_loaded[system.components])
