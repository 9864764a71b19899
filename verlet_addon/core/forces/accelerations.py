"""What accelerates particles from outside: the one place that everyone asks."""

from collections.abc import Callable, Sequence

import numpy as np

from ..arrays import Floats, magnitudes
from ..field import Field, Kind
from ..solid.body import Solid
from ..solid.numpy_kernels import add_to_nodes
from .aerodynamics import air_forces
from .fields import feel
from .windage import Windage

LARGEST_KICK = 2e4
"""No step makes anything faster than this [m/s], which is twice what the simulation follows."""


def accelerations(
    windage: Windage,
    inverse_masses: Floats,
    positions: Floats,
    find_velocities: Callable[[], Floats],
    *,
    gravity: Floats,
    fields: Sequence[Field],
    shares: dict[Kind, float],
    dt: float,
) -> Floats:
    """(3, n) of particles [m/s²], the drag of still air apart.

    Where fields slow particles down so much that a step would turn them round, they take as much
    from the speed as is there: v' = a − c v is followed for c h ≤ 1, and for more reaches a/c.

    Parameters
    ----------
    windage, inverse_masses : of the body; (n,) [1/kg].
    positions : (3, n) [m].
    find_velocities : gives theirs, (3, n) [m/s]; asked only where a field acts.
    gravity : (3,) [m/s²].
    fields, shares : those that the body may feel, and how much of the strength of each kind.
    dt : length of the step [s].
    """
    pull = np.broadcast_to(gravity[:, None], positions.shape)
    if not any(shares[field.kind] for field in fields):
        return pull
    velocities = find_velocities()
    felt = feel(fields, shares, positions, velocities)
    forces, growth = air_forces(windage, felt, positions, velocities)
    total = pull + felt.push - felt.rate * velocities + forces * inverse_masses
    rates = np.maximum(felt.rate, 0.0) + growth * inverse_masses
    return _bounded(total, rates, dt)


def node_accelerations(
    windage: Windage,
    inverse_masses: Floats,
    solid: Solid,
    nodes: Floats,
    points: Floats,
    find_velocities: Callable[[], tuple[Floats, Floats]],
    *,
    gravity: Floats,
    fields: Sequence[Field],
    shares: dict[Kind, float],
    dt: float,
) -> Floats:
    """(3, m) of the nodes of a solid [m/s²]: force fields act within it, the air on its surface.

    Parameters
    ----------
    windage, inverse_masses : of the body's p particles; (p,) [1/kg].
    nodes, points : (3, m) and (3, p) [m].
    find_velocities : gives theirs, (3, m) and (3, p) [m/s]; asked only where a field acts.
    gravity, fields, shares, dt : see `accelerations`.
    """
    pull = np.broadcast_to(gravity[:, None], nodes.shape)
    if not any(shares[field.kind] for field in fields):
        return pull
    speeds, blown_speeds = find_velocities()
    felt, air = feel(fields, shares, nodes, speeds), feel(fields, shares, points, blown_speeds)
    forces, growth = air_forces(windage, air, points, blown_speeds)
    forces /= np.maximum(1.0, growth * inverse_masses * dt)
    blown = np.zeros_like(nodes)
    add_to_nodes(solid.embedding, np.arange(forces.shape[1]), forces.T, blown)
    total = pull + felt.push - felt.rate * speeds + blown / solid.masses
    return _bounded(total, np.maximum(felt.rate, 0.0), dt)


def _bounded(total: Floats, rates: Floats, dt: float) -> Floats:
    """(3, n) accelerations that a step can follow, `rates` (n,) being those of drag [1/s]."""
    total = total / np.maximum(1.0, rates * dt)
    kicks = magnitudes(total) * dt
    return np.asarray(total / np.maximum(1.0, kicks / LARGEST_KICK))
