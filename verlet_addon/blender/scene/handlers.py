"""Functions in Blender's lists of handlers, which are called at its events."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ..settings.faults import faults_kept


@cache
def listed(handler: Any) -> Any:
    """A function as it stands in the lists: a report tells of its unexpected exceptions."""
    return persistent(faults_kept()(handler))


def add_handlers(handlers: Mapping[str, Any]) -> None:
    """Adds functions, by the names of the lists; they stay when another file is opened."""
    for name, handler in handlers.items():
        getattr(bpy.app.handlers, name).append(listed(handler))


def remove_handlers(handlers: Mapping[str, Any]) -> None:
    """Removes functions that `add_handlers` added."""
    for name, handler in handlers.items():
        present = getattr(bpy.app.handlers, name)
        if listed(handler) in present:  # other add-ons clear these lists
            present.remove(listed(handler))
