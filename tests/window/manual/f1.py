"""F1, which opens the manual, in a window of real Blender."""

import webbrowser
from importlib import import_module
from typing import Any

import bpy

from tests.window.first_minutes import BAKE
from tests.window.hand import Hand, Steps, wait, wait_until

MANUAL = "bl_ext.user_default.verlet_soft_body.verlet_addon.blender.ui.manual"
DENSITY = 'bpy.data.objects["Cloth"].verlet.density'


def test_f1_over_a_button_and_a_setting_opens_their_places_in_the_manual(hand: Hand) -> Steps:
    """As in a release that has a website; the browser is asked for the address alone."""
    opened: list[str] = []
    manual: Any = import_module(MANUAL)
    browser: Any = webbrowser
    before = manual.website, browser.open
    manual.website, browser.open = lambda: "https://verlet.example", opened.append
    try:
        bpy.ops.object.delete()
        with hand.override():
            bpy.ops.verlet.add_cloth()  # type: ignore[attr-defined]
        yield from hand.sidebar()
        buttons = yield from hand.buttons()
        for what in (BAKE, DENSITY):
            yield from hand.move(*buttons[what])
            yield from hand.press("F1")
            yield from wait(0.5)
        yield from wait_until(lambda: len(opened) == 2)
    finally:
        manual.website, browser.open = before
    reference = "https://verlet.example/manual/reference/"
    assert opened == [
        f"{reference}operators.html#bake-bake",
        f"{reference}settings.html#density-density",
    ]
