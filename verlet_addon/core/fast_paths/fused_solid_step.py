"""Fused step of a solid without contacts except the ground: one call for a whole frame."""

import numpy as np

from ..arrays import Floats, Integers
from ..compiled import backend, declare, pack
from ..kernel import Struct
from ..phases.step_data import Body
from ..scene import Plane, Sample
from ..settings import SceneSettings
from ..solid.linear_system import PointContacts, SolidSystem
from ..solid.solid_body import SleepState, Solid, SolidState
from ..solid.solid_step import (
    relative_change,
    residual_share,
    step_inputs,
)
from ..solid.solid_system import set_pin_springs, step_shares
from ..state import Batches, ParticleState, ready_batches
from .sleeping import has_simple_inputs, is_in_ground

_step_solid = declare("step_solid", "ppp")


def step_solid(body: Body, settings: SceneSettings, before: Sample, after: Sample) -> bool:
    """Advances a solid from one sample to the next, with the same bits as `step`.

    Returns False, and changes nothing, if anything acts except gravity, pins and a ground at rest.
    """
    model, state = body
    solid_state, dt = state.solid, after.duration / settings.substeps
    if (
        solid_state is None
        or model.held is not None
        or len(model.limited)
        or model.settings.inertia_share > 0.0
        or backend().library is None
        or state.previous_dt != dt
        or len(after.targets[0]) != model.vertex_count  # false for mirrored bodies
        or not has_simple_inputs(before, after)
        or is_in_ground(body, after.ground)
        or not _is_undisturbed(state, solid_state)
    ):
        return False
    batches = ready_batches(model, state, settings.integrator, dt)
    assert batches.solid is not None
    if after.ground is None:
        state.ground_depenetration = None
    friction = min(model.settings.friction, settings.ground_friction)
    _set_ground_contacts(batches.solid.contacts, after.ground, model.thicknesses, friction)
    gravity = after.gravity * model.settings.gravity
    _take_steps(body, batches, settings.substeps, gravity, _targets(body, before, after))
    state.steps += settings.substeps
    return True


def _is_undisturbed(state: ParticleState, solid_state: SolidState) -> bool:
    """Whether a solid is awake, moved only by its own steps, and in no contact with colliders."""
    return (
        solid_state.sleep_state is None
        and np.array_equal(state.positions, solid_state.solved_points)
        and np.array_equal(state.previous_positions, solid_state.previous_solved_points)
        and bool(np.isnan(solid_state.collider_anchors[0]).all())
    )


def _set_ground_contacts(
    contacts: PointContacts, ground: Plane | None, thicknesses: Floats, friction: float
) -> None:
    """Sets up ground contacts of all points for a frame; without ground, none can touch."""
    if ground is None:
        contacts.normals[:], contacts.levels[:] = np.array([[0.0], [0.0], [1.0]]), -np.inf
        return
    contacts.normals[:] = ground.normal[:, None]
    np.add(thicknesses, ground.level, out=contacts.levels)
    contacts.frictions.fill(friction)


def _targets(body: Body, before: Sample, after: Sample) -> tuple[Floats, Floats]:
    """(3, g) targets of pins and soft pins at start and end of a frame; pins start in place [m]."""
    model, state = body
    held = np.concatenate([model.pinned, model.goals])
    start, end = before.targets[0].T[:, held], after.targets[0].T[:, held]
    start[:, : len(model.pinned)] = state.positions[:, model.pinned]
    return start, end


def _take_steps(
    body: Body, batches: Batches, count: int, gravity: Floats, targets: tuple[Floats, Floats]
) -> None:
    """Takes `count` steps under gravity (3,), with targets (3, g) linear between two arrays [m]."""
    (model, state), system = body, batches.solid
    solid, solid_state = model.solid, state.solid
    assert solid is not None
    assert solid_state is not None
    assert system is not None
    softness = np.concatenate([np.zeros(len(model.pinned)), model.goal_compliances])
    set_pin_springs(system, solid, batches.h_squared, targets[1], softness)
    nodes, previous_nodes, moves = (
        rows.copy() for rows in (solid_state.nodes, solid_state.previous_nodes, solid_state.moves)
    )
    points, previous_points = state.positions.copy(), state.previous_positions.copy()
    free, flags = (
        np.empty_like(nodes),
        np.array([solid_state.slow_steps, solid_state.unstressed, 0], dtype=np.int64),
    )
    state_struct = pack(
        nodes, previous_nodes, moves, free, points, previous_points, *flags[:, None]
    )
    at_rest = np.array_equal(*targets)
    inputs = pack(count, gravity, *targets, at_rest)
    _step_solid(SOLID_MODEL.address(batches), state_struct.address, inputs.address)
    solid_state.nodes, solid_state.previous_nodes, solid_state.moves = nodes, previous_nodes, moves
    solid_state.slow_steps, solid_state.unstressed = int(flags[0]), bool(flags[1])
    state.positions, state.previous_positions = points, previous_points
    solid_state.solved_points, solid_state.previous_solved_points = (
        points.copy(),
        previous_points.copy(),
    )
    if flags[2]:
        own = step_inputs(system, free, np.zeros(3))
        solid_state.sleep_state = SleepState([rows.copy() for rows in own], points.copy())


SOLID_MODEL = Struct(
    "solid_model",
    Batches,
    reads="velocity_gain h_squared",
    system=(SolidSystem, lambda batches: _parts(batches)[1]),
    modulus=(float, lambda batches: _parts(batches)[0].modulus),
    implicit=(float, lambda batches: _shares(batches)[0]),
    passed=(float, lambda batches: _shares(batches)[1]),
    residual=(float, lambda batches: residual_share(_parts(batches)[0], batches.steps[0])),
    relative_change=(float, lambda batches: relative_change(_parts(batches)[0])),
    pins=(int, lambda batches: len(batches.model.pinned)),
    pinned=(Integers, lambda batches: batches.model.pinned),
    scratch={
        "start inertia stress_forces forces opposed": lambda batches: (
            _parts(batches)[1].predicted_nodes.shape
        ),
        "work": lambda batches: (2, _parts(batches)[1].predicted_nodes.shape[1], 4),
    },
)


def _parts(batches: Batches) -> tuple[Solid, SolidSystem]:
    """The solid of a body, and its system."""
    assert batches.model.solid is not None
    assert batches.solid is not None
    return batches.model.solid, batches.solid


def _shares(batches: Batches) -> tuple[float, float]:
    """The shares of `step_shares`."""
    return step_shares(_parts(batches)[0], batches.steps[0], batches.h_squared)
