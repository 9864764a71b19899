"""Change of settings in a running simulation."""

from dataclasses import replace

from ..build import build_model
from ..field import KINDS
from ..mesh import MeshData
from ..phases.step_data import Body
from ..settings import BodySettings, weight_name
from ..state import invalidate_batches

STEP_SETTINGS = (
    *("pressure", "friction", "restitution", "gravity", "maximum_distance", "inertia_share"),
    *("wind", *map(weight_name, KINDS)),
)
"""Settings that each step reads; all others are built into the model."""


def change_settings(body: Body, mesh: MeshData, settings: BodySettings) -> Body:
    """The body with other settings; motion continues. `mesh` has the current pin weights."""
    model, state = body
    if settings == model.settings:
        return body
    updated = replace(model, settings=settings)
    state.wake()
    if _equal_except(settings, STEP_SETTINGS, model.settings):
        return updated, state
    invalidate_batches(state)
    if _equal_except(settings, (*STEP_SETTINGS, "damping"), model.settings):
        return updated, state
    return build_model(mesh, settings), state


def _equal_except(settings: BodySettings, names: tuple[str, ...], others: BodySettings) -> bool:
    """Whether two settings are equal except for the named fields."""
    return replace(settings, **{name: getattr(others, name) for name in names}) == others
