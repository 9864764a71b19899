"""Contact with the ground: set up at the start of a step, and depenetration from it."""

import numpy as np

from ..arrays import Floats
from ..contacts.manifold.plane import PlaneContact
from ..contacts.sides.ground_depenetration import (
    GroundDepenetration,
    floor_heights,
    lift_components,
)
from ..model import SoftBodyModel
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
        state.ground_depenetration = None
        return
    n, (friction, restitution) = state.positions.shape[1], ground_laws(model, settings)
    contact = PlaneContact(
        plane=ground,
        start=_moved_with_ground(body_step.start, inputs.ground_shift),
        climb=float((ground.normal * inputs.ground_shift).sum()),
        floors=np.broadcast_to(model.thicknesses, (2, n)),
        friction=friction,
        restitution=restitution,
        normal_corrections=np.zeros(n),
        friction_corrections=np.zeros((3, n)),
        predicted=body_step.predicted,
        accelerations=body_step.accelerations,
        dt=inputs.dt,
        start_gains=body_step.batches.start_gains,
    )
    body_step.contacts.append(contact)
    if state.ground_depenetration is None:
        depths = model.thicknesses - contact.plane.heights(contact.start)
        state.ground_depenetration = GroundDepenetration(np.maximum(depths, 0.0))
    if state.ground_depenetration.depths.max(initial=0.0) > 0.0:
        _depenetrate_ground(model, state, state.ground_depenetration, contact)


def _moved_with_ground(start: Floats, shift: Floats) -> Floats:
    """(3, n) positions at the start of the step, moved with the ground [m]."""
    return start + shift[:, None] if shift.any() else start


def _depenetrate_ground(
    model: SoftBodyModel,
    state: ParticleState,
    ground_depenetration: GroundDepenetration,
    contact: PlaneContact,
) -> None:
    """Lowers the floors of particles that started below the ground, and raises them step by step.

    Components that rest on such floors are shifted with them, which adds no velocity.
    """
    above = contact.plane.heights(contact.start)
    contact.floors = floor_heights(ground_depenetration, above, model.thicknesses, contact.dt)
    lifts = contact.floors[1] - contact.floors[0]
    heights = contact.plane.heights(state.positions) - contact.floors[1]
    shift = contact.plane.normal[:, None] * lift_components(heights, lifts, model.free_components)
    state.positions += shift
    state.previous_positions += shift
