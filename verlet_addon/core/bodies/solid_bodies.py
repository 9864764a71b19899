"""Phases of a step for solids."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..arrays import Floats
from ..field import Field
from ..forces.accelerations import node_accelerations
from ..integrators import start_displacement
from ..mesh import MeshData
from ..model import SolidModel
from ..settings import SceneSettings
from ..solid.collider_contacts import ColliderContacts
from ..solid.coupled_solids import CoupledSolids, step_coupled_solids
from ..solid.coupled_system import SolidContacts
from ..solid.external_moves import move_nodes_with_points
from ..solid.kernels import interpolate
from ..solid.solid_body import fit_linear, rest_nodes, start_solid
from ..solid.solid_step import (
    SolidStep,
    begin_step,
    predict_points,
    solve_steps,
)
from ..solid.tolerances import motion_square
from ..state import SolidBatches, SolidBodyState
from .body_step import BodyStep
from .ground_contacts import add_ground_contact
from .step_data import StepInputs


def start_solid_body(
    model: SolidModel, mesh: MeshData, *, gravity: Floats, fields: Sequence[Field], dt: float
) -> SolidBodyState:
    """Positions and velocities of a solid's nodes and points at the first frame.

    Nodes are placed by the linear map that fits the vertices best, so that a body that starts
    rotated, stretched or flattened relative to its rest shape does so throughout.

    Parameters
    ----------
    model : the model of a solid.
    mesh : positions and velocities at the first frame.
    gravity : (3,) [m/s²].
    fields : force fields acting on the body.
    dt : length of the first step [s].
    """
    solid = model.solid
    rest, count = solid.points.T[: len(mesh.positions)], len(mesh.positions)
    nodes = rest_nodes(solid.lattice)
    places = nodes + fit_linear(rest, mesh.positions - rest, nodes)
    points = interpolate(solid.embedding, places)
    points[:, :count] = mesh.positions.T
    velocities = fit_linear(mesh.positions, mesh.velocities, places)
    pulls = node_accelerations(
        model.exposed_surface,
        model.inverse_masses,
        solid,
        places,
        points,
        lambda: (velocities, fit_linear(mesh.positions, mesh.velocities, points)),
        gravity=gravity * model.settings.gravity,
        fields=fields,
        shares=model.settings.field_shares,
        dt=dt,
    )
    displacements = start_displacement(velocities, pulls, dt, model.settings.damping)
    state = start_solid(solid, places, displacements)
    before = interpolate(solid.embedding, state.previous_nodes)
    before[:, model.pinned] = points[:, model.pinned]
    state.solved_points, state.previous_solved_points = points.copy(), before.copy()
    return SolidBodyState(points, before, previous_dt=dt, solid=state)


@dataclass(eq=False, kw_only=True)
class SolidBodyStep(BodyStep):
    """A solid in one step."""

    model: SolidModel
    state: SolidBodyState
    batches: SolidBatches
    solid_step: SolidStep = field(init=False)
    """Working data of its nodes; set by the predictor."""
    is_due: bool = False
    """Whether it is to be solved before contacts are detected."""

    @property
    def contact_inverse_masses(self) -> Floats:
        """(v,) inverse masses of the points of its surface in contact rows [1/kg]."""
        model = self.model
        alone = self.state.solid.depenetrated
        return model.contact_inverse_masses if alone else model.coupled_inverse_masses

    @property
    def is_solved(self) -> bool:
        """Whether it has been solved in this step; not after one in which it touched others."""
        return self.solid_step.contact_count >= 0

    def predict(self, settings: SceneSettings, inputs: StepInputs) -> None:
        """Predicts free motion of the nodes, and moves points with them."""
        self.solid_step = self._predict_nodes(inputs)
        self.predicted = self.state.positions.copy()
        add_ground_contact(self, settings, inputs)

    def _predict_nodes(self, inputs: StepInputs) -> SolidStep:
        """The free motion of the nodes."""
        model, state, batches = self.model, self.state, self.batches
        solid, solid_state = model.solid, state.solid
        dt, previous_dt = batches.steps
        move_nodes_with_points(solid, solid_state, state.positions, state.previous_positions)
        displacement = solid_state.nodes - solid_state.previous_nodes
        pull = node_accelerations(
            model.exposed_surface,
            model.inverse_masses,
            solid,
            solid_state.nodes,
            state.positions,
            lambda: (displacement / previous_dt, state.velocities()),
            gravity=inputs.gravity * model.settings.gravity,
            fields=self.fields,
            shares=model.settings.field_shares,
            dt=dt,
        )
        inertia = displacement * batches.velocity_gain
        if self.reference_motion is not None:
            nodes = solid_state.nodes
            inertia = self.reference_motion.apply(nodes + inertia) - nodes
        free = inertia + pull * batches.h_squared
        state.previous_positions = state.positions.copy()
        state.positions = interpolate(solid.embedding, solid_state.nodes + free)
        return SolidStep(
            solid,
            solid_state,
            batches.solid,
            dt,
            batches.h_squared,
            inertia,
            free,
            inputs.ground_shift,
            free_motion=motion_square(solid, free),
        )

    def project_constraints(self, sweep: int) -> None:
        """Sets up elasticity, pins and ground contacts as one system, in the first sweep.

        A solid that touched a collider or another solid in the step before is only predicted:
        contacts are detected at the predicted points, and solved in the same system afterwards.
        Others are due to be solved.
        """
        if sweep > 0:
            return
        positions, solid_step = self.state.positions, self.solid_step
        begin_step(solid_step, self.contacts, self.pins(), positions, positions - self.predicted)
        self.contacts = []
        touched = not np.isnan(solid_step.state.collider_anchors[0]).all()
        if touched or len(solid_step.state.solid_friction.keys):
            self.set_points(predict_points(solid_step))
        else:
            self.is_due = True

    def pins(self) -> tuple[Floats, Floats] | None:
        """Targets (3, g) [m] and compliances (g,) [m/N] of what draws its points, if anything."""
        model, step = self.model, self.solid_step
        if not len(step.system.pin_springs.points):
            return None
        held = np.concatenate([model.pinned, model.goals])
        targets = np.concatenate([self.targets[:, held], self.spring_goals], axis=1)
        springs = spring_compliances(model, step.h_squared)
        firm = np.zeros(len(model.pinned))
        return targets, np.concatenate([firm, model.goal_compliances, springs])

    def project_lengths(self, *, backwards: bool = False, single_sweep: bool = False) -> None:
        """Nothing: a solid is solved with its contacts."""

    def set_points(self, points: Floats) -> None:
        """Sets positions to points (3, p) of the solid, and pinned ones to targets [m]."""
        state, pinned = self.state, self.model.pinned
        state.positions = points
        state.positions[:, pinned] = self.targets[:, pinned]
        self.put_on_targets()
        state.solid.solved_points = state.positions.copy()
        state.solid.previous_solved_points = state.previous_positions.copy()


def solve_due_solids(body_steps: Sequence[BodyStep]) -> None:
    """Solves the solids that are due, without contacts with colliders and other solids."""
    due = [each for each in body_steps if isinstance(each, SolidBodyStep) and each.is_due]
    solve_uncoupled_solids(due, [None] * len(due))
    for body_step in due:
        body_step.is_due = False


def solve_uncoupled_solids(
    body_steps: Sequence[SolidBodyStep], collider_contacts: Sequence[ColliderContacts | None]
) -> None:
    """Solves each solid that has more contacts with colliders than when it was last solved."""
    unsolved = list[tuple[SolidBodyStep, ColliderContacts | None]]()
    for body_step, contacts in zip(body_steps, collider_contacts, strict=True):
        count = 0 if contacts is None else len(contacts.levels)
        if count > body_step.solid_step.contact_count:
            body_step.solid_step.contact_count = count
            unsolved.append((body_step, contacts if count else None))
    steps = [body_step.solid_step for body_step, _ in unsolved]
    points = solve_steps(steps, [contacts for _, contacts in unsolved])
    for (body_step, _), own in zip(unsolved, points, strict=True):
        body_step.set_points(own)


def spring_compliances(model: SolidModel, h_squared: float) -> Floats:
    """(g,) compliances of goal springs in steps of h² [m/N].

    They draw through the skin, as pins do: stiffer ones would outweigh all the solid.
    """
    if model.held is None:
        return np.empty(0)
    skin = 1.0 / model.solid.contact_stiffnesses[model.held.vertices]
    return skin + h_squared / model.held.spring_masses


def solve_coupled_solids(
    body_steps: Sequence[SolidBodyStep],
    collider_contacts: Sequence[ColliderContacts],
    solid_contacts: SolidContacts,
) -> None:
    """Solves solids in contact as one system, if any has more contacts than when last solved."""
    solid_steps = [body_step.solid_step for body_step in body_steps]
    counts = [len(each.levels) + len(solid_contacts.levels) for each in collider_contacts]
    if any(
        count > solid_step.contact_count
        for count, solid_step in zip(counts, solid_steps, strict=True)
    ):
        points = step_coupled_solids(CoupledSolids(solid_steps, collider_contacts, solid_contacts))
        for body_step, count, own in zip(body_steps, counts, points, strict=True):
            body_step.solid_step.contact_count = count
            body_step.set_points(own)
