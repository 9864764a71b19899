"""The add-on's preferences say which kernels serve, and how many threads."""

from collections.abc import Callable
from types import ModuleType, SimpleNamespace

import bpy
import pytest

from tests.blender.scenes import body, sheet


def test_the_preferences_say_which_kernels_serve(addon: Callable[[str], ModuleType]) -> None:
    """One sentence, with the reason where bakes are slow, under the name that Blender looks for."""
    reason = addon("core.self_test").fallback_reason()
    said = addon("blender.settings.preferences").speed()
    if reason:
        assert said.startswith(f"Bakes run slowly, on NumPy: {reason}")
    else:
        assert said == "Bakes run at full speed, on compiled kernels"
    preferences = addon("blender.settings.preferences").VERLET_AP_preferences
    installed = "bl_ext.user_default.verlet_soft_body"
    assert preferences.bl_idname in ("verlet_addon", installed)
    if installed in bpy.context.preferences.addons:
        shown = bpy.context.preferences.addons[installed].preferences
        assert isinstance(shown, preferences)


@pytest.mark.parametrize(
    ("reason", "times"),
    [("this build of the add-on is Python alone", 1), ("there are no compiled kernels here", 3)],
)
def test_the_slower_build_is_a_hint_at_the_first_bake_and_a_fault_at_each(
    addon: Callable[[str], ModuleType],
    said: Callable[[], list[str]],
    monkeypatch: pytest.MonkeyPatch,
    reason: str,
    times: int,
) -> None:
    """Whoever has chosen the slower build is told once; the preferences say it always."""
    self_test, preferences = addon("core.self_test"), addon("blender.settings.preferences")
    monkeypatch.setattr(addon("blender.bake.cautions"), "_told", set())
    monkeypatch.setattr(self_test, "fallback_reason", lambda: reason)
    monkeypatch.setattr(preferences, "fallback_reason", lambda: reason)
    body(sheet())
    told = [sentence for _ in range(3) for sentence in said() if reason in sentence]
    assert len(told) == times
    assert [reason in preferences.speed() for _ in range(2)] == [True, True]


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
