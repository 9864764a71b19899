"""A solid that touches nothing but the ground, moved through all steps of a frame by one call."""

import numpy as np

from ..arrays import Floats
from ..compiled import Packed, declare, once, pack, service
from ..phases.step_data import Body
from ..scene import Plane, Sample
from ..settings import SceneSettings
from ..solid.body import Lying, SolidState
from ..solid.compiled_touching import pack_system
from ..solid.motion import FEWEST, LEAST_MOVE, LONG, RESTS, STILL, acting, quick, residual_share
from ..solid.numpy_touching import Stops
from ..solid.system import draw, step_shares
from ..state import Batches, ParticleState, ready_batches
from .stillness import act_evenly, is_buried

_wobble = declare("wobble", "ppp")


def wobble(body: Body, settings: SceneSettings, before: Sample, after: Sample) -> bool:
    """Moves a solid on from one sample to the next as `step` would; whether it could.

    Where anything else than gravity, pins and a ground at rest acts, it is left to `step`.
    """
    model, state = body
    within, dt = state.solid, after.duration / settings.substeps
    if (
        within is None
        or service().library is None
        or state.previous_dt != dt
        or len(after.targets[0]) != model.vertex_count  # a mirror has made another half of it
        or not act_evenly(before, after)
        or is_buried(body, after.ground)
        or not _is_left_alone(state, within)
    ):
        return False
    batches = ready_batches(model, state, settings.integrator, dt)
    assert batches.solid is not None
    if after.ground is None:
        state.burial = None
    friction = min(model.settings.friction, settings.ground_friction)
    _stop_at(batches.solid.stops, after.ground, model.thicknesses, friction)
    gravity = after.gravity * model.settings.gravity
    _take_steps(body, batches, settings.substeps, gravity, _targets(body, before, after))
    state.steps += settings.substeps
    return True


def _is_left_alone(state: ParticleState, within: SolidState) -> bool:
    """Whether a solid moves, and nobody else has moved it or is held on to by it."""
    return (
        within.lying is None
        and np.array_equal(state.positions, within.shown)
        and np.array_equal(state.previous_positions, within.previously_shown)
        and bool(np.isnan(within.grasped[0]).all())
    )


def _stop_at(stops: Stops, ground: Plane | None, thicknesses: Floats, friction: float) -> None:
    """Lets the ground stop points, if there is any, for all steps of a frame."""
    if ground is None:
        stops.normals[:], stops.levels[:] = np.array([[0.0], [0.0], [1.0]]), -np.inf
        return
    stops.normals[:] = ground.normal[:, None]
    np.add(thicknesses, ground.level, out=stops.levels)
    stops.frictions.fill(friction)


def _targets(body: Body, before: Sample, after: Sample) -> tuple[Floats, Floats]:
    """(3, g) where pins and goals are at either end of a frame; pins are where they were led."""
    model, state = body
    held = np.concatenate([model.pinned, model.goals])
    start, end = before.targets[0].T[:, held], after.targets[0].T[:, held]
    start[:, : len(model.pinned)] = state.positions[:, model.pinned]
    return start, end


def _take_steps(
    body: Body, batches: Batches, count: int, gravity: Floats, targets: tuple[Floats, Floats]
) -> None:
    """Takes so many steps under gravity (3,), which lead what is held between these places."""
    (model, state), system = body, batches.solid
    solid, within = model.solid, state.solid
    assert solid is not None
    assert within is not None
    assert system is not None
    softness = np.concatenate([np.zeros(len(model.pinned)), model.goal_compliances])
    draw(system, solid, batches.h_squared, targets[1], softness)
    nodes, previous_nodes, moves = (
        rows.copy() for rows in (within.nodes, within.previous_nodes, within.moves)
    )
    points, previous_points = state.positions.copy(), state.previous_positions.copy()
    free, told = np.empty_like(nodes), np.array([within.slow, within.calm, 0], dtype=np.int64)
    moving = pack(nodes, previous_nodes, moves, free, points, previous_points, *told[:, None])
    at_rest = np.array_equal(*targets)
    given = pack(count, gravity, *targets, at_rest)
    _wobble(_wobbly(batches), moving.address, given.address)
    within.nodes, within.previous_nodes, within.moves = nodes, previous_nodes, moves
    within.slow, within.calm = int(told[0]), bool(told[1])
    state.positions, state.previous_positions = points, previous_points
    within.shown, within.previously_shown = points.copy(), previous_points.copy()
    if told[2]:
        own = acting(system, free, np.zeros(3))
        within.lying = Lying([rows.copy() for rows in own], points.copy())


@once
def _wobbly(batches: Batches) -> Packed:
    """The wobbly of wobbling.c."""
    model, system = batches.model, batches.solid
    solid, dt = model.solid, batches.steps[0]
    assert solid is not None
    assert system is not None
    work = np.empty((5, *system.places.shape))
    return pack(
        pack_system(system),
        solid.modulus,
        batches.velocity_gain,
        batches.h_squared,
        *step_shares(solid, dt, batches.h_squared),
        residual_share(solid, dt),
        quick(solid),
        LEAST_MOVE,
        RESTS,
        STILL,
        LONG,
        FEWEST,
        len(model.pinned),
        model.pinned,
        *work,
        np.empty((2, system.places.shape[1], 4)),
    )
