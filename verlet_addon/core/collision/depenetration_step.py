"""Depenetration before each step, of bodies that start inside of solids or colliders."""

from collections.abc import Sequence

import numpy as np

from ..depenetration.surface_depenetration import piece_shifts, update_depenetration
from ..model import SolidModel
from ..phases.step_data import Body, StepInputs
from ..solid.external_moves import point_components, shift_components
from ..state import SolidBodyState
from .collision_world import CollisionWorld


def depenetrate(bodies: Sequence[Body], world: CollisionWorld, inputs: StepInputs) -> None:
    """Releases particles that are out, and shifts solids, which depenetrate as rigid pieces."""
    depenetration, surfaces = world.depenetration, world.surfaces
    if not surfaces.any_penetrating:
        return
    places = world.gather_positions(
        [state.positions for _, state in bodies], inputs.collider_starts
    )
    pinned = np.ones(places.shape[1], dtype=bool)
    pieces, counts = np.full(places.shape[1], -1), [0]
    for number, (model, _) in enumerate(bodies):
        part = world.body_slices[number]
        pinned[part] = model.contact_inverse_masses == 0.0
        own = point_components(model.solid) if isinstance(model, SolidModel) else np.full(1, -1)
        pieces[part] = np.where(own < 0, -1, own + counts[-1])[: part.stop - part.start]
        counts.append(counts[-1] + int(own.max(initial=-1)) + 1)
    update_depenetration(depenetration, places, pinned, inputs.dt)
    shifts = piece_shifts(depenetration, places, pieces, inputs.dt)
    for number, (model, state) in enumerate(bodies):
        if isinstance(model, SolidModel) and isinstance(state, SolidBodyState):
            own = shifts[:, [*range(*counts[number : number + 2]), -1]]
            moved = shift_components(model.solid, state.solid, own)
            state.positions = state.positions + moved
            state.previous_positions = state.previous_positions + moved
