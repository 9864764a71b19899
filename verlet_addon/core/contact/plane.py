"""What bodies rest on and bounce off."""

import numpy as np

from ..arrays import Floats, Integers
from ..integrators import start_displacement
from ..mesh import Ground
from ..model import SoftBodyModel
from ..state import ParticleState

EASING = 0.5
"""What starts in the ground is out of it after this time [s]."""


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

    Particles that start in the ground each have a floor of their own that begins where they are
    and rises to the ground. Bodies that nothing holds are carried up with it as they are, so that
    they gain no speed and are not squashed.

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
    above_start = _along(normal, start + (ground_shift - ground.point)[:, None])
    floor, lift = _raise_floors(state, model.settings.thickness, above_start, dt)
    height = _along(normal, state.positions - ground.point[:, None]) - floor
    if lift.any():
        height += _carry(model, state, normal, height, lift)
    hit = np.flatnonzero((height < 0.0) & (model.inverse_masses > 0.0))
    if not len(hit):
        return
    depth = -height[hit]
    state.positions[:, hit] += normal[:, None] * depth
    grip = min(model.settings.friction, friction)
    _rub(state, hit, start[:, hit] + ground_shift[:, None], normal, grip * depth)
    bounce = max(model.settings.restitution, restitution)
    fall = _along(normal, arrival[:, hit] - start[:, hit] - ground_shift[:, None])
    overshoot = _along(normal, arrival[:, hit] - ground.point[:, None]) - (floor - lift)[hit]
    pull = float(normal @ gravity)
    rise, speed = _bounce(bounce, fall, overshoot, pull, dt)
    climb = start_displacement(speed, pull, dt, model.settings.damping) * (speed > 0.0)
    state.positions[:, hit] += normal[:, None] * rise
    moved = state.positions[:, hit] - state.previous_positions[:, hit]
    climb += normal @ ground_shift
    state.previous_positions[:, hit] += normal[:, None] * (_along(normal, moved) - climb)


def _raise_floors(
    state: ParticleState, thickness: float, above: Floats, dt: float
) -> tuple[Floats, Floats]:
    """(n,) the height above the ground where each particle's floor ends the step, and its lift.

    `above` is where particles begin the step. The floor of one that met the ground d deep stands
    d (1 + 2 s) (1 − s)² below it after s EASING: it sets off and arrives without a jerk. What has
    come out has the ground itself for its floor.
    """
    if state.burial is None:
        state.burial, state.burial_age = thickness - above, 0.0
    state.burial[above >= thickness] = 0.0
    ages = np.minimum(np.array([state.burial_age, state.burial_age + dt]) / EASING, 1.0)
    before, after = (1.0 + 2.0 * ages) * (1.0 - ages) ** 2
    state.burial_age += dt
    return thickness - state.burial * after, state.burial * (before - after)


def _carry(
    model: SoftBodyModel, state: ParticleState, normal: Floats, height: Floats, lift: Floats
) -> Floats:
    """(n,) how far bodies that nothing holds go up with the floors of the particles they stand on.

    They are put there: a push would become speed, and squash them.
    """
    most = np.zeros(model.free_components.max(initial=-1) + 2)  # the last for what is held
    np.maximum.at(most, model.free_components, np.minimum(lift, -height))
    most[-1] = 0.0
    shift = most[model.free_components]
    state.positions += normal[:, None] * shift
    state.previous_positions += normal[:, None] * shift
    return shift


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
