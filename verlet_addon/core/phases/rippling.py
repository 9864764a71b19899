"""Bodies of water: pins and colliders in, waves, and where vertices are."""

from collections.abc import Sequence

import numpy as np

from ..arrays import Floats, contracted
from ..geometry.graph import NO_EDGES
from ..geometry.rays import is_closed
from ..mesh import MeshData
from ..model import SoftBodyModel
from ..scene import Collider
from ..state import ParticleState
from ..water.dipping import Diver
from ..water.waves import Dipping, Held, count_steps, dip, find_turn, ripple, start_waves
from .step_data import Mover


def fill_with_water(
    models: Sequence[SoftBodyModel],
    states: Sequence[ParticleState],
    meshes: Sequence[MeshData],
    colliders: Sequence[Collider],
) -> None:
    """Lets the water of bodies move as their meshes do, and tells it what may dip in."""
    if all(model.water is None for model in models):
        return
    divers = {
        number: _as_diver(model, mesh)
        for number, (model, mesh) in enumerate(zip(models, meshes, strict=True))
        if model.water is None
    }
    for model, state, mesh in zip(models, states, meshes, strict=True):
        if model.water is None or state.water is not None:
            continue
        state.water = start_waves(model.water, mesh.velocities.T, state.previous_dt)
        met = {
            len(models) + number: Diver(colliders[number].triangles.T, NO_EDGES, 0.0)
            for number in sorted(mesh.colliders)
        }
        state.water.divers = [Dipping(*each) for each in (divers | met).items()]


def _as_diver(model: SoftBodyModel, mesh: MeshData) -> Diver:
    """A body as water sees it: solid if it encloses something, or as thick as it is set to be."""
    loose = mesh.edges[~np.isin(mesh.edges, mesh.face_vertices).all(axis=1)].T
    closed = is_closed(model.triangles) and not loose.size
    return Diver(model.triangles, loose, 0.0 if closed else model.settings.thickness)


def move_water(mover: Mover, integrator: str, places: Sequence[Floats], dt: float) -> None:
    """Moves a body's waves on by one step of so long [s], on the level that its object takes along.

    Vertices of bodies, and then of colliders, are at such places, (3, v) each [m].
    """
    model, state, targets = mover.model, mover.state, mover.targets
    water, within, body = model.water, state.water, model.settings
    if water is None or within is None:
        return
    free = np.flatnonzero(model.inverse_masses > 0.0)
    within.turn, shift = find_turn(water, targets, free)
    seat = contracted(within.turn, water.level) + shift
    normals = contracted(within.turn, water.normals)
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
