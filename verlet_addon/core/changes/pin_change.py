"""Change of pin weights in a running simulation."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..arrays import Floats
from ..build import build_model, goal_compliances, start_displacements
from ..field import Field
from ..geometry.rest_shape import FIRM_PIN
from ..mesh import MeshData
from ..model import SoftBodyModel
from ..phases.step_data import Body


def change_pins(
    body: Body,
    former: MeshData,
    mesh: MeshData,
    *,
    gravity: Floats,
    fields: Sequence[Field] = (),
) -> Body:
    """The body with the pin weights of `mesh` in place of those of `former`; motion continues.

    The model is rebuilt only if particles are pinned or released; other weights change compliances.

    Parameters
    ----------
    body : model and state; previous positions of released particles change.
    former, mesh : the body's mesh with the former and with the new pin weights.
    gravity : (3,) acceleration [m/s²].
    fields : force fields that act on the body now.
    """
    model, state = body
    before, now = former.pin_weights, mesh.pin_weights
    if before is now or np.array_equal(before, now):
        return body
    if np.array_equal(before >= FIRM_PIN, now >= FIRM_PIN) and np.array_equal(before > 0, now > 0):
        return _with_goal_weights(model, now), state
    model = build_model(mesh, model.settings)
    displacements = start_displacements(
        model,
        state.positions,
        state.velocities(),
        gravity=gravity,
        fields=fields,
        dt=state.previous_dt,
    )
    freed = np.flatnonzero((before >= FIRM_PIN) & (now < FIRM_PIN))
    state.previous_positions[:, freed] = (state.positions - displacements)[:, freed]
    state.batches = None
    return model, state


def _with_goal_weights(model: SoftBodyModel, weights: Floats) -> SoftBodyModel:
    """The model with soft pins of other weights (n,)."""
    masses = 1.0 / model.inverse_masses[model.goals]
    return replace(model, goal_compliances=goal_compliances(weights[model.goals], masses))
