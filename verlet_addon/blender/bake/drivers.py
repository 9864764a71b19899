"""Warnings of drivers that fail during a bake.

Blender marks a driver that fails at one frame as invalid, and no longer evaluates it until the file
is opened again. A bake visits every frame, so a second bake would start from other values than the
first one.
"""

from collections.abc import Iterator
from typing import Any

import bpy

from ..scene.file_warnings import some


class DriverWatch:
    """The drivers of a view layer, each of which is reported once when it fails."""

    def __init__(self, view_layer: bpy.types.ViewLayer, *, but_blocked: bool = False) -> None:
        """Re-enables invalid drivers, as opening the file does, so that bakes are repeatable.

        With `but_blocked`, drivers that Blender blocks as untrusted are never reported.
        """
        for _, driver in list(_failing(view_layer)):
            # Only an assignment clears the mark of a failure; the value stays as it is.
            driver.expression = driver.expression
        blocked = {name for name, driver in _failing(view_layer) if _is_blocked(driver)}
        self._reported = blocked if but_blocked else set()

    def news(self, view_layer: bpy.types.ViewLayer) -> list[str]:
        """One sentence on the drivers that failed since the last call, with a remedy, if any."""
        names = {name for name, _ in _failing(view_layer)} - self._reported
        self._reported |= names
        if not names:
            return []
        trust = ", or let the file's Python code run" if bpy.app.autoexec_fail else ""
        return [
            f"Drivers do not work ({some(names)}), so their values stay constant from the first "
            f"frame on at which they fail; correct them in Blender{trust}"
        ]


def _failing(view_layer: bpy.types.ViewLayer) -> Iterator[tuple[str, bpy.types.Driver]]:
    """Names and drivers of all that a view layer evaluates, where Blender marked them invalid."""
    # Without an update the dependency graph still holds datablocks that have been removed.
    view_layer.update()
    depsgraph: Any = view_layer.depsgraph
    for evaluated in depsgraph.ids:
        item: Any = evaluated.original
        animation = getattr(item, "animation_data", None)
        for curve in animation.drivers if animation else ():
            if not (curve.mute or curve.driver.is_valid):
                yield f"{item.name_full} {curve.data_path}", curve.driver


def _is_blocked(driver: bpy.types.Driver) -> bool:
    """Whether a driver is Python code that Blender may have blocked."""
    blocked: bool = bpy.app.autoexec_fail
    return blocked and driver.type == "SCRIPTED" and not driver.is_simple_expression
