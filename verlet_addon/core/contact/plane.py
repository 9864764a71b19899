"""What bodies rest on and bounce off."""

import numpy as np

from ..arrays import Floats, Integers
from ..integrators import start_displacement
from ..mesh import Ground
from ..model import SoftBodyModel
from ..state import ParticleState


def collide_with_plane(
    model: SoftBodyModel,
    state: ParticleState,
    ground: Ground,
    *,
    start: Floats,
    arrival: Floats,
    ground_shift: Floats,
    gravity: Floats,
    dt: float,
    friction: float,
    restitution: float,
) -> None:
    """Puts particles back onto the ground and sets their velocity through the previous position.

    Parameters
    ----------
    start : (3, n) positions at the beginning of the step [m].
    arrival : (3, n) positions that free motion led to, before any constraint [m].
    ground_shift : (3,) how far the ground moved during the step [m].
    gravity : (3,) [m/s²].
    dt : length of the step [s].
    friction, restitution : of the ground; with the particle's own the slipperier and the bouncier
        decide.
    """
    normal = ground.normal
    height = _along(normal, state.positions - ground.point[:, None]) - model.settings.thickness
    hit = np.flatnonzero((height < 0.0) & (model.inverse_masses > 0.0))
    if not len(hit):
        return
    depth = -height[hit]
    state.positions[:, hit] += normal[:, None] * depth
    grip = min(model.settings.friction, friction)
    _rub(state, hit, start[:, hit] + ground_shift[:, None], normal, grip * depth)
    bounce = max(model.settings.restitution, restitution)
    fall = _along(normal, arrival[:, hit] - start[:, hit] - ground_shift[:, None])
    overshoot = _along(normal, arrival[:, hit] - ground.point[:, None]) - model.settings.thickness
    pull = float(normal @ gravity)
    rise, speed = _bounce(bounce, fall, overshoot, pull, dt)
    climb = start_displacement(speed, pull, dt, model.settings.damping) * (speed > 0.0)
    state.positions[:, hit] += normal[:, None] * rise
    moved = state.positions[:, hit] - state.previous_positions[:, hit]
    climb += normal @ ground_shift
    state.previous_positions[:, hit] += normal[:, None] * (_along(normal, moved) - climb)


def _along(normal: Floats, vectors: Floats) -> Floats:
    """(k,) components of vectors (3, k); NumPy's own sum, for BLAS sets idle threads spinning."""
    return np.asarray(np.einsum("x,xk->k", normal, vectors))


def _rub(state: ParticleState, hit: Integers, start: Floats, normal: Floats, limit: Floats) -> None:
    """Coulomb friction: takes back at most `limit` of the sliding over the ground [m]."""
    slid = state.positions[:, hit] - start
    slid -= normal[:, None] * _along(normal, slid)
    length = np.sqrt((slid * slid).sum(axis=0))
    share = np.minimum(1.0, limit / np.maximum(length, 1e-300))
    state.positions[:, hit] -= slid * share


def _bounce(
    restitution: float, fall: Floats, overshoot: Floats, pull: float, dt: float
) -> tuple[Floats, Floats]:
    """How high above the ground a particle ends the step after a bounce, and how fast it rises.

    It hit the ground on the way: v_c² = v² + 2 |g| overshoot gives the speed there, from which it
    starts again at e v_c for what was left of the step. Slower than gravity's pull over two steps
    it comes to rest instead. `fall` is the free displacement of the step, negative downwards.
    """
    speed = fall / dt + 0.5 * pull * dt
    impact = np.sqrt(np.maximum(speed**2 - 2.0 * pull * overshoot, 0.0))
    bounces = (restitution * impact > 2.0 * abs(pull) * dt) & (fall < 0.0) & (overshoot < 0.0)
    late = np.where(bounces, -2.0 * overshoot / np.where(bounces, impact - speed, 1.0), 0.0)
    rebound = restitution * impact
    rise = np.maximum(rebound * late + 0.5 * pull * late**2, 0.0)
    return np.where(bounces, rise, 0.0), np.where(bounces, rebound + pull * late, 0.0)
