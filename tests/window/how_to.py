"""Pages of the manual, followed and opened with mouse and keyboard in a window of real Blender."""

import webbrowser
from importlib import import_module
from typing import Any

import bpy
import numpy as np

from tests.blender.scenes import baked, shown
from tests.window.first_minutes import BAKE, MAKE
from tests.window.hand import Hand, Steps, wait, wait_until

MANUAL = "bl_ext.user_default.verlet_soft_body.verlet_addon.blender.ui.manual"
PIN = "bpy.ops.verlet.pin_selected()"
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


def test_a_flag_in_the_wind_by_the_steps_of_its_page(hand: Hand) -> Steps:
    """docs/how_to/flag.md, with a plane of fewer faces."""
    bpy.ops.object.delete()
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=10, y_subdivisions=10, size=1.0)
    flag: Any = bpy.context.object
    flag.location.z = 3.0
    yield from hand.sidebar()
    yield from hand.click((yield from hand.find(MAKE)))
    yield from wait_until(lambda: bool(flag.verlet.enabled))
    edge = np.array([vertex.co.x for vertex in flag.data.vertices]) < -0.49
    yield from hand.over_view()
    yield from hand.press("TAB")
    yield from wait_until(lambda: flag.mode == "EDIT")
    with hand.override():
        bpy.ops.mesh.select_all(action="DESELECT")
        bpy.ops.object.mode_set(mode="OBJECT")
        for vertex in np.flatnonzero(edge).tolist():
            flag.data.vertices[vertex].select = True
        bpy.ops.object.mode_set(mode="EDIT")
    yield from hand.redrawn()
    yield from hand.click((yield from hand.buttons(0.3))[PIN])
    yield from wait_until(lambda: bool(flag.verlet.pin_group))
    yield from hand.over_view()
    yield from hand.press("TAB")
    yield from wait_until(lambda: flag.mode == "OBJECT")
    with hand.override():
        bpy.ops.object.effector_add(type="WIND", rotation=(0.0, np.pi / 2, 0.0))
    bpy.context.object.field.strength = 5.0
    bpy.context.scene.frame_end = 30
    yield from wait(0.5)
    yield from hand.click((yield from hand.find(BAKE)))
    yield from wait_until(lambda: len(baked(flag)) == 30)
    hand.picture("flag_in_wind")
    assert shown(flag, 30)[:, 0].max() > 0.2  # it would hang at -0.5 without the wind
