"""Accelerations by external forces: gravity, force fields and moving air."""

from collections.abc import Callable, Sequence

import numpy as np

from ..arrays import Floats, magnitudes
from ..field import Field, Kind
from ..solid.kernels import scatter_to_nodes
from ..solid.solid_body import Solid
from .aerodynamics import air_forces
from .exposed_surface import ExposedSurface
from .fields import sum_fields

MAX_SPEED_CHANGE = 2e4
"""Largest change of speed in a step [m/s]: twice the speed that the simulation follows."""


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
    """(3, n) accelerations of particles [m/s²], without the drag of still air.

    Drag v' = a − c v by fields is explicit for c h ≤ 1. For larger c h the acceleration is divided
    by c h, so that a step ends at the velocity a/c instead of reversing the motion.

    Parameters
    ----------
    exposed_surface : surfaces of the body on which moving air acts.
    inverse_masses : (n,) [1/kg].
    positions : (3, n) [m].
    find_velocities : returns the velocities (3, n) [m/s]; called only where a field acts.
    gravity : (3,) [m/s²].
    fields, shares : fields that act on the body, and the share of each kind's strength.
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
    """(3, m) accelerations of a solid's nodes [m/s²], by fields, and by moving air on its surface.

    Parameters
    ----------
    exposed_surface : surfaces of the body on which moving air acts.
    inverse_masses : (p,) of the body's particles [1/kg].
    nodes, points : (3, m) positions of nodes and (3, p) of particles [m].
    find_velocities : returns velocities of nodes (3, m) and particles (3, p) [m/s]; called only
        where a field acts.
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
    """(3, n) accelerations, limited for drag rates (n,) [1/s].

    Without limits, drag could reverse a velocity within a step.
    """
    total = total / np.maximum(1.0, rates * dt)
    speed_changes = magnitudes(total) * dt
    return np.asarray(total / np.maximum(1.0, speed_changes / MAX_SPEED_CHANGE))
