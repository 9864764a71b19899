"""Drivers that fail, and what a bake loses by that.

Blender takes a driver that fails at any frame for broken: from there on, and until the file is
opened again, it is not evaluated any more. A bake visits every frame, so the next one would start
from other values than the one before.
"""

from collections.abc import Iterator
from typing import Any

import bpy

from ..scene.file_warnings import some


class DriverWatch:
    """The drivers of a view layer, of which each that fails is told once."""

    def __init__(self, view_layer: bpy.types.ViewLayer, *, but_blocked: bool = False) -> None:
        """Gives every driver another try, as opening the file does, so that bakes are alike.

        With `but_blocked`, those that Blender has blocked now are never told.
        """
        for _, driver in list(_failing(view_layer)):
            # Nothing else clears the mark of a failure; the value stays as it is.
            driver.expression = driver.expression
        blocked = {name for name, driver in _failing(view_layer) if _is_blocked(driver)}
        self._told = blocked if but_blocked else set()

    def news(self, view_layer: bpy.types.ViewLayer) -> list[str]:
        """Says which drivers have failed since the last call, in a sentence with a remedy."""
        names = {name for name, _ in _failing(view_layer)} - self._told
        self._told |= names
        if not names:
            return []
        trust = ", or let the file's Python code run" if bpy.app.autoexec_fail else ""
        return [
            f"Drivers do not work ({some(names)}), and from the first frame where they fail, what "
            f"they would move stands still; mend them in Blender{trust}"
        ]


def _failing(view_layer: bpy.types.ViewLayer) -> Iterator[tuple[str, bpy.types.Driver]]:
    """Drivers that Blender takes for broken, and names for them, of all that a scene evaluates."""
    # Or the dependency graph would still lead to what has been removed since.
    view_layer.update()
    depsgraph: Any = view_layer.depsgraph
    for evaluated in depsgraph.ids:
        item: Any = evaluated.original
        animation = getattr(item, "animation_data", None)
        for curve in animation.drivers if animation else ():
            if not (curve.mute or curve.driver.is_valid):
                yield f"{item.name_full} {curve.data_path}", curve.driver


def _is_blocked(driver: bpy.types.Driver) -> bool:
    """Says whether a driver is Python code that Blender may have blocked."""
    blocked: bool = bpy.app.autoexec_fail
    return blocked and driver.type == "SCRIPTED" and not driver.is_simple_expression
