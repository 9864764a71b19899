"""The add-on's page in Blender's preferences: which kernels are in use."""

import bpy

from ...core.errors import VerletError
from ...core.self_test import fallback_reason

ADDON = __package__.rpartition(".verlet_addon.")[0] or "verlet_addon"
"""The add-on's module name in Blender: an extension is the folder around the package."""


class VERLET_AP_preferences(bpy.types.AddonPreferences):
    """Whether the compiled kernels are in use, and if not, why"""

    bl_idname = ADDON

    def draw(self, context: bpy.types.Context) -> None:
        if self.layout is not None:
            self.layout.label(text=speed())


def speed() -> str:
    """One sentence on which kernels are in use."""
    try:
        reason = fallback_reason()
    except VerletError as error:
        reason = str(error)
    if not reason:
        return "Bakes run at full speed, on compiled kernels"
    return f"Bakes run slowly, on NumPy: {reason}"
