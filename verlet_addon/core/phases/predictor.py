"""The predictor: free motion of a body in a step, and its contact with the ground."""

from collections.abc import Sequence

import numpy as np

from ..arrays import Floats
from ..contact.plane import PlaneContact
from ..depenetration.ground_depenetration import GroundDepenetration, floor_heights, lift_components
from ..forces.accelerations import accelerations
from ..model import SoftBodyModel
from ..rigid.piece_motion import predict_poses
from ..ropes.kernels import add_start_spring_forces
from ..settings import SceneSettings
from ..state import ParticleState, ready_batches
from .goal_springs import draw_held_vertices, spring_goals
from .solid_bodies import predict_solid
from .step_data import Body, BodyStep, StepInputs
from .water_bodies import step_water


def predict(
    body: Body,
    settings: SceneSettings,
    inputs: StepInputs,
    number: int,
    pressure: float,
    vertex_positions: Sequence[Floats],
) -> BodyStep:
    """Moves a body by inertia and external forces, and sets up its contact with the ground.

    Parameters
    ----------
    body : model and state; positions become the predicted ones.
    settings : integrator and ground properties.
    inputs : length of the step, and the forces and targets of all bodies.
    number : of the body in the inputs.
    pressure : pressure of the enclosed gas at its rest volume [Pa].
    vertex_positions : (3, v) of each body, then of each collider, for water [m].
    """
    (model, state), fields = body, inputs.fields[number]
    body_step = BodyStep(
        model=model,
        state=state,
        batches=ready_batches(model, state, settings.integrator, inputs.dt),
        targets=inputs.targets[number],
        pressure=pressure,
        accelerations=accelerations(
            model.exposed_surface,
            model.own_inverse_masses,
            state.positions,
            state.velocities,
            gravity=inputs.gravity * model.settings.gravity,
            fields=fields if model.solid is None else (),
            shares=model.settings.field_shares,
            dt=inputs.dt,
        ),
        start=state.positions,
        predicted=state.positions,
        spring_goals=spring_goals(model, state.positions, inputs, number),
        reference_motion=inputs.reference_motion(number),
    )
    if model.water is not None:
        step_water(body_step, settings.integrator, vertex_positions, inputs.dt)
        return body_step
    if model.solid is None:
        integrate(body_step)
    else:
        body_step.solid_step = predict_solid(body_step, inputs, fields)
    body_step.predicted = state.positions.copy()
    add_ground_contact(body_step, settings, inputs)
    return body_step


def integrate(body_step: BodyStep) -> None:
    """Verlet step x' = x + (x − x₋)·velocity_gain + a·h², plus spring forces of ropes.

    Pinned particles are set to their targets.
    """
    model, state, batches = body_step.model, body_step.state, body_step.batches
    moved = state.positions - state.previous_positions
    moved *= batches.velocity_gain
    moved += body_step.accelerations * batches.h_squared
    moved += state.positions
    if body_step.reference_motion is not None:
        moved = body_step.reference_motion.apply(moved)
    draw_held_vertices(moved, body_step)
    add_start_spring_forces(moved, state.positions, batches.ropes.strips)
    state.previous_positions, state.positions = state.positions.copy(), moved
    state.positions[:, model.pinned] = body_step.targets[:, model.pinned]
    if model.pieces is not None and state.rigid is not None:
        state.rigid = predict_poses(state.rigid, model.pieces, body_step.start, state.positions)


def add_ground_contact(body_step: BodyStep, settings: SceneSettings, inputs: StepInputs) -> None:
    """Sets up the contact with the ground; bodies that start below it are raised without speed."""
    model, state, ground = body_step.model, body_step.state, inputs.ground
    if ground is None:
        state.ground_depenetration = None
        return
    body, n = model.settings, state.positions.shape[1]
    contact = PlaneContact(
        plane=ground,
        start=_moved_with_ground(body_step.start, inputs.ground_shift),
        climb=float((ground.normal * inputs.ground_shift).sum()),
        floors=np.broadcast_to(model.thicknesses, (2, n)),
        friction=min(body.friction, settings.ground_friction),
        restitution=max(body.restitution, settings.ground_restitution),
        normal_corrections=np.zeros(n),
        friction_corrections=np.zeros((3, n)),
        predicted=body_step.predicted,
        accelerations=body_step.accelerations,
        dt=inputs.dt,
        start_gains=body_step.batches.start_gains,
    )
    body_step.contacts.append(contact)
    if state.ground_depenetration is None:
        depths = model.thicknesses - contact.plane.heights(contact.start)
        state.ground_depenetration = GroundDepenetration(np.maximum(depths, 0.0))
    if state.ground_depenetration.depths.max(initial=0.0) > 0.0:
        _depenetrate_ground(model, state, state.ground_depenetration, contact)


def _moved_with_ground(start: Floats, shift: Floats) -> Floats:
    """(3, n) positions at the start of the step, moved with the ground [m]."""
    return start + shift[:, None] if shift.any() else start


def _depenetrate_ground(
    model: SoftBodyModel,
    state: ParticleState,
    ground_depenetration: GroundDepenetration,
    contact: PlaneContact,
) -> None:
    """Lowers the floors of particles that started below the ground, and raises them step by step.

    Components that rest on such floors are shifted with them, which adds no velocity.
    """
    above = contact.plane.heights(contact.start)
    contact.floors = floor_heights(ground_depenetration, above, model.thicknesses, contact.dt)
    lifts = contact.floors[1] - contact.floors[0]
    heights = contact.plane.heights(state.positions) - contact.floors[1]
    shift = contact.plane.normal[:, None] * lift_components(heights, lifts, model.free_components)
    state.positions += shift
    state.previous_positions += shift
