"""Plain bodies that meet nothing but the ground, moved through all steps of a frame by one call."""

from collections.abc import Sequence

import numpy as np

from ..arrays import Floats
from ..compiled import Packed, pack, service
from ..geometry.boxes import near_boxes
from ..meeting.world import Meeting
from ..phases.plain_bodies import is_plain, memory_of, move_plain, plain_struct
from ..phases.step_data import Body
from ..ropes.constraints import draw_out
from ..scene import Sample
from ..settings import SceneSettings
from ..state import batches_for
from .stillness import act_evenly, is_buried

Boxes = tuple[Floats, Floats]
"""Lowest and highest corners (k, 3) [m]."""


def swing(
    body: Body,
    settings: SceneSettings,
    before: Sample,
    after: Sample,
    meeting: Meeting | None = None,
) -> bool:
    """Moves a body that is alone on from one sample to the next; see `swing_all`."""
    return swing_all([body], settings, before, after, meeting)


def swing_all(
    bodies: Sequence[Body],
    settings: SceneSettings,
    before: Sample,
    after: Sample,
    meeting: Meeting | None = None,
) -> bool:
    """Moves bodies on from one sample to the next as `step` would, to the bit; whether it could.

    What is more than cloth and ropes that gravity, pins and a ground at rest act on, is left to
    `step`. So are all as soon as one has come near another, or a collider, on its way: then their
    frame begins anew.
    """
    dt = after.duration / settings.substeps
    if not (
        service().library is not None
        and settings.iterations == 1
        and act_evenly(before, after)
        and not any((*before.pressures, *after.pressures))
        and all(state.previous_dt == dt for _, state in bodies)
        and all(_is_left_alone(*each, after) for each in zip(bodies, after.targets, strict=True))
    ):
        return False
    colliders = [] if meeting is None else _ways(before, after)
    if meeting is not None and not (
        _touch_nothing(bodies, meeting) and _are_far(_places(bodies), colliders, meeting)
    ):
        return False
    former = [] if meeting is None else _memory(bodies, settings, dt)
    moved = np.empty((len(bodies), 2, 3))
    ways = [_way(*each, settings, after) for each in zip(bodies, after.targets, moved, strict=True)]
    every, given = pack(*(way for way, *_ in ways)), _surroundings(settings, after)
    move_plain(every.address, len(ways), given.address)
    if meeting is not None and not _are_far(moved.transpose(1, 0, 2), colliders, meeting):
        for rows, kept in former:
            rows[...] = kept
        return False
    for (_, state), (_, *places) in zip(bodies, ways, strict=True):
        state.positions, state.previous_positions = places
        state.steps += settings.substeps
        if after.ground is None:
            state.burial = None
    return True


def _is_left_alone(body: Body, targets: Floats, after: Sample) -> bool:
    """Whether a body is plain, out of the ground, and no longer than it is however its pins go."""
    model, state = body
    return (
        len(targets) == model.vertex_count  # else a mirror has made another half of it
        and is_plain(model, state)
        and not is_buried(body, after.ground)
        and not _may_be_drawn_out(body, targets)
    )


def _may_be_drawn_out(body: Body, targets: Floats) -> bool:
    """Whether pins that move, or junctions between pins, may change lengths of ropes in a step."""
    model, state = body
    spans = model.ropes.spans
    if not len(spans.starts):
        return False
    ends = state.positions[:, model.pinned], targets.T[:, model.pinned]
    return not (spans.pinned.all() and np.array_equal(*ends))


def _touch_nothing(bodies: Sequence[Body], meeting: Meeting) -> bool:
    """Whether no body meets itself, has touched anything, or started inside of anything."""
    surfaces = meeting.surfaces
    return (
        all(state.touched == 0 for _, state in bodies)
        and not surfaces.meets.diagonal().any()
        and not surfaces.leaving.any()
    )


def _places(bodies: Sequence[Body]) -> Boxes:
    """Boxes round where bodies are."""
    every = [state.positions for _, state in bodies]
    starts = np.cumsum([0, *(rows.shape[1] for rows in every[:-1])])
    together = np.concatenate(every, axis=1)
    lowest, highest = (each.reduceat(together, starts, axis=1) for each in (np.minimum, np.maximum))
    return lowest.T, highest.T


def _ways(before: Sample, after: Sample) -> list[Floats]:
    """Boxes (2, 3) round the way of each collider [m]."""
    boxes = []
    for ways in zip(before.colliders, after.colliders, strict=True):
        lowest = np.min([points.min(axis=0) for points in ways], axis=0)
        boxes.append(np.stack([lowest, np.max([points.max(axis=0) for points in ways], axis=0)]))
    return boxes


def _are_far(boxes: Boxes | Floats, colliders: Sequence[Floats], meeting: Meeting) -> bool:
    """Whether bodies within boxes come near none that they meet, nor near any collider."""
    margin = float(meeting.surfaces.gaps.max() + meeting.reaches.max())
    lowest, highest = (
        np.concatenate([own, [box[side] for box in colliders]]) if colliders else own
        for side, own in enumerate(boxes)
    )
    near = near_boxes(lowest, highest, margin)
    return not meeting.surfaces.meets[near[0], near[1]].any()


def _memory(
    bodies: Sequence[Body], settings: SceneSettings, dt: float
) -> list[tuple[Floats, Floats]]:
    """What steps write to besides places, with a copy of each."""
    every = (batches_for(model, state, settings.integrator, dt) for model, state in bodies)
    return [(rows, rows.copy()) for batches in every for rows in memory_of(batches)]


def _way(
    body: Body, targets: Floats, box: Floats, settings: SceneSettings, after: Sample
) -> tuple[Packed, Floats, Floats]:
    """The moving of plain.c, and the places (3, n) that it leads on, which are copies."""
    model, state = body
    batches = batches_for(model, state, settings.integrator, state.previous_dt)
    positions, previous = state.positions.copy(), state.previous_positions.copy()
    draw_out(positions, batches.ropes)
    packed = pack(
        plain_struct(batches),
        positions,
        previous,
        positions[:, model.pinned],
        targets.T[:, model.pinned],
        after.gravity * model.settings.gravity,
        min(model.settings.friction, settings.ground_friction),
        max(model.settings.restitution, settings.ground_restitution),
        state.steps,
        box,
    )
    return packed, positions, previous


def _surroundings(settings: SceneSettings, after: Sample) -> Packed:
    """What of plain.c is around all bodies."""
    ground = after.ground
    if ground is None:
        return pack(settings.substeps, None, 0.0)
    return pack(settings.substeps, ground.normal, ground.level)
