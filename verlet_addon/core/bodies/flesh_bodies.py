"""Phases of a step for flesh."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, norms
from ..flesh.flesh_body import FleshState, set_rests, start_flesh
from ..flesh.posing import pose_nodes
from ..forces.accelerations import node_accelerations
from ..mesh import MeshData
from ..model import FleshModel
from ..solid.external_moves import move_nodes_with_points
from ..solid.kernels import interpolate
from ..solid.solid_step import SolidStep, StepPose
from ..solid.tolerances import motion_square
from ..state import SolidBodyState
from .solid_bodies import SolidBodyStep, spring_compliances
from .step_data import StepInputs


def start_flesh_body(model: FleshModel, mesh: MeshData, *, dt: float) -> SolidBodyState:
    """Flesh at its pose at the first frame, which moves along.

    Parameters
    ----------
    mesh : positions and velocities at the first frame.
    dt : length of the first step [s].
    """
    flesh, skin = model.solid, mesh.positions.T
    state = start_flesh(flesh, skin, mesh.velocities.T, model.settings, dt)
    points = state.posed_points.copy()
    before = flesh.posed_points(skin - mesh.velocities.T * dt, state.pose - state.pose_move)
    state.solved_points, state.previous_solved_points = points.copy(), before.copy()
    return SolidBodyState(points, before, previous_dt=dt, solid=state)


@dataclass(eq=False, kw_only=True)
class FleshBodyStep(SolidBodyStep):
    """Flesh in one step, by displacements from its pose."""

    model: FleshModel

    @property
    def _nodes(self) -> FleshState:
        """The state of its nodes."""
        assert isinstance(self.state.solid, FleshState)
        return self.state.solid

    def _predict_nodes(self, inputs: StepInputs) -> SolidStep:
        """The free motion of the nodes, relative to their pose at the end of the step."""
        model, state, batches = self.model, self.state, self.batches
        flesh, own, dt = model.solid, self._nodes, batches.steps[0]
        move_nodes_with_points(flesh, own, state.positions, state.previous_positions)
        skin = self.targets[:, : model.vertex_count]
        pose = pose_nodes(flesh.posing, skin)
        former, gain = own.pose, batches.velocity_gain
        set_rests(flesh, own.poses, former, model.settings)
        step_pose = StepPose(former, pose - former, own.posed_points, own.poses)
        lag = (1.0 - model.settings.inertia_share) * (own.pose_move * gain - step_pose.way)
        # No more than its thickness, if the pose jumps.
        lag *= np.minimum(1.0, flesh.depth / norms(lag))
        inertia = (own.nodes - own.previous_nodes) * (
            gain * np.exp(-flesh.drag_rate(model.settings.flesh_damping, dt) * dt)
        )
        free = inertia + lag + self._pull(inputs) * batches.h_squared
        own.pose, own.pose_move = pose, step_pose.way
        own.posed_points = flesh.posed_points(skin, pose)
        state.previous_positions = state.positions.copy()
        state.positions = own.posed_points + interpolate(flesh.embedding, own.nodes + free)
        return SolidStep(
            flesh,
            own,
            batches.solid,
            dt,
            batches.h_squared,
            inertia,
            free,
            inputs.ground_shift,
            free_motion=motion_square(flesh, free),
            pose=step_pose,
        )

    def _pull(self, inputs: StepInputs) -> Floats:
        """(3, m) accelerations of the nodes [m/s²].

        A shape that was modelled under gravity feels what that differs by as it turns.
        """
        model, own = self.model, self._nodes
        flesh, previous_dt = model.solid, self.batches.steps[1]
        gravity = inputs.gravity * model.settings.gravity
        pull = node_accelerations(
            model.exposed_surface,
            model.inverse_masses,
            flesh,
            own.pose + own.nodes,
            self.state.positions,
            lambda: (
                (own.pose_move + own.nodes - own.previous_nodes) / previous_dt,
                self.state.velocities(),
            ),
            gravity=gravity,
            fields=self.fields,
            shares=model.settings.field_shares,
            dt=self.batches.steps[0],
        )
        return pull - flesh.turned(gravity, own.poses) if model.settings.loaded_shape else pull

    def project_constraints(self, sweep: int) -> None:
        """Sets up elasticity, bone and ground contacts as one system, in the first sweep."""
        super().project_constraints(sweep)
        if sweep == 0:  # no ground stops what the pose alone moves
            self.batches.solid.contacts.levels[self.model.solid.held] = -np.inf

    def pins(self) -> tuple[Floats, Floats]:
        """Targets (3, g) and compliances (g,) of points at the bone, and of goal springs."""
        bone = self.model.solid.bone
        springs = spring_compliances(self.model, self.batches.h_squared)
        targets = np.concatenate([self._nodes.posed_points[:, bone], self.spring_goals], axis=1)
        return targets, np.concatenate([np.zeros(len(bone)), springs])
