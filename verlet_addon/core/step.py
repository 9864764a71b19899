"""One time step of all bodies: predictor, constraints, contacts, velocity update."""

from collections.abc import Sequence
from dataclasses import replace

from .bodies.body_step import BodyStep
from .bodies.kinds import start_body_step
from .bodies.plain_bodies import EMPTY_GROUP, PlainGroup
from .bodies.solid_bodies import solve_due_solids
from .bodies.step_data import Body, StepInputs
from .contacts.solve.collision_world import CollisionWorld
from .contacts.solve.contact_solver import (
    collide,
    finish_contact_step,
    start_contact_step,
    warm_start_contacts,
)
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
            if sweep == 0 or _needs_sweep(body_step, settings.tolerance):
                body_step.project_constraints(sweep)
        solve_due_solids(others)
        for body_step in others:
            body_step.project_ground_contacts()
        contact_step = contact_step or start_contact_step(body_steps, world, inputs)
        if contact_step is not None:
            collide(body_steps, contact_step, inputs.dt)
    for body_step in others:
        body_step.finish()
    group.finish()
    finish_contact_step(body_steps, world, contact_step)
    for body_step in others:
        body_step.end()
    group.end()
    for body_step in body_steps:
        body_step.state.previous_dt = inputs.dt
        body_step.state.steps += 1


def _needs_sweep(body_step: BodyStep, tolerance: float) -> bool:
    """Whether a further sweep is due; always at tolerance 0, for which no strain is measured."""
    return tolerance == 0.0 or body_step.residual_strain() >= tolerance


def _predict_all(
    bodies: Sequence[Body], settings: SceneSettings, inputs: StepInputs, group: PlainGroup
) -> list[BodyStep]:
    """Runs the predictor of all bodies."""
    positions = [state.positions for _, state in bodies]
    positions += [rows.T for rows in inputs.collider_ends]
    inputs = replace(inputs, vertex_positions=positions)
    body_steps: dict[int, BodyStep] = {**group.body_steps}
    for number, body in enumerate(bodies):
        if number not in group.body_steps:
            body_steps[number] = start_body_step(body, number, settings, inputs)
            body_steps[number].predict(settings, inputs)
    group.predict(inputs)
    return [body_steps[number] for number in range(len(bodies))]
