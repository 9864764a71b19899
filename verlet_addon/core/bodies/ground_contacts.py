"""Contact with the ground: set up at the start of a step, and depenetration from it."""

import numpy as np

from ..arrays import Floats
from ..contacts.manifold.plane import PlaneContact
from ..contacts.sides.depenetration import DEPENETRATION_TIME, InitialDepths, piece_shifts
from ..model import SoftBodyModel
from ..scene import Plane
from ..settings import SceneSettings
from ..state import ParticleState
from .body_step import BodyStep
from .step_data import StepInputs


def ground_laws(model: SoftBodyModel, settings: SceneSettings) -> tuple[float, float]:
    """Coefficients of friction and restitution of a body on the ground."""
    body = model.settings
    return (
        min(body.friction, settings.ground_friction),
        max(body.restitution, settings.ground_restitution),
    )


def add_ground_contact(body_step: BodyStep, settings: SceneSettings, inputs: StepInputs) -> None:
    """Sets up the contact with the ground; bodies that start below it are raised without speed."""
    model, state, ground = body_step.model, body_step.state, inputs.ground
    if ground is None:
        state.ground_depths = None
        return
    n = state.positions.shape[1]
    start = _moved_with_ground(body_step.start, inputs.ground_shift)
    corrections = np.zeros(n), np.zeros((3, n))
    contact = ground_contact(body_step, settings, ground, inputs.ground_shift, start, corrections)
    body_step.contacts.append(contact)
    if is_in_ground(model, state, ground, contact.start):
        _depenetrate_ground(model, state, contact)


def ground_contact(
    body_step: BodyStep,
    settings: SceneSettings,
    ground: Plane,
    shift: Floats,
    start: Floats,
    corrections: tuple[Floats, Floats],
) -> PlaneContact:
    """The contact of a body with the ground at the end of a step.

    Parameters
    ----------
    shift : (3,) displacement of the ground in the step [m].
    start : (3, n) positions at the start of the step, moved with the ground [m].
    corrections : (n,) along the normal and (3, n) by friction, which accumulate [m].
    """
    friction, restitution = ground_laws(body_step.model, settings)
    return PlaneContact(
        plane=ground,
        start=start,
        climb=float((ground.normal * shift).sum()),
        floors=np.broadcast_to(body_step.model.thicknesses, (2, start.shape[1])),
        friction=friction,
        restitution=restitution,
        normal_corrections=corrections[0],
        friction_corrections=corrections[1],
        predicted=body_step.predicted,
        accelerations=body_step.accelerations,
        dt=body_step.batches.steps[0],
        start_gains=body_step.batches.start_gains,
    )


def is_in_ground(
    model: SoftBodyModel, state: ParticleState, ground: Plane, positions: Floats
) -> bool:
    """Whether any particle is in depenetration from the ground; records initial depths.

    These are depths of positions (3, n) [m], at first contact.
    """
    if state.ground_depths is None:
        heights = np.minimum(ground.heights(positions), model.thicknesses)
        state.ground_depths = InitialDepths(-heights, np.zeros(len(heights)))
    return bool((state.ground_depths.depths > -model.thicknesses).any())


def _moved_with_ground(start: Floats, shift: Floats) -> Floats:
    """(3, n) positions at the start of the step, moved with the ground [m]."""
    return start + shift[:, None] if shift.any() else start


def _depenetrate_ground(model: SoftBodyModel, state: ParticleState, contact: PlaneContact) -> None:
    """Lowers the floors of particles that started below the ground, and raises them step by step.

    Components that rest on such floors are shifted with them, which adds no velocity.
    """
    ground_depths, gaps, components = state.ground_depths, model.thicknesses, model.free_components
    assert ground_depths, "depths are recorded at first contact"
    out = contact.plane.heights(contact.start) >= gaps
    out |= ground_depths.ages >= DEPENETRATION_TIME
    ground_depths.depths[out] = -gaps[out]
    floors = [ground_depths.prescribed_heights(gaps, later) for later in (0.0, contact.dt)]
    contact.floors = np.stack(floors)
    ground_depths.ages[:] += contact.dt
    heights = contact.plane.heights(state.positions)
    rises = contact.floors[1] - np.maximum(contact.floors[0], heights)
    directions = np.broadcast_to(contact.plane.normal[:, None], state.positions.shape)
    count = components.max(initial=-1) + 1
    shifts = piece_shifts(components, count, np.maximum(rises, 0.0), directions)
    state.positions += shifts[:, components]
    state.previous_positions += shifts[:, components]
