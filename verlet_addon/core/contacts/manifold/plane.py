"""Contact of a body with a plane: projection, friction, and the height and speed of a bounce."""

from dataclasses import dataclass

import numpy as np

from ...arrays import NONZERO, Floats, magnitudes
from ...kernel import Sized, Struct, kernel
from ...scene import Plane


@dataclass(eq=False)
class PlaneContact:
    """Contact of one body with a plane during one step."""

    plane: Plane
    """The plane at the end of the step."""
    start: Floats
    """(3, n) positions at the start of the step, moved with the plane [m]."""
    climb: float
    """Displacement of the plane along its normal during the step [m]."""
    floors: Floats
    """(2, n) smallest heights above the plane, at the start and at the end of the step [m]."""
    friction: float
    """Coulomb coefficient of the two surfaces."""
    restitution: float
    """Coefficient of restitution."""
    normal_corrections: Floats
    """(n,) accumulated corrections along the normal; changed by the kernel [m]."""
    friction_corrections: Floats
    """(3, n) accumulated corrections by friction; changed by the kernel [m]."""
    predicted: Floats
    """(3, n) positions after free motion, before any constraint [m]."""
    accelerations: Floats
    """(3, n) of free motion [m/s²]."""
    dt: float
    """Length of the step [s]."""
    start_gains: tuple[float, float]
    """Displacements in the step per speed and per acceleration at its end; see `start_gains`."""


def along(normal: Floats, vectors: Floats) -> Floats:
    """(k,) components of vectors (3, k) along the normal; by einsum, for BLAS starts threads."""
    return np.asarray(np.einsum("x,xk->k", normal, vectors))


def bounce(
    restitution: Floats | float, fall: Floats, overshoot: Floats, pull: Floats, dt: float
) -> tuple[Floats, Floats]:
    """Heights above the floor at the end of a step with a bounce, and speeds upwards [m], [m/s].

    The impact is within the step: v_c² = v² + 2 |g| overshoot is the speed there, and the particle
    rises at e v_c for the rest of the step. With a rebound slower than the change of speed by
    gravity in two steps, it comes to rest. `fall` is the free displacement of the step, negative
    downwards.
    """
    speed = fall / dt + 0.5 * pull * dt
    impact = np.sqrt(np.maximum(speed**2 - 2.0 * pull * overshoot, 0.0))
    bounces = (restitution * impact > 2.0 * np.abs(pull) * dt) & (fall < 0.0) & (overshoot < 0.0)
    late = np.where(bounces, -2.0 * overshoot / np.where(bounces, impact - speed, 1.0), 0.0)
    rebound = restitution * impact
    rise = np.maximum(rebound * late + 0.5 * pull * late**2, 0.0)
    return np.where(bounces, rise, 0.0), np.where(bounces, rebound + pull * late, 0.0)


Struct(
    "plane_contact",
    PlaneContact,
    reads="start climb friction restitution predicted accelerations dt",
    shares="normal_corrections friction_corrections",
    normal=(Floats, lambda contact: contact.plane.normal),
    level=(float, lambda contact: contact.plane.level),
    former_floors=(Floats, lambda contact: contact.floors[0]),
    floors=(Floats, lambda contact: contact.floors[1]),
    drift=(float, lambda contact: contact.start_gains[0]),
    bend=(float, lambda contact: contact.start_gains[1]),
)


@kernel()
def project_plane(positions: Sized, contact: PlaneContact, inverse_masses: Floats) -> None:
    """Projects C = height − floor ≥ 0, and Coulomb friction, |friction| ≤ coefficient × normal.

    Corrections accumulate over all rounds of a step, so that a round can reduce an excess of the
    one before.
    """
    depth = contact.floors[1] - contact.plane.heights(positions)
    touching = (depth > 0.0) | (contact.normal_corrections > 0.0)
    hit = np.flatnonzero(touching & (inverse_masses > 0.0))
    if not len(hit):
        return
    normal = contact.plane.normal[:, None]
    normal_corrections = np.maximum(contact.normal_corrections[hit] + depth[hit], 0.0)
    positions[:, hit] += normal * (normal_corrections - contact.normal_corrections[hit])
    contact.normal_corrections[hit] = normal_corrections
    slid = positions[:, hit] + contact.friction_corrections[:, hit] - contact.start[:, hit]
    slid -= normal * along(contact.plane.normal, slid)
    length = magnitudes(slid)
    slid *= np.minimum(1.0, contact.friction * normal_corrections / np.maximum(length, NONZERO))
    positions[:, hit] -= slid - contact.friction_corrections[:, hit]
    contact.friction_corrections[:, hit] = slid


@kernel()
def rebound_plane(positions: Sized, previous_positions: Floats, contact: PlaneContact) -> None:
    """Velocity update of particles in contact with the plane: no normal speed, or a rebound's.

    Speeds are set through `previous_positions` (3, n); a rebound also raises `positions` (3, n).
    """
    hit = np.flatnonzero(contact.normal_corrections > 0.0)
    if not len(hit):
        return
    normal = contact.plane.normal
    fall = along(normal, contact.predicted[:, hit] - contact.start[:, hit])
    overshoot = contact.plane.heights(contact.predicted[:, hit]) - contact.floors[0, hit]
    pull = along(normal, contact.accelerations[:, hit])
    rise, speed = bounce(contact.restitution, fall, overshoot, pull, contact.dt)
    positions[:, hit] += normal[:, None] * rise
    drift, bend = contact.start_gains
    climb = (speed * drift - pull * bend) * (speed > 0.0)
    moved = along(normal, positions[:, hit] - previous_positions[:, hit])
    previous_positions[:, hit] += normal[:, None] * (moved - climb - contact.climb)
