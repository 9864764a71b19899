"""Phases of a step for solids."""

from collections.abc import Sequence

import numpy as np

from ..arrays import Floats
from ..field import Field
from ..forces.accelerations import node_accelerations
from ..integrators import start_displacement
from ..mesh import MeshData
from ..model import SoftBodyModel
from ..solid.collider_contacts import ColliderContacts
from ..solid.coupled_solids import CoupledSolids, step_coupled_solids
from ..solid.coupled_system import SolidContacts
from ..solid.external_moves import move_nodes_with_points
from ..solid.kernels import interpolate
from ..solid.solid_body import fit_linear, rest_nodes, start_solid
from ..solid.solid_step import (
    SolidStep,
    begin_step,
    motion_square,
    predict_points,
    solve_step,
)
from ..state import ParticleState
from .goal_springs import put_on_targets
from .step_data import BodyStep, StepInputs


def start_solid_body(
    model: SoftBodyModel, mesh: MeshData, *, gravity: Floats, fields: Sequence[Field], dt: float
) -> ParticleState:
    """Positions and velocities of a solid's nodes and points at the first frame.

    Nodes are placed by the linear map that fits the vertices best, so that a body that starts
    rotated, stretched or flattened relative to its rest shape does so throughout.

    Parameters
    ----------
    model : a model with a solid.
    mesh : positions and velocities at the first frame.
    gravity : (3,) [m/s²].
    fields : force fields acting on the body.
    dt : length of the first step [s].
    """
    solid = model.solid
    assert solid is not None
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
    return ParticleState(points, before, previous_dt=dt, solid=state)


def predict_solid(body_step: BodyStep, inputs: StepInputs, fields: Sequence[Field]) -> SolidStep:
    """Predicts free motion of a solid's nodes, and moves its points with them."""
    model, state, batches = body_step.model, body_step.state, body_step.batches
    solid, solid_state, system = model.solid, state.solid, batches.solid
    assert solid is not None
    assert solid_state is not None
    assert system is not None
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
        fields=fields,
        shares=model.settings.field_shares,
        dt=dt,
    )
    inertia = displacement * batches.velocity_gain
    if body_step.reference_motion is not None:
        nodes = solid_state.nodes
        inertia = body_step.reference_motion.apply(nodes + inertia) - nodes
    free = inertia + pull * batches.h_squared
    state.previous_positions = state.positions.copy()
    state.positions = interpolate(solid.embedding, solid_state.nodes + free)
    return SolidStep(
        solid,
        solid_state,
        system,
        dt,
        batches.h_squared,
        inertia,
        free,
        inputs.ground_shift,
        free_motion=motion_square(solid, free),
    )


def project_solid(body_step: BodyStep, solid_step: SolidStep) -> None:
    """Solves elasticity, pins and ground contacts of a solid as one system.

    A solid that touched a collider or another solid in the step before is only predicted here:
    contacts are detected at the predicted points, and solved in the same system afterwards.
    """
    model, positions = body_step.model, body_step.state.positions
    held = np.concatenate([model.pinned, model.goals])
    targets = np.concatenate([body_step.targets[:, held], body_step.spring_goals], axis=1)
    pins = targets, pin_compliances(model, solid_step.h_squared)
    begin_step(solid_step, body_step.contacts, pins, positions, positions - body_step.predicted)
    body_step.contacts = []
    if np.isnan(solid_step.state.collider_anchors[0]).all() and not len(
        solid_step.state.solid_friction.keys
    ):
        solve_solid_contacts(body_step, None)
    else:
        _set_positions(body_step, solid_step, predict_points(solid_step))


def pin_compliances(model: SoftBodyModel, h_squared: float) -> Floats:
    """(g,) compliances of pins, 0, of soft ones, and of goal springs in steps of h² [m/N].

    Goal springs draw through the skin, as pins do: stiffer ones would outweigh all the solid.
    """
    springs = np.empty(0)
    if model.held is not None and model.solid is not None:
        skin = 1.0 / model.solid.contact_stiffnesses[model.held.vertices]
        springs = skin + h_squared / model.held.spring_masses
    return np.concatenate([np.zeros(len(model.pinned)), model.goal_compliances, springs])


def solve_solid_contacts(body_step: BodyStep, collider_contacts: ColliderContacts | None) -> None:
    """Solves a solid again, if it has more contacts with colliders than in its last solution."""
    solid_step, count = (
        body_step.solid_step,
        0 if collider_contacts is None else len(collider_contacts.levels),
    )
    if solid_step is not None and count > solid_step.contact_count:
        solid_step.contact_count = count
        _set_positions(
            body_step, solid_step, solve_step(solid_step, collider_contacts if count else None)
        )


def solve_coupled_solids(
    body_steps: Sequence[BodyStep],
    collider_contacts: Sequence[ColliderContacts],
    solid_contacts: SolidContacts,
) -> None:
    """Solves solids in contact as one system, if any has more contacts than when last solved."""
    solid_steps = [
        body_step.solid_step for body_step in body_steps if body_step.solid_step is not None
    ]
    counts = [len(each.levels) + len(solid_contacts.levels) for each in collider_contacts]
    if any(
        count > solid_step.contact_count
        for count, solid_step in zip(counts, solid_steps, strict=True)
    ):
        points = step_coupled_solids(CoupledSolids(solid_steps, collider_contacts, solid_contacts))
        for each in zip(body_steps, solid_steps, counts, points, strict=True):
            each[1].contact_count = each[2]
            _set_positions(each[0], each[1], each[3])


def _set_positions(body_step: BodyStep, solid_step: SolidStep, points: Floats) -> None:
    """Sets a body's positions to points (3, p) of its solid, and pinned ones to targets [m]."""
    state, pinned = body_step.state, body_step.model.pinned
    state.positions = points
    state.positions[:, pinned] = body_step.targets[:, pinned]
    put_on_targets(body_step)
    solid_step.state.solved_points = state.positions.copy()
    solid_step.state.previous_solved_points = state.previous_positions.copy()
