"""Contact of a body with a plane, and the height and speed of a bounce."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats
from ..scene import Plane


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
