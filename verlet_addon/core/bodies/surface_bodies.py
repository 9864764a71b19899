"""Phases of a step for cloth and ropes, with or without rigid pieces."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats
from ..bending.kernels import project_bends
from ..forces.accelerations import accelerations
from ..model import SoftBodyModel
from ..momentum.kernels import conserve_momentum
from ..rigid.kernels import predict_poses
from ..rigid.piece_motion import (
    NEWTON_ROUNDS,
    apply_contacts_to_pieces,
    poses_of,
    project_joints,
    put_particles_on_pieces,
)
from ..rods.kernels import project_rods
from ..ropes.constraints import lengthen_ropes
from ..ropes.kernels import add_start_spring_forces, undo_implicit_damping
from ..settings import SceneSettings
from ..strands.kernels import rub_strands
from ..stretch.kernels import project_levels, strain_range
from ..stretch.sweep import project_shear
from .body_step import BodyStep
from .goal_springs import draw_held_vertices
from .ground_contacts import add_ground_contact
from .inflation import inflate
from .lengths import project_lengths, warm_start_tensions
from .plastic_flow import apply_plastic_flow, plastic_flow
from .step_data import StepInputs

CONTACT_ROUNDS = 16
"""Alternations between rigid pieces and contacts. With half, a stack of three boxes creeps aside by
0.6 mm a second in place of 0.3 mm; with twice, by 0.1 mm."""
RESTING_STEPS = 60
"""Successive steps with contact after which a body counts as resting, and sweeps keep one order.
With fewer, bodies that swing against others gain energy from the constant order: bunting flew up
within four seconds."""


@dataclass(eq=False, kw_only=True)
class SurfaceStep(BodyStep):
    """Cloth or ropes in one step."""

    def predict(self, settings: SceneSettings, inputs: StepInputs) -> None:
        """Moves particles by inertia and external forces, and sets up contact with the ground."""
        state, strands = self.state, self.model.strands
        if strands is not None:
            rub_strands(state.previous_positions, state.positions, strands, *self.batches.steps)
        self.accelerations = self.find_accelerations(inputs)
        self._integrate()
        self.predicted = self.state.positions.copy()
        add_ground_contact(self, settings, inputs)

    def find_accelerations(self, inputs: StepInputs) -> Floats:
        """(3, n) accelerations by external forces [m/s²]."""
        model, state = self.model, self.state
        found = accelerations(
            model.exposed_surface,
            model.own_inverse_masses,
            state.positions,
            state.velocities,
            gravity=inputs.gravity * model.settings.gravity,
            fields=self.fields,
            shares=model.settings.field_shares,
            dt=inputs.dt,
        )
        return found if self.pull is None else found + self.pull

    def _integrate(self) -> None:
        """Verlet step x' = x + (x − x₋)·velocity_gain + a·h², plus spring forces of ropes.

        Pinned particles are set to their targets.
        """
        model, state, batches = self.model, self.state, self.batches
        moved = state.positions - state.previous_positions
        moved *= batches.velocity_gain
        moved += self.accelerations * batches.h_squared
        moved += state.positions
        if self.reference_motion is not None:
            moved = self.reference_motion.apply(moved)
        if model.held is not None:
            draw_held_vertices(moved, model.held, self.spring_goals)
        add_start_spring_forces(moved, state.positions, batches.ropes.strips)
        state.previous_positions, state.positions = state.positions.copy(), moved
        state.positions[:, model.pinned] = self.targets[:, model.pinned]
        if model.pieces is not None and state.rigid is not None:
            state.rigid = poses_of(state.rigid, model.pieces)
            predict_poses(state.rigid, self.start, state.positions, NEWTON_ROUNDS)

    def residual_strain(self) -> float:
        """Largest share by which an edge is longer than its tension implies."""
        strips = [*self.batches.lengths.edges, *self.batches.ropes.strips]
        return float(strain_range(self.state.positions, strips)[1])

    def project_constraints(self, sweep: int) -> None:
        """Projects all internal constraints once; sweep 0 includes warm starts."""
        model, state, batches = self.model, self.state, self.batches
        positions = state.positions
        before = positions.copy() if model.has_free_components else positions
        # Alternating the order would make resting bodies rock.
        backwards = (state.steps + sweep) % 2 == 1 and state.steps_in_contact < RESTING_STEPS
        if sweep == 0:
            lengthen_ropes(positions, batches.ropes)
            inflate(self)
            warm_start_tensions(state, batches)
        project_soft_pins(self)
        project_bends(positions, batches.bends, backwards=backwards)
        self._project_rods()
        project_shear(positions, batches.lengths, backwards=backwards)
        # After bends, which would react to the bending by levels: a dress would never rest.
        project_levels(positions, model.lengths.levels)
        self.project_lengths(backwards=backwards)
        state.positions = self.with_momentum(before, positions, about=self.start)
        self.put_on_targets()
        put_particles_on_pieces(state.rigid, state.positions)

    def _project_rods(self) -> None:
        """Projects bends and twists of rods towards their rest shape, or the animated mesh."""
        model, rods = self.model, self.batches.rods
        if rods is not None:
            dynamic = model.settings.has_animated_rest
            rest = np.ascontiguousarray(self.targets) if dynamic else model.rest_positions
            project_rods(self.state.positions, rest, rods)

    def project_lengths(self, *, backwards: bool = False, single_sweep: bool = False) -> None:
        """Projects weave, edges, seams, ropes and rigid joints, with several sweeps or one."""
        self.state.sweeps += project_lengths(
            self.state.positions,
            self.batches,
            self.state.rigid,
            self.goal_radii,
            backwards=backwards,
            single_sweep=single_sweep,
        )

    def project_ground_contacts(self) -> None:
        """Projects contact with the ground and its friction, in turn with rigid pieces."""
        rigid, positions = self.state.rigid, self.state.positions
        for _ in range(1 if rigid is None else CONTACT_ROUNDS):
            super().project_ground_contacts()
            if not apply_contacts_to_pieces(rigid, positions):
                break
            project_joints(rigid, positions)

    def finish(self) -> None:
        """Undoes the numerical damping of implicit steps in ropes, then bounces from the ground.

        Closed loops and nets are excluded: they are solved only approximately, and would gain
        energy.
        """
        self.put_on_targets()
        state = self.state
        ropes = [each.batch for each in self.batches.ropes.trees.generations]
        if ropes:
            before = state.previous_positions.copy()
            undo_implicit_damping(state.previous_positions, self.start, state.positions, ropes)
            state.previous_positions = self.with_momentum(
                before, state.previous_positions, about=state.positions
            )
        super().finish()

    def end(self) -> None:
        """Puts particles on their pieces, and lets rest lengths and angles flow."""
        put_particles_on_pieces(self.state.rigid, self.state.positions)
        flow = plastic_flow(self.model, self.state.plastic, self.batches)
        if flow is not None:
            apply_plastic_flow(self.state.positions, flow)
        super().end()

    def with_momentum(self, before: Floats, after: Floats, *, about: Floats) -> Floats:
        """(3, n) positions `after`, with the linear and angular momentum of `before`.

        Angular momentum is Σ m a × Δx with arms a at `about` (3, n). Only components without pins
        are corrected.
        """
        model = self.model
        if not model.has_free_components:
            return after
        return conserve_momentum(
            model.free_components, model.inverse_masses, before, after, about=about
        )


def project_soft_pins(body_step: BodyStep) -> None:
    """Projects soft pins: C = x − target, with compliance."""
    model, positions, goals = body_step.model, body_step.state.positions, body_step.model.goals
    if len(goals):
        share = goal_shares(model, body_step.batches.h_squared)
        positions[:, goals] += (body_step.targets[:, goals] - positions[:, goals]) * share


def goal_shares(model: SoftBodyModel, h_squared: float) -> Floats:
    """(g,) shares of the way to its goal that a soft pin moves in a step with this h² [s²]."""
    inverse_masses = model.mobilities[model.goals]
    return np.asarray(inverse_masses / (inverse_masses + model.goal_compliances / h_squared))
