"""The add-on's page in Blender's preferences: kernels in use, threads, and where caches go."""

from typing import Any

import bpy
from bpy.props import IntProperty, StringProperty

from ...core.compiled import PYTHON_ALONE
from ...core.errors import VerletError
from ...core.self_test import fallback_reason
from ...core.team.threads import PREFERENCE
from .versions import quick_build

ADDON = __package__.rpartition(".verlet_addon.")[0] or "verlet_addon"
"""The add-on's module name in Blender: an extension is the folder around the package."""


BESIDE = "//"
"""The folder of the .blend file."""


def apply_preferences(_preferences: Any = None, _context: Any = None) -> None:
    """Sets the number of threads that the preferences have."""
    preferences = _own_preferences()
    PREFERENCE.number = preferences.threads if preferences else 0


class VERLET_AP_preferences(bpy.types.AddonPreferences):
    """Whether compiled kernels are in use, and if not, why; threads; and the folder of caches"""

    bl_idname = ADDON

    cache_folder: StringProperty(
        name="Cache Folder",
        description="Folder in which bakes to a cache make theirs; // is that of the .blend file",
        default=BESIDE,
        subtype="DIR_PATH",
    )
    threads: IntProperty(
        name="Threads",
        description="Number of threads that share the work of a simulation; 0 takes as many as are "
        "fastest, which is tried now and then. Results are the same with any",
        default=0,
        min=0,
        max=64,
        update=apply_preferences,
    )

    def draw(self, context: bpy.types.Context) -> None:
        if self.layout is not None:
            self.layout.label(text=speed())
            self.layout.prop(self, "threads")
            self.layout.prop(self, "cache_folder")
            self.layout.operator("verlet.copy_report", icon="COPYDOWN")


def chosen_cache_folder() -> str:
    """Folder in which bakes to a cache make theirs, absolute or relative to the .blend file."""
    preferences = _own_preferences()
    return str(preferences.cache_folder if preferences else "") or BESIDE


def _own_preferences() -> Any:
    """The add-on's entry in the preferences; None without one, as for the package in Python."""
    addons: Any = bpy.context.preferences.addons if bpy.context.preferences else {}
    addon = addons.get(ADDON)
    return None if addon is None else addon.preferences


def speed() -> str:
    """One sentence on which kernels are in use."""
    try:
        reason = fallback_reason()
    except VerletError as error:
        reason = str(error)
    if not reason:
        return "Bakes run at full speed, on compiled kernels"
    where = f"; {quick_build()} is quick" if reason == PYTHON_ALONE else ""
    return f"Bakes run slowly, on NumPy: {reason}{where}"
