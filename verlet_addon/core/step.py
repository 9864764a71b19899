"""One time step of all bodies: predictor, constraints, contacts, velocity update."""

from collections.abc import Sequence

from .collision.collision_world import CollisionWorld
from .collision.contact_solver import (
    collide,
    finish_contact_step,
    start_contact_step,
    warm_start_contacts,
)
from .phases.inflation import fill_with_gas
from .phases.internal_constraints import (
    finish_body_step,
    is_converged,
    keep_near_goals,
    make_velocities_relative,
    project_constraints,
    project_ground_contacts,
)
from .phases.plain_group import EMPTY_GROUP, PlainGroup
from .phases.plastic_flow import apply_plastic_flow
from .phases.predictor import predict
from .phases.step_data import Body, BodyStep, StepInputs
from .rigid.piece_motion import put_particles_on_pieces
from .settings import SceneSettings


def step(
    bodies: Sequence[Body],
    settings: SceneSettings,
    inputs: StepInputs,
    world: CollisionWorld | None = None,
    group: PlainGroup = EMPTY_GROUP,
) -> None:
    """Advances all bodies by one time step.

    Parameters
    ----------
    bodies : model and state of each body.
    settings : iterations, tolerance and ground properties.
    inputs : length of the step, gravity, targets, fields, ground and colliders.
    world : the collision world; None if nothing can touch.
    group : plain bodies, which compiled kernels advance together.
    """
    body_steps = _predict_all(bodies, settings, inputs, group)
    others = [
        body_step for number, body_step in enumerate(body_steps) if number not in group.body_steps
    ]
    contact_step = None
    warm_start_contacts(body_steps, world)
    group.project_constraints()
    for sweep in range(settings.iterations):
        for body_step in others:
            if sweep == 0 or not is_converged(body_step, settings.tolerance):
                project_constraints(body_step, sweep)
        for body_step in others:
            project_ground_contacts(body_step)
        if world is not None:
            contact_step = contact_step or start_contact_step(body_steps, world, inputs)
            collide(body_steps, contact_step, inputs.dt)
    for body_step in others:
        finish_body_step(body_step)
    group.finish_body_step()
    if contact_step is not None:
        finish_contact_step(body_steps, contact_step)
    for body_step in others:
        put_particles_on_pieces(body_step.state.rigid, body_step.state.positions)
        apply_plastic_flow(body_step, inputs.dt)
        keep_near_goals(body_step)
        make_velocities_relative(body_step.state, body_step.reference_motion)
    for body_step in body_steps:
        body_step.state.previous_dt = inputs.dt
        body_step.state.steps += 1


def _predict_all(
    bodies: Sequence[Body], settings: SceneSettings, inputs: StepInputs, group: PlainGroup
) -> list[BodyStep]:
    """Runs the predictor of all bodies."""
    pressures = inputs.pressures or [model.settings.pressure for model, _ in bodies]
    vertex_positions = [state.positions for _, state in bodies] + [
        rows.T for rows in inputs.collider_ends
    ]
    others = [number for number in range(len(bodies)) if number not in group.body_steps]
    for number in others:
        fill_with_gas(*bodies[number], pressures[number])
    body_steps = dict(group.body_steps)
    for number in others:
        acting = number, pressures[number], vertex_positions
        body_steps[number] = predict(bodies[number], settings, inputs, *acting)
    group.predict()
    return [body_steps[number] for number in range(len(bodies))]
