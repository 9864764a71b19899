"""Bodies and colliders so far apart that a step need not search them for contacts."""

from collections.abc import Sequence

import numpy as np

from ...arrays import Floats
from ...bodies.body_step import BodyStep
from ...bodies.step_data import StepInputs
from ...geometry.sweep_and_prune import find_near_boxes
from ...state import ParticleState
from ..narrow_phase.row_search import FEW_OWNERS
from .collision_world import CollisionWorld

Boxes = tuple[Floats, Floats]
"""Lowest and highest corners (k, 3) of k boxes [m]."""


def needs_no_search(
    body_steps: Sequence[BodyStep], world: CollisionWorld, inputs: StepInputs
) -> bool:
    """Whether no body can touch anything on its way from its start to its positions so far."""
    states = [each.state for each in body_steps]
    if not (all(each.is_solved for each in body_steps) and is_free_of_contacts(states, world)):
        return False
    count = len(body_steps)
    both = [*(each.start for each in body_steps), *(each.positions for each in states)]
    lowest, highest = bounding_boxes(both)
    boxes = np.minimum(lowest[:count], lowest[count:]), np.maximum(highest[:count], highest[count:])
    return are_apart(boxes, collider_boxes(inputs.collider_starts, inputs.collider_ends), world)


def is_free_of_contacts(states: Sequence[ParticleState], world: CollisionWorld) -> bool:
    """Whether no body has self-collision, a contact in the last step, or a penetration."""
    surfaces = world.surfaces
    return (
        all(state.steps_in_contact == 0 for state in states)
        and not surfaces.collides.diagonal().any()
        and not surfaces.any_penetrating
    )


def bounding_boxes(every: Sequence[Floats]) -> Boxes:
    """Bounding boxes of bodies at positions (3, n) [m]."""
    starts = np.cumsum([0, *(rows.shape[1] for rows in every[:-1])])
    together = np.concatenate(every, axis=1)
    lowest, highest = (each.reduceat(together, starts, axis=1) for each in (np.minimum, np.maximum))
    return lowest.T, highest.T


def collider_boxes(starts: Sequence[Floats], ends: Sequence[Floats]) -> list[Floats]:
    """Bounding boxes (2, 3) of each collider's motion [m]; of one without vertices, (∞, −∞)."""
    boxes = []
    for start, end in zip(starts, ends, strict=True):
        points = start if start is end else np.concatenate([start, end])
        boxes.append(
            np.stack([points.min(axis=0, initial=np.inf), points.max(axis=0, initial=-np.inf)])
        )
    return boxes


def are_apart(boxes: Boxes, colliders: Sequence[Floats], world: CollisionWorld) -> bool:
    """Whether boxes of bodies are farther than gap and skin from all that bodies collide with."""
    margin = float(world.surfaces.gaps.max() + world.skins.max())
    lowest, highest = (
        np.concatenate([own, *(box[side : side + 1] for box in colliders)])
        for side, own in enumerate(boxes)
    )
    collides = world.surfaces.collides
    if len(lowest) > FEW_OWNERS:
        near = find_near_boxes(lowest, highest, margin)
        return not collides[near[0], near[1]].any()
    reached = (lowest[:, None] <= highest + margin).all(axis=2)
    return not (reached & reached.T & collides).any()
