"""A body in motion whose settings are changed."""

from dataclasses import replace

from ..build import build_model
from ..field import KINDS
from ..mesh import MeshData
from ..phases.step_data import Body
from ..settings import BodySettings, weight_name
from ..state import outdate

FELT = ("pressure", "friction", "restitution", "gravity", "wind", *map(weight_name, KINDS))
"""Settings that every step asks for; all others are built into the model."""


def change(body: Body, mesh: MeshData, settings: BodySettings) -> Body:
    """The body with other settings, moving on as it does; `mesh` is as it is held now."""
    model, state = body
    if settings == model.settings:
        return body
    felt = replace(model, settings=settings)
    if state.solid is not None:
        state.solid.lying = None
    if _apart_from(settings, FELT, model.settings):
        return felt, state
    outdate(state)
    if _apart_from(settings, (*FELT, "damping"), model.settings):
        return felt, state
    return build_model(mesh, settings), state


def _apart_from(settings: BodySettings, names: tuple[str, ...], others: BodySettings) -> bool:
    """Whether settings are the same as others but for those of such names."""
    return replace(settings, **{name: getattr(others, name) for name in names}) == others
