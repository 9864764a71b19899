"""Sleeping: frames in which all bodies stay at rest, and other tests of a frame's inputs."""

from collections.abc import Sequence

import numpy as np

from ..arrays import Floats
from ..depenetration.ground_depenetration import GroundDepenetration
from ..phases.step_data import Body
from ..scene import Plane, Sample, same_plane


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


def has_simple_inputs(before: Sample, after: Sample) -> bool:
    """Whether there are no fields and mirrors, and the ground, if any, is at rest."""
    if any(after.every_field) or any(before.every_field) or any(after.every_mirror):
        return False
    return after.ground is None or same_plane(before.ground, after.ground)


def is_in_ground(body: Body, ground: Plane | None) -> bool:
    """Whether any particle is in depenetration from the ground; records initial depths."""
    model, state = body
    if ground is None:
        return False
    if state.ground_depenetration is None:
        depths = model.thicknesses - ground.heights(state.positions)
        state.ground_depenetration = GroundDepenetration(np.maximum(depths, 0.0))
    return bool(state.ground_depenetration.depths.any())
