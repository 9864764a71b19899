"""What accelerates particles from outside: the one place that everyone asks."""

from collections.abc import Callable, Sequence

import numpy as np

from ..arrays import Floats, magnitudes
from ..field import Field, Kind
from ..solid.numpy_kernels import scatter_to_nodes
from ..solid.solid_body import Solid
from .aerodynamics import air_forces
from .exposed_surface import ExposedSurface
from .fields import sum_fields

MAX_SPEED_CHANGE = 2e4
"""No step makes anything faster than this [m/s], which is twice what the simulation follows."""


def accelerations(
    exposed_surface: ExposedSurface,
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
    exposed_surface, inverse_masses : of the body; (n,) [1/kg].
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
    effect = sum_fields(fields, shares, positions, velocities)
    forces, growth = air_forces(exposed_surface, effect, positions, velocities)
    total = pull + effect.push - effect.rate * velocities + forces * inverse_masses
    rates = np.maximum(effect.rate, 0.0) + growth * inverse_masses
    return _bounded(total, rates, dt)


def node_accelerations(
    exposed_surface: ExposedSurface,
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
    exposed_surface, inverse_masses : of the body's p particles; (p,) [1/kg].
    nodes, points : (3, m) and (3, p) [m].
    find_velocities : gives theirs, (3, m) and (3, p) [m/s]; asked only where a field acts.
    gravity, fields, shares, dt : see `accelerations`.
    """
    pull = np.broadcast_to(gravity[:, None], nodes.shape)
    if not any(shares[field.kind] for field in fields):
        return pull
    node_velocities, point_velocities = find_velocities()
    effect, air = (
        sum_fields(fields, shares, nodes, node_velocities),
        sum_fields(fields, shares, points, point_velocities),
    )
    forces, growth = air_forces(exposed_surface, air, points, point_velocities)
    forces /= np.maximum(1.0, growth * inverse_masses * dt)
    air_accelerations = np.zeros_like(nodes)
    scatter_to_nodes(solid.embedding, np.arange(forces.shape[1]), forces.T, air_accelerations)
    total = pull + effect.push - effect.rate * node_velocities + air_accelerations / solid.masses
    return _bounded(total, np.maximum(effect.rate, 0.0), dt)


def _bounded(total: Floats, rates: Floats, dt: float) -> Floats:
    """(3, n) accelerations that a step can follow, `rates` (n,) being those of drag [1/s]."""
    total = total / np.maximum(1.0, rates * dt)
    speed_changes = magnitudes(total) * dt
    return np.asarray(total / np.maximum(1.0, speed_changes / MAX_SPEED_CHANGE))
