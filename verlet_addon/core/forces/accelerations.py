"""Accelerations by external forces: gravity, force fields and moving air.

The force on a flat plate of area A is F = ½ ρ c A |u| (u·n) n, with u the velocity of the air
relative to it and n its normal: drag and lift in one. That on a rope of diameter d and length L is
F = ½ ρ c d L |u| u, with u the component perpendicular to it.
"""

from collections.abc import Callable, Sequence

import numpy as np

from ..arrays import Floats, dot, magnitudes, sum_rows
from ..field import Field, Kind
from ..kernel import Sized, kernel
from ..solid.kernels import scatter_to_nodes
from ..solid.solid_body import Solid
from .fields import FieldEffect, body_for, sum_fields
from .kernels import ExposedSurface, plate_forces

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
    strengths = np.array([shares[field.kind] for field in fields])
    if not strengths.any():
        return np.broadcast_to(gravity[:, None], positions.shape)
    return body_for(fields, blown_accelerations)(
        exposed_surface,
        inverse_masses,
        positions,
        find_velocities(),
        fields,
        strengths,
        gravity,
        dt,
    )


@kernel(
    result=lambda _, __, positions, *___: np.empty(positions.shape),
    work=lambda _, __, positions, *___: np.zeros((12, positions.shape[1])),
)
def blown_accelerations(
    exposed_surface: ExposedSurface,
    inverse_masses: Floats,
    positions: Sized,
    velocities: Floats,
    fields: Sequence[Field],
    shares: Floats,
    gravity: Floats,
    dt: float,
) -> Floats:
    """(3, n) accelerations of particles on which fields act; shares (k,) of their strengths."""
    effect = sum_fields(fields, shares, positions, velocities)
    forces, growth = _air_forces(exposed_surface, effect, positions, velocities)
    total = gravity[:, None] + effect.push - effect.rate * velocities + forces * inverse_masses
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
    strengths = np.array([shares[field.kind] for field in fields])
    if not strengths.any():
        return np.broadcast_to(gravity[:, None], nodes.shape)
    node_velocities, point_velocities = find_velocities()
    effect, air = (
        sum_fields(fields, strengths, nodes, node_velocities),
        sum_fields(fields, strengths, points, point_velocities),
    )
    forces, growth = _air_forces(exposed_surface, air, points, point_velocities)
    forces /= np.maximum(1.0, growth * inverse_masses * dt)
    air_accelerations = np.zeros_like(nodes)
    scatter_to_nodes(solid.embedding, np.arange(forces.shape[1]), forces.T, air_accelerations)
    total = gravity[:, None] + effect.push - effect.rate * node_velocities
    total += air_accelerations / solid.masses
    return _bounded(total, np.maximum(effect.rate, 0.0), dt)


def _bounded(total: Floats, rates: Floats, dt: float) -> Floats:
    """(3, n) accelerations, limited for drag rates (n,) [1/s].

    Without limits, drag could reverse a velocity within a step.
    """
    total = total / np.maximum(1.0, rates * dt)
    speed_changes = magnitudes(total) * dt
    return np.asarray(total / np.maximum(1.0, speed_changes / MAX_SPEED_CHANGE))


def _air_forces(
    exposed_surface: ExposedSurface, effect: FieldEffect, positions: Floats, velocities: Floats
) -> tuple[Floats, Floats]:
    """Returns (3, n) forces of the air [N], and (n,) their rate of growth with speed [kg/s]."""
    relative = effect.air - effect.slip_shares * velocities
    rows = np.concatenate([relative, effect.slip_shares[None]])
    forces = np.zeros((4, positions.shape[1]))
    if len(exposed_surface.plate_factors):
        forces += plate_forces(exposed_surface, positions, rows)
    if len(exposed_surface.edges):
        forces = _with_rope_forces(forces, exposed_surface, positions, rows)
    return forces[:3], forces[3]


def _with_rope_forces(
    forces: Floats, exposed_surface: ExposedSurface, positions: Floats, rows: Floats
) -> Floats:
    """(4, n) the sum of these and of forces on edges without faces, half at each end."""
    starts, ends = exposed_surface.edges.T
    spans = positions[:, ends] - positions[:, starts]
    lengths = magnitudes(spans)
    spans = spans / np.where(lengths > 0.0, lengths, 1.0)
    middle = (rows[:, starts] + rows[:, ends]) / 2
    across = middle[:3] - spans * dot(middle, spans)
    factors = exposed_surface.rope_factor * lengths * magnitudes(across)
    blown = np.concatenate([across, middle[3:]]) * (factors / 2)
    numbers = np.concatenate([np.arange(positions.shape[1]), starts, ends])
    return sum_rows(numbers, np.concatenate([forces, blown, blown], axis=1), positions.shape[1])
