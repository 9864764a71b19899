"""Fused step of a solid without contacts except the ground: one call for a whole frame."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers
from ..compiled import backend, declare
from ..kernel import Struct, packed
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

_step_solid = declare("step_solid", "pp")


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


@dataclass(frozen=True, eq=False)
class SolidFrame:
    """State and inputs of a solid between two samples; steps change the state's arrays."""

    nodes: Floats
    previous_nodes: Floats
    moves: Floats
    """(3, m) see `SolidState` [m]."""
    free: Floats
    """(3, m) free motion of the last step [m]."""
    points: Floats
    previous_points: Floats
    """(3, p) [m]"""
    slow_steps: Integers
    unstressed: Integers
    is_at_rest: Integers
    """(1,) see `SolidState`; whether it rests."""
    steps: int
    gravity: Floats
    """(3,) [m/s²]"""
    targets_start: Floats
    targets_end: Floats
    """(3, g) of pins and soft pins [m]."""


Struct(
    "solid_frame",
    SolidFrame,
    reads="steps gravity targets_start targets_end",
    shares="nodes previous_nodes moves free points previous_points slow_steps unstressed "
    "is_at_rest",
    targets_at_rest=(
        bool,
        lambda frame: np.array_equal(frame.targets_start, frame.targets_end),
    ),
)
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


def _take_steps(
    body: Body, batches: Batches, count: int, gravity: Floats, targets: tuple[Floats, Floats]
) -> None:
    """Takes `count` steps under gravity (3,), with targets (3, g) linear between two arrays [m]."""
    (model, state), (solid, system) = body, _parts(batches)
    solid_state = state.solid
    assert solid_state is not None
    softness = np.concatenate([np.zeros(len(model.pinned)), model.goal_compliances])
    set_pin_springs(system, solid, batches.h_squared, targets[1], softness)
    frame = SolidFrame(
        nodes=solid_state.nodes.copy(),
        previous_nodes=solid_state.previous_nodes.copy(),
        moves=solid_state.moves.copy(),
        free=np.empty_like(solid_state.nodes),
        points=state.positions.copy(),
        previous_points=state.previous_positions.copy(),
        slow_steps=np.array([solid_state.slow_steps], dtype=np.int64),
        unstressed=np.array([solid_state.unstressed], dtype=np.int64),
        is_at_rest=np.zeros(1, dtype=np.int64),
        steps=count,
        gravity=gravity,
        targets_start=targets[0],
        targets_end=targets[1],
    )
    _step_solid(SOLID_MODEL.address(batches), packed(frame).address)
    _store(frame, state, solid_state)
    if frame.is_at_rest[0]:
        own = step_inputs(system, frame.free, np.zeros(3))
        solid_state.sleep_state = SleepState([rows.copy() for rows in own], frame.points.copy())


def _store(frame: SolidFrame, state: ParticleState, solid_state: SolidState) -> None:
    """Stores the state at the end of a frame."""
    solid_state.nodes, solid_state.previous_nodes = frame.nodes, frame.previous_nodes
    solid_state.moves = frame.moves
    solid_state.slow_steps = int(frame.slow_steps[0])
    solid_state.unstressed = bool(frame.unstressed[0])
    state.positions, state.previous_positions = frame.points, frame.previous_points
    solid_state.solved_points = frame.points.copy()
    solid_state.previous_solved_points = frame.previous_points.copy()


def _parts(batches: Batches) -> tuple[Solid, SolidSystem]:
    """The solid of a body, and its system."""
    assert batches.model.solid is not None
    assert batches.solid is not None
    return batches.model.solid, batches.solid


def _shares(batches: Batches) -> tuple[float, float]:
    """The shares of `step_shares`."""
    return step_shares(_parts(batches)[0], batches.steps[0], batches.h_squared)
