"""The add-on's preferences say whether its compiled kernels serve."""

from collections.abc import Callable
from types import ModuleType

import bpy


def test_the_preferences_say_which_kernels_serve(addon: Callable[[str], ModuleType]) -> None:
    """One sentence, with the reason where bakes are slow, under the name that Blender looks for."""
    reason = addon("core.self_test").fallback_reason()
    said = addon("blender.settings.preferences").speed()
    assert said == (
        f"Bakes run slowly, on NumPy: {reason}"
        if reason
        else "Bakes run at full speed, on compiled kernels"
    )
    preferences = addon("blender.settings.preferences").VERLET_AP_preferences
    installed = "bl_ext.user_default.verlet_soft_body"
    assert preferences.bl_idname in ("verlet_addon", installed)
    if installed in bpy.context.preferences.addons:
        shown = bpy.context.preferences.addons[installed].preferences
        assert isinstance(shown, preferences)
