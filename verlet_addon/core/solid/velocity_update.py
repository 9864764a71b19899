"""Velocity update of a solid: momentum conservation and rolling resistance."""

import numpy as np

from ..arrays import Booleans, Floats
from ..kernel import kernel
from ..momentum.kernels import conserve_momentum
from .linear_system import SolidSystem
from .rolling_resistance import resist_rolling


@kernel(result=lambda _, start, __: (np.empty_like(start), np.empty_like(start)))
def update_velocities(system: SolidSystem, start: Floats, moves: Floats) -> tuple[Floats, Floats]:
    """(3, m) nodes, and (3, m) previous nodes, whose difference is the velocity × h.

    Components without contact or pin forces keep their momentum; rolling ones are slowed. Rolling
    resistance changes previous nodes alone: if it rotated the body, flat contact areas would be
    pressed into the ground.

    Parameters
    ----------
    start : (3, m) nodes at the start of the step [m].
    moves : (3, m) solution of the system [m].
    """
    nodes = system.predicted_nodes + moves
    nodes = conserve_momentum(
        system.components,
        1.0 / system.masses,
        np.where(_loaded_nodes(system), nodes, system.predicted_nodes),
        nodes,
        about=start,
    )
    slowed_nodes = nodes.copy()
    resist_rolling(system, start, slowed_nodes)
    return nodes, start + (nodes - slowed_nodes)


def _loaded_nodes(system: SolidSystem) -> Booleans:
    """(m,) bool, nodes of components with contact forces or pins."""
    loaded = np.append(
        np.flatnonzero(system.contacts.normal_forces > 0.0), system.pin_springs.points
    )
    is_loaded = np.zeros(system.components.max(initial=0) + 2, dtype=bool)
    is_loaded[system.components[system.embedding.nodes[loaded, 0]]] = True
    return np.asarray(is_loaded[system.components])
