"""A plane that a body rests on and bounces off, and how high a bounce takes it."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats
from ..scene import Plane


@dataclass(eq=False)
class PlaneContact:
    """One body above a plane during one step; made anew for each."""

    plane: Plane
    """At the end of the step."""
    start: Floats
    """(3, n) where particles began the step, moved on as the plane does [m]."""
    climb: float
    """How far the plane goes along its normal during the step [m]."""
    floors: Floats
    """(2, n) how high above the plane each is held, at the beginning and at the end [m]."""
    friction: float
    """Coulomb coefficient of the two surfaces."""
    restitution: float
    """Share of speed that is kept in a bounce."""
    normal_corrections: Floats
    """(n,) how far each has been pushed out in this step; changed by the kernel [m]."""
    friction_corrections: Floats
    """(3, n) how far friction has taken each back; changed by the kernel [m]."""
    predicted: Floats
    """(3, n) where free motion led, before any constraint [m]."""
    accelerations: Floats
    """(3, n) of free motion [m/s²]."""
    dt: float
    """Length of the step [s]."""
    start_gains: tuple[float, float]
    """What a speed and an acceleration at the end give the step before; see `start_gains`."""


def along(normal: Floats, vectors: Floats) -> Floats:
    """(k,) components of vectors (3, k); NumPy's own sum, for BLAS sets idle threads spinning."""
    return np.asarray(np.einsum("x,xk->k", normal, vectors))


def bounce(
    restitution: Floats | float, fall: Floats, overshoot: Floats, pull: Floats, dt: float
) -> tuple[Floats, Floats]:
    """How high above the ground a particle ends the step after a bounce, and how fast it rises.

    It hit the ground on the way: v_c² = v² + 2 |g| overshoot gives the speed there, from which it
    starts again at e v_c for what was left of the step. Slower than gravity's pull over two steps
    it comes to rest instead. `fall` is the free displacement of the step, negative downwards.
    """
    speed = fall / dt + 0.5 * pull * dt
    impact = np.sqrt(np.maximum(speed**2 - 2.0 * pull * overshoot, 0.0))
    bounces = (restitution * impact > 2.0 * np.abs(pull) * dt) & (fall < 0.0) & (overshoot < 0.0)
    late = np.where(bounces, -2.0 * overshoot / np.where(bounces, impact - speed, 1.0), 0.0)
    rebound = restitution * impact
    rise = np.maximum(rebound * late + 0.5 * pull * late**2, 0.0)
    return np.where(bounces, rise, 0.0), np.where(bounces, rebound + pull * late, 0.0)
