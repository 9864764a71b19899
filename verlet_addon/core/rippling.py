"""Bodies of water: pins and colliders in, waves, and where vertices are."""

from collections.abc import Sequence

import numpy as np

from .arrays import Floats
from .mesh import Collider, MeshData
from .model import SoftBodyModel
from .state import ParticleState
from .water.waves import Held, count_steps, dip, find_turn, ripple, start_waves


def fill_with_water(
    model: SoftBodyModel,
    state: ParticleState,
    mesh: MeshData,
    colliders: Sequence[Collider],
) -> None:
    """Lets the water of a body move as its mesh does, and tells it what may dip in."""
    if model.water is not None and state.water is None:
        state.water = start_waves(model.water, mesh.velocities.T, state.previous_dt)
        state.water.divers = [(k, colliders[k].triangles) for k in mesh.colliders]


def move_water(
    model: SoftBodyModel,
    state: ParticleState,
    integrator: str,
    targets: Floats,
    places: Sequence[Floats],
    dt: float,
) -> None:
    """Moves a body's waves on by one step, on the level that its object has taken along.

    Parameters
    ----------
    targets : (3, n) where the animated mesh is at the end of the step [m].
    places : per collider (v, 3) where its vertices are then [m].
    dt : length of the step [s].
    """
    water, within, body = model.water, state.water, model.settings
    if water is None or within is None:
        return
    free = np.flatnonzero(model.inverse_masses > 0.0)
    within.turn, shift = find_turn(water, targets, free)
    seat, normals = within.turn @ water.level + shift, within.turn @ water.normals
    held = np.concatenate([model.pinned, model.goals])
    heights = ((targets - seat) * normals)[:, held].sum(axis=0)
    softness = model.goal_compliances / model.inverse_masses[model.goals]
    rates = np.append(np.full(len(model.pinned), np.inf), 1.0 / softness)
    dip(water, within, places, seat)
    ripple(
        water,
        within,
        Held(held, heights, rates),
        speed=body.wave_speed,
        damping=body.damping,
        integrator=integrator,
        dt=dt,
        steps=count_steps(model.name, water, body.wave_speed, dt),
    )
    state.previous_positions = state.positions
    state.positions = seat + normals * within.heights
    state.positions[:, model.pinned] = targets[:, model.pinned]
