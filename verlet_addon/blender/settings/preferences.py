"""The add-on's page in Blender's preferences: which kernels are in use, and where caches go."""

from typing import Any

import bpy
from bpy.props import StringProperty

from ...core.errors import VerletError
from ...core.self_test import fallback_reason

ADDON = __package__.rpartition(".verlet_addon.")[0] or "verlet_addon"
"""The add-on's module name in Blender: an extension is the folder around the package."""


BESIDE = "//"
"""The folder of the .blend file."""


class VERLET_AP_preferences(bpy.types.AddonPreferences):
    """Whether the compiled kernels are in use, and if not, why; and the folder of caches"""

    bl_idname = ADDON

    cache_folder: StringProperty(
        name="Cache Folder",
        description="Folder in which bakes to a cache make theirs; // is that of the .blend file",
        default=BESIDE,
        subtype="DIR_PATH",
    )

    def draw(self, context: bpy.types.Context) -> None:
        if self.layout is not None:
            self.layout.label(text=speed())
            self.layout.prop(self, "cache_folder")


def chosen_cache_folder() -> str:
    """Folder in which bakes to a cache make theirs, absolute or relative to the .blend file.

    Without an entry in the preferences, as for the package in Python, it is that of the file.
    """
    addons: Any = bpy.context.preferences.addons if bpy.context.preferences else {}
    addon = addons.get(ADDON)
    chosen = addon.preferences.cache_folder if addon is not None and addon.preferences else ""
    return str(chosen) or BESIDE


def speed() -> str:
    """One sentence on which kernels are in use."""
    try:
        reason = fallback_reason()
    except VerletError as error:
        reason = str(error)
    if not reason:
        return "Bakes run at full speed, on compiled kernels"
    return f"Bakes run slowly, on NumPy: {reason}"
