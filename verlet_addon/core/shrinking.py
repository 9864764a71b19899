"""A body in motion that shrinks or grows."""

from dataclasses import replace
from math import nan

from .build import build_model
from .errors import SettingsError
from .mesh import MeshData
from .step_data import Body


def shrink(body: Body, mesh: MeshData, shrinking: float) -> Body:
    """The body with lengths that are shorter by this share, moving on as it does.

    Parameters
    ----------
    mesh : as it is held now.

    Raises
    ------
    SettingsError
        If nothing would be left of it.
    """
    model, state = body
    if shrinking == model.settings.shrinking:
        return body
    try:
        settings = replace(model.settings, shrinking=shrinking)
    except SettingsError as error:
        raise SettingsError(f"'{model.name}': {error}") from error
    if state.batches is not None:
        # To be made anew, and to hand on the tension.
        state.batches = replace(state.batches, steps=(nan, nan))
    return build_model(mesh, settings), state
