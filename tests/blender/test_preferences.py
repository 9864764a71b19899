"""The add-on's preferences say which kernels serve, and how many threads."""

from collections.abc import Callable
from types import ModuleType, SimpleNamespace

import bpy
import pytest


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


def test_the_number_of_threads_reaches_simulations(
    addon: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the preferences have is taken from then on; 0, their default, is chosen by the clock."""
    preferences, threads = addon("blender.settings.preferences"), addon("core.team.threads")
    monkeypatch.delenv("VERLET_THREADS", raising=False)
    for number in (3, 0):
        own = SimpleNamespace(threads=number)
        monkeypatch.setattr(preferences, "_own_preferences", lambda own=own: own)
        preferences.apply_preferences()
        assert threads.wished_threads() == number
