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
from .contacts.solve.collision_world import CollisionWorld
from .geometry.sweep_and_prune import find_near_boxes
from .model import SoftBodyModel
from .scene import Sample, same_plane
from .settings import SceneSettings
from .state import batches_for

Array = Floats | Integers | Booleans
Boxes = tuple[Floats, Floats]
"""Lowest and highest corners (k, 3) of k boxes [m]."""


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

    Simple inputs are forces, pins without junctions between them, and a ground at rest.
    """
    if not (
        backend().library is not None
        and settings.iterations == 1
        and (after.ground is None or same_plane(before.ground, after.ground))
    ):
        return []
    dt = after.duration / settings.substeps
    return [
        number
        for number, (model, state) in enumerate(bodies)
        if state.previous_dt == dt
        and type(model) is SoftBodyModel
        and not (after.ground and is_in_ground(model, state, after.ground, state.positions))
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
        colliders = _collider_boxes(before, after)
        if not (_have_no_contacts(bodies, world) and _are_clear(_boxes(bodies), colliders, world)):
            return False
        former = _copy_memory(bodies, settings)
    group = make_group(bodies, range(len(bodies)), settings, ways, after)
    if any(member.in_field for member in group.members.values()):
        return False
    boxes = group.take_all_steps()
    if world is not None and not _are_clear((boxes[:, 0], boxes[:, 1]), colliders, world):
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


def _have_no_contacts(bodies: Sequence[Body], world: CollisionWorld) -> bool:
    """Whether no body has self-collision, a contact in the last step, or a penetration."""
    surfaces = world.surfaces
    return (
        all(state.steps_in_contact == 0 for _, state in bodies)
        and not surfaces.collides.diagonal().any()
        and not surfaces.any_penetrating
    )


def _boxes(bodies: Sequence[Body]) -> Boxes:
    """Bounding boxes of bodies at their positions [m]."""
    every = [state.positions for _, state in bodies]
    starts = np.cumsum([0, *(rows.shape[1] for rows in every[:-1])])
    together = np.concatenate(every, axis=1)
    lowest, highest = (each.reduceat(together, starts, axis=1) for each in (np.minimum, np.maximum))
    return lowest.T, highest.T


def _collider_boxes(before: Sample, after: Sample) -> list[Floats]:
    """Bounding boxes (2, 3) of each collider's motion [m]; of one without vertices, (∞, −∞)."""
    boxes = []
    for ends in zip(before.colliders, after.colliders, strict=True):
        points = np.concatenate(ends)
        boxes.append(
            np.stack([points.min(axis=0, initial=np.inf), points.max(axis=0, initial=-np.inf)])
        )
    return boxes


def _are_clear(boxes: Boxes, colliders: Sequence[Floats], world: CollisionWorld) -> bool:
    """Whether boxes of bodies are farther than gap and skin from all that bodies collide with."""
    margin = float(world.surfaces.gaps.max() + world.skins.max())
    lowest, highest = (
        np.concatenate([own, *(box[side : side + 1] for box in colliders)])
        for side, own in enumerate(boxes)
    )
    near = find_near_boxes(lowest, highest, margin)
    return not world.surfaces.collides[near[0], near[1]].any()


def _copy_memory(bodies: Sequence[Body], settings: SceneSettings) -> list[tuple[Array, Array]]:
    """Arrays besides positions that steps change, with a copy of each."""
    arrays: list[Array] = []
    for model, state in bodies:
        batches = batches_for(model, state, settings.integrator, state.previous_dt)
        arrays += changing_arrays((model, state), batches)
    return [(rows, rows.copy()) for rows in arrays]
