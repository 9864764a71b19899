"""Functions in Blender's lists of handlers, which are called at its events."""

from collections.abc import Mapping
from typing import Any

import bpy
from bpy.app.handlers import persistent


def add_handlers(handlers: Mapping[str, Any]) -> None:
    """Adds functions, by the names of the lists; they stay when another file is opened."""
    for name, handler in handlers.items():
        getattr(bpy.app.handlers, name).append(persistent(handler))


def remove_handlers(handlers: Mapping[str, Any]) -> None:
    """Removes functions that `add_handlers` added."""
    for name, handler in handlers.items():
        present = getattr(bpy.app.handlers, name)
        if handler in present:  # other add-ons clear these lists
            present.remove(handler)
