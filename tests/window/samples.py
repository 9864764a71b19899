"""Samples, opened from their menu and baked with the mouse in a window of real Blender."""

from tempfile import TemporaryDirectory
from typing import Any

import bpy

from tests.blender.scenes import baked
from tests.window.first_minutes import BAKE
from tests.window.hand import Hand, Steps, wait, wait_until

COLLIDER = "bpy.ops.verlet.make_collider()"
BELOW = 54
"""How far the menu is below that button [pixels]."""


def choose_flag(hand: Hand) -> Steps:
    """Clicks on Samples in the tab, and presses the letter that Flag in Wind has in the menu."""
    yield from hand.sidebar()
    x, y = yield from hand.find(COLLIDER)
    yield from hand.click((x, y - BELOW))
    yield from wait(1.0)
    hand.picture("samples_menu")
    yield from hand.press("F")


def test_a_sample_opens_from_the_tab_and_bakes(hand: Hand) -> Steps:
    """In the user's own workspace, through its camera, and without a place to be saved to."""
    hand.window.workspace.name = "Mine"
    yield from choose_flag(hand)
    yield from wait_until(lambda: "Flag" in bpy.data.objects)
    yield from wait(1.0)
    hand.picture("samples_opened")
    assert hand.window.workspace.name == "Mine"
    assert "Scripting" in bpy.data.workspaces
    assert (bpy.data.filepath, bpy.data.is_dirty) == ("", False)
    bpy.context.scene.frame_end = 6
    yield from hand.sidebar()
    yield from hand.click((yield from hand.find(BAKE)))
    flag: Any = bpy.data.objects["Flag"]
    yield from wait_until(lambda: len(baked(flag)) == 6)
    hand.picture("samples_baked")
    yield from hand.over_view()
    yield from hand.press("S", ctrl=True)
    windows = bpy.context.window_manager.windows
    yield from wait_until(lambda: len(windows) > 1)  # Blender asks for a name
    yield from wait(1.0)
    hand.picture("samples_saved")
    with bpy.context.temp_override(window=windows[1]):
        bpy.ops.wm.window_close()


def test_a_sample_asks_before_changes_are_lost(hand: Hand) -> Steps:
    """Esc keeps the file; once it is saved, the same clicks open the sample."""
    with hand.override():
        bpy.ops.object.duplicate()
        bpy.ops.ed.undo_push(message="Changed")
    assert bpy.data.is_dirty
    yield from choose_flag(hand)
    yield from wait(1.0)
    hand.picture("samples_asked")
    yield from hand.press("ESC")
    yield from wait(1.0)
    assert set(bpy.data.objects.keys()) == {"Camera", "Cube", "Cube.001", "Light"}
    with TemporaryDirectory() as folder:
        bpy.ops.wm.save_as_mainfile(filepath=f"{folder}/mine.blend")
        yield from choose_flag(hand)
        yield from wait_until(lambda: "Flag" in bpy.data.objects)
