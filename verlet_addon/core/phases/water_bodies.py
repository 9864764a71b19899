"""Bodies of water: waves driven by pins, colliders and bodies, and the resulting vertices."""

from collections.abc import Sequence

import numpy as np

from ..arrays import Floats, weighted_sums
from ..geometry.graph import NO_EDGES
from ..geometry.ray_casting import is_closed
from ..mesh import MeshData
from ..model import SoftBodyModel
from ..scene import Collider
from ..state import ParticleState
from ..water.submersion import SubmergedShape
from ..water.waves import (
    DrivenVertices,
    SubmergedBody,
    count_steps,
    displace_water,
    find_object_motion,
    start_waves,
    step_waves,
)
from .step_data import BodyStep


def start_water(
    models: Sequence[SoftBodyModel],
    states: Sequence[ParticleState],
    meshes: Sequence[MeshData],
    colliders: Sequence[Collider],
) -> None:
    """Creates the waves of all bodies of water, and the list of bodies that can be submerged."""
    if all(model.water is None for model in models):
        return
    shapes = {
        number: _as_submerged_shape(model, mesh)
        for number, (model, mesh) in enumerate(zip(models, meshes, strict=True))
        if model.water is None
    }
    for model, state, mesh in zip(models, states, meshes, strict=True):
        if model.water is None or state.water is not None:
            continue
        state.water = start_waves(model.water, mesh.velocities.T, state.previous_dt)
        met = {
            len(models) + number: SubmergedShape(colliders[number].triangles.T, NO_EDGES, 0.0)
            for number in sorted(mesh.colliders)
        }
        state.water.submerged_bodies = [SubmergedBody(*each) for each in (shapes | met).items()]


def _as_submerged_shape(model: SoftBodyModel, mesh: MeshData) -> SubmergedShape:
    """The shape by which a body displaces water: its volume if closed, else its thickness."""
    loose = mesh.edges[~np.isin(mesh.edges, mesh.face_vertices).all(axis=1)].T
    closed = is_closed(model.triangles) and not loose.size
    return SubmergedShape(model.triangles, loose, 0.0 if closed else model.settings.thickness)


def step_water(
    body_step: BodyStep, integrator: str, vertex_positions: Sequence[Floats], dt: float
) -> None:
    """Advances the waves of a body by one step; the water level moves with the object.

    Parameters
    ----------
    body_step : the body.
    integrator : name of the integrator.
    vertex_positions : (3, v) of each body, then of each collider [m].
    dt : length of the step [s].
    """
    model, state, targets = body_step.model, body_step.state, body_step.targets
    water, water_state, body = model.water, state.water, model.settings
    if water is None or water_state is None:
        return
    free = np.flatnonzero(model.inverse_masses > 0.0)
    water_state.rotation, shift = find_object_motion(water, targets, free)
    level_positions = weighted_sums(water_state.rotation, water.level) + shift
    normals = weighted_sums(water_state.rotation, water.normals)
    driven = _driven_vertices(body_step, level_positions, normals, dt)
    displace_water(water, water_state, vertex_positions, level_positions)
    step_waves(
        water,
        water_state,
        driven,
        speed=body.wave_speed,
        damping=body.damping,
        integrator=integrator,
        dt=dt,
        steps=count_steps(model.name, water, body.wave_speed, dt),
    )
    state.previous_positions = state.positions
    state.positions = level_positions + normals * water_state.heights
    state.positions[:, model.pinned] = targets[:, model.pinned]


def _driven_vertices(
    body_step: BodyStep, level_positions: Floats, normals: Floats, dt: float
) -> DrivenVertices:
    """Vertices that pins and goal springs move to heights above the level (3, n) [m]."""
    model, springs = body_step.model, body_step.model.held
    held = np.concatenate([model.pinned, model.goals])
    wanted = ((body_step.targets - level_positions) * normals)[:, held].sum(axis=0)
    compliances = model.goal_compliances / model.inverse_masses[model.goals]
    rates = np.append(np.full(len(model.pinned), np.inf), 1.0 / compliances)
    if springs is not None:
        held, drawn = np.append(held, springs.vertices), springs.vertices
        heights = (body_step.spring_goals - level_positions[:, drawn]) * normals[:, drawn]
        wanted = np.append(wanted, heights.sum(axis=0))
        rates = np.append(rates, springs.spring_masses * model.inverse_masses[drawn] / dt**2)
    return DrivenVertices(held, wanted, rates)
