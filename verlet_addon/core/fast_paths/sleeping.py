"""What stands still on the way to the next sample."""

from collections.abc import Sequence

import numpy as np

from ..arrays import Floats
from ..depenetration.ground_depenetration import GroundDepenetration
from ..phases.step_data import Body
from ..scene import Plane, Sample, same_plane
from ..state import ParticleState


def is_sleeping(bodies: Sequence[Body], before: Sample, after: Sample) -> bool:
    """Whether all bodies lay in the step before, and nothing around them changes from then on.

    A step that began as the last one did would end as that did, and so would all that follow.
    """
    return all(_is_asleep(state) for _, state in bodies) and _has_same_inputs(before, after)


def _is_asleep(state: ParticleState) -> bool:
    """Whether the last step left a body as it was; only solids come to rest so exactly."""
    solid = state.solid
    return (
        solid is not None
        and solid.sleep_state is not None
        and np.array_equal(state.positions, solid.solved_points)
        and np.array_equal(state.previous_positions, solid.solved_points)
    )


def _has_same_inputs(before: Sample, after: Sample) -> bool:
    """Whether what acts on bodies is at a sample what it was at the one before."""
    return (
        before.duration == after.duration
        and not any(map(len, (*before.every_field, *after.every_field, *after.every_mirror)))
        and same_plane(before.ground, after.ground)
        and np.array_equal(before.gravity, after.gravity)
        and _equal_points(before.targets, after.targets)
        and _equal_points(before.colliders, after.colliders)
        and not any(map(len, (before.pin_weights, after.pin_weights)))
    )


def _equal_points(first: Sequence[Floats], second: Sequence[Floats]) -> bool:
    """Whether points are where they were."""
    return all(a is b or np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def has_simple_inputs(before: Sample, after: Sample) -> bool:
    """Whether no field and no mirror acts on bodies, and the ground, if there is any, stands."""
    if any(after.every_field) or any(before.every_field) or any(after.every_mirror):
        return False
    return after.ground is None or same_plane(before.ground, after.ground)


def is_in_ground(body: Body, ground: Plane | None) -> bool:
    """Whether any of a body lies in the ground, which it has met by now."""
    model, state = body
    if ground is None:
        return False
    if state.ground_depenetration is None:
        depths = model.thicknesses - ground.heights(state.positions)
        state.ground_depenetration = GroundDepenetration(np.maximum(depths, 0.0))
    return bool(state.ground_depenetration.depths.any())
