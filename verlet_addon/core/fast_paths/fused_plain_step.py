"""Fused step of plain bodies without contacts except the ground: one call for a whole frame."""

from collections.abc import Sequence

import numpy as np

from ..arrays import Floats
from ..collision.collision_world import CollisionWorld
from ..compiled import backend
from ..geometry.sweep_and_prune import find_near_boxes
from ..phases.plain_bodies import is_plain, warm_start_arrays
from ..phases.plain_group import make_group
from ..phases.step_data import Body
from ..scene import Sample
from ..settings import SceneSettings
from ..state import batches_for
from .sleeping import has_simple_inputs, is_in_ground

Boxes = tuple[Floats, Floats]
"""Lowest and highest corners (k, 3) of k boxes [m]."""


def find_plain(
    bodies: Sequence[Body], settings: SceneSettings, before: Sample, after: Sample
) -> list[int]:
    """Numbers of the bodies that compiled calls can advance: `is_plain`, with simple inputs.

    Simple inputs are gravity, pins that do not stretch ropes, and a ground at rest.
    """
    if not (
        backend().library is not None
        and settings.iterations == 1
        and has_simple_inputs(before, after)
        and not any((*before.pressures, *after.pressures))
    ):
        return []
    dt, targets = after.duration / settings.substeps, after.targets
    return [
        number
        for number, (model, state) in enumerate(bodies)
        if state.previous_dt == dt
        and len(targets[number]) == model.vertex_count  # false for mirrored bodies
        and is_plain(model, state)
        and not is_in_ground((model, state), after.ground)
        and not _pins_may_stretch((model, state), targets[number])
    ]


def step_plain_bodies(
    bodies: Sequence[Body],
    settings: SceneSettings,
    before: Sample,
    after: Sample,
    world: CollisionWorld | None = None,
) -> bool:
    """Advances plain bodies from one sample to the next, with the same bits as `step`.

    Returns False, and restores all states, if any body has come near another or near a collider:
    `step` then has to take the steps of the frame.
    """
    if world is None:
        former, colliders = [], list[Floats]()
    else:
        colliders = _collider_boxes(before, after)
        if not (_have_no_contacts(bodies, world) and _are_clear(_boxes(bodies), colliders, world)):
            return False
        former = _copy_memory(bodies, settings)
    group = make_group(bodies, range(len(bodies)), settings, after)
    boxes = group.take_all_steps()
    if world is not None and not _are_clear((boxes[:, 0], boxes[:, 1]), colliders, world):
        for rows, kept in former:
            rows[...] = kept
        return False
    for member in group.members.values():
        member.write_state()
        member.state.steps += settings.substeps
        if after.ground is None:
            member.state.ground_depenetration = None
    return True


def _pins_may_stretch(body: Body, targets: Floats) -> bool:
    """Whether moving pins, or junctions between pins, can change rest lengths of ropes."""
    model, state = body
    spans = model.ropes.spans
    if not len(spans.starts):
        return False
    ends = state.positions[:, model.pinned], targets.T[:, model.pinned]
    return not (spans.pinned.all() and np.array_equal(*ends))


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


def _copy_memory(bodies: Sequence[Body], settings: SceneSettings) -> list[tuple[Floats, Floats]]:
    """Arrays besides positions that steps change, with a copy of each."""
    every = (
        batches_for(model, state, settings.integrator, state.previous_dt) for model, state in bodies
    )
    return [(rows, rows.copy()) for batches in every for rows in warm_start_arrays(batches)]
