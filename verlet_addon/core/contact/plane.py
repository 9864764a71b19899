"""A plane that a body rests on and bounces off, solved as a constraint like any other."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats
from ..integrators import start_displacement
from ..mesh import Plane


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
    pushed: Floats
    """(n,) how far each has been pushed out in this step; changed by the kernel [m]."""
    rubbed: Floats
    """(3, n) how far friction has taken each back; changed by the kernel [m]."""

    def heights(self, positions: Floats) -> Floats:
        """(n,) of positions (3, n) above the plane [m]."""
        level = float((self.plane.normal * self.plane.point).sum())
        return _along(self.plane.normal, positions) - level


def project_plane(positions: Floats, contact: PlaneContact, inverse_masses: Floats) -> None:
    """C = height − floor ≥ 0, and Coulomb friction up to its coefficient times the push.

    Pushes and friction are those of all rounds of the step together, so that a round may take back
    what the one before did too much.
    """
    depth = contact.floors[1] - contact.heights(positions)
    touching = (depth > 0.0) | (contact.pushed > 0.0)
    hit = np.flatnonzero(touching & (inverse_masses > 0.0))
    if not len(hit):
        return
    normal = contact.plane.normal[:, None]
    pushed = np.maximum(contact.pushed[hit] + depth[hit], 0.0)
    positions[:, hit] += normal * (pushed - contact.pushed[hit])
    contact.pushed[hit] = pushed
    slid = positions[:, hit] + contact.rubbed[:, hit] - contact.start[:, hit]
    slid -= normal * _along(contact.plane.normal, slid)
    length = np.sqrt((slid * slid).sum(axis=0))
    slid *= np.minimum(1.0, contact.friction * pushed / np.maximum(length, 1e-300))
    positions[:, hit] -= slid - contact.rubbed[:, hit]
    contact.rubbed[:, hit] = slid


def rebound(
    positions: Floats,
    previous_positions: Floats,
    contact: PlaneContact,
    arrival: Floats,
    accelerations: Floats,
    *,
    dt: float,
    damping: float,
) -> None:
    """Sets the speed of what the plane has pushed, through the previous positions (3, n).

    Parameters
    ----------
    arrival : (3, n) positions that free motion led to, before any constraint [m].
    accelerations : (3, n) of free motion [m/s²].
    dt, damping : length of the step [s], and the rate of drag [1/s].
    """
    hit = np.flatnonzero(contact.pushed > 0.0)
    if not len(hit):
        return
    normal = contact.plane.normal
    fall = _along(normal, arrival[:, hit] - contact.start[:, hit])
    overshoot = contact.heights(arrival[:, hit]) - contact.floors[0, hit]
    pull = _along(normal, accelerations[:, hit])
    rise, speed = bounce(contact.restitution, fall, overshoot, pull, dt)
    positions[:, hit] += normal[:, None] * rise
    climb = start_displacement(speed, pull, dt, damping) * (speed > 0.0)
    moved = _along(normal, positions[:, hit] - previous_positions[:, hit])
    previous_positions[:, hit] += normal[:, None] * (moved - climb - contact.climb)


def _along(normal: Floats, vectors: Floats) -> Floats:
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
