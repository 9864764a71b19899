"""Fast paths: frames in which all bodies stay at rest, and frames in one compiled call.

Plain bodies without contacts except the ground take all steps of a frame in one call.
"""

from collections.abc import Sequence

import numpy as np

from .arrays import Booleans, Floats, Integers
from .bodies.ground_contacts import is_in_ground
from .bodies.plain_bodies import make_group
from .bodies.plain_members import changing_arrays
from .bodies.step_data import Body, Way
from .compiled import backend
from .contacts.solve.clearance import (
    are_apart,
    bounding_boxes,
    collider_boxes,
    is_free_of_contacts,
)
from .contacts.solve.collision_world import CollisionWorld
from .model import SoftBodyModel
from .scene import Sample, plane_between, plane_shift, same_plane
from .settings import SceneSettings
from .state import batches_for

Array = Floats | Integers | Booleans


def is_sleeping(bodies: Sequence[Body], before: Sample, after: Sample) -> bool:
    """Whether all bodies were at rest in the last step, and no input changes until `after`.

    A step from the same state with the same inputs has the same result, and so have all further
    steps.
    """
    return all(state.is_asleep for _, state in bodies) and _has_same_inputs(before, after)


def _has_same_inputs(before: Sample, after: Sample) -> bool:
    """Whether two samples have equal inputs, without fields, mirrors and changed pins."""
    return (
        before.duration == after.duration
        and not any(map(len, (*before.every_field, *after.every_field, *after.every_mirror)))
        and same_plane(before.ground, after.ground)
        and np.array_equal(before.gravity, after.gravity)
        and _equal_points(before.targets, after.targets)
        and _equal_points(before.colliders, after.colliders)
        and not any(map(len, (before.pin_weights, after.pin_weights)))
        and not any(each is not None for each in (*before.goal_springs, *after.goal_springs))
    )


def _equal_points(first: Sequence[Floats], second: Sequence[Floats]) -> bool:
    """Whether all arrays of points are equal."""
    return all(a is b or np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def find_plain(
    bodies: Sequence[Body],
    settings: SceneSettings,
    before: Sample,
    after: Sample,
) -> list[int]:
    """Numbers of the cloths and ropes that compiled calls can advance, with simple inputs.

    Simple inputs are forces, pins without junctions between them, and a ground that they are above.
    """
    if backend().library is None or settings.iterations != 1:
        return []
    steps, ends = settings.substeps, (before.ground, after.ground)
    dt, ground, shift = (
        after.duration / steps,
        plane_between(*ends, 1 / steps),
        plane_shift(*ends, steps),
    )
    return [
        number
        for number, (model, state) in enumerate(bodies)
        if state.previous_dt == dt
        and type(model) is SoftBodyModel
        and not (ground and is_in_ground(model, state, ground, state.positions + shift[:, None]))
        and not _has_variable_spans((model, state))
    ]


def step_plain_bodies(
    bodies: Sequence[Body],
    settings: SceneSettings,
    before: Sample,
    after: Sample,
    ways: Sequence[Way],
    world: CollisionWorld | None = None,
) -> bool:
    """Advances plain bodies from one sample to the next, with the same bits as `step`.

    Returns False, and restores all states, if any body has come near another or near a collider, or
    where a field acts whose law C does not have: `step` then has to take the steps of the frame.
    """
    if world is None:
        former, colliders = [], list[Floats]()
    else:
        colliders = collider_boxes(before.colliders, after.colliders)
        states = [state for _, state in bodies]
        boxes = bounding_boxes([state.positions for state in states])
        if not (is_free_of_contacts(states, world) and are_apart(boxes, colliders, world)):
            return False
        former = _copy_memory(bodies, settings)
    group = make_group(bodies, range(len(bodies)), settings, ways, before, after)
    if any(member.in_field for member in group.members.values()):
        return False
    taken = group.take_all_steps()
    if world is not None and not are_apart((taken[:, 0], taken[:, 1]), colliders, world):
        for rows, kept in former:
            rows[...] = kept
        return False
    for member in group.members.values():
        member.write_state()
        member.state.steps += settings.substeps
        if after.ground is None:
            member.state.ground_depths = None
    return True


def _has_variable_spans(body: Body) -> bool:
    """Whether ropes between pins have junctions, or yield."""
    model, state = body
    spans = model.ropes.spans
    return bool(len(spans.starts)) and (state.plastic is not None or not spans.pinned.all())


def _copy_memory(bodies: Sequence[Body], settings: SceneSettings) -> list[tuple[Array, Array]]:
    """Arrays besides positions that steps change, with a copy of each."""
    arrays: list[Array] = []
    for model, state in bodies:
        batches = batches_for(model, state, settings.integrator, state.previous_dt)
        arrays += changing_arrays((model, state), batches)
    return [(rows, rows.copy()) for rows in arrays]
