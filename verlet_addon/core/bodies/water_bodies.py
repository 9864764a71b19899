"""Bodies of water: waves driven by pins, colliders and bodies, and the resulting vertices."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, weighted_sums
from ..geometry.graph import NO_EDGES
from ..geometry.ray_casting import is_closed
from ..mesh import MeshData
from ..model import SoftBodyModel, WaterModel
from ..scene import Collider
from ..settings import SceneSettings
from ..state import ParticleState, WaterBodyState
from ..water.submersion import SubmergedShape
from ..water.waves import (
    DrivenVertices,
    SubmergedBody,
    count_steps,
    displace_water,
    find_object_motion,
    step_waves,
)
from .body_step import BodyStep
from .step_data import StepInputs


def find_submerged(
    models: Sequence[SoftBodyModel],
    states: Sequence[ParticleState],
    meshes: Sequence[MeshData],
    colliders: Sequence[Collider],
) -> None:
    """Lists, for each body of water, the bodies and colliders that can be submerged in it."""
    waters = [
        (state, mesh)
        for state, mesh in zip(states, meshes, strict=True)
        if isinstance(state, WaterBodyState)
    ]
    if not waters:
        return
    shapes = {
        number: _as_submerged_shape(model, mesh)
        for number, (model, mesh) in enumerate(zip(models, meshes, strict=True))
        if not isinstance(model, WaterModel)
    }
    for state, mesh in waters:
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


@dataclass(eq=False, kw_only=True)
class WaterStep(BodyStep):
    """A body of water in one step."""

    model: WaterModel
    state: WaterBodyState

    def predict(self, settings: SceneSettings, inputs: StepInputs) -> None:
        """Advances the waves; the water level moves with the object."""
        model, state, targets = self.model, self.state, self.targets
        water, water_state, body = model.water, state.water, model.settings
        free = np.flatnonzero(model.inverse_masses > 0.0)
        water_state.rotation, shift = find_object_motion(water, targets, free)
        level_positions = weighted_sums(water_state.rotation, water.level) + shift
        normals = weighted_sums(water_state.rotation, water.normals)
        driven = self._driven_vertices(level_positions, normals, inputs.dt)
        displace_water(water, water_state, inputs.vertex_positions, level_positions)
        step_waves(
            water,
            water_state,
            driven,
            speed=body.wave_speed,
            damping=body.damping,
            integrator=settings.integrator,
            dt=inputs.dt,
            steps=count_steps(model.name, water, body.wave_speed, inputs.dt),
        )
        state.previous_positions = state.positions
        state.positions = level_positions + normals * water_state.heights
        state.positions[:, model.pinned] = targets[:, model.pinned]

    def _driven_vertices(
        self, level_positions: Floats, normals: Floats, dt: float
    ) -> DrivenVertices:
        """Vertices that pins and goal springs move to heights above the level (3, n) [m]."""
        model, springs = self.model, self.model.held
        held = np.concatenate([model.pinned, model.goals])
        wanted = ((self.targets - level_positions) * normals)[:, held].sum(axis=0)
        compliances = model.goal_compliances / model.inverse_masses[model.goals]
        rates = np.append(np.full(len(model.pinned), np.inf), 1.0 / compliances)
        if springs is not None:
            held, drawn = np.append(held, springs.vertices), springs.vertices
            heights = (self.spring_goals - level_positions[:, drawn]) * normals[:, drawn]
            wanted = np.append(wanted, heights.sum(axis=0))
            rates = np.append(rates, springs.spring_masses * model.inverse_masses[drawn] / dt**2)
        return DrivenVertices(held, wanted, rates)

    def project_constraints(self, sweep: int) -> None:
        """Nothing: waves alone move water."""

    def project_lengths(self, *, backwards: bool = False, single_sweep: bool = False) -> None:
        """Nothing: its edges have no lengths to keep."""
