"""A bake to a cache by the buttons of the panel: ended by Esc, and gone on with."""

import tempfile
from pathlib import Path
from typing import Any

import bpy

from tests.window.first_minutes import add_cloth
from tests.window.hand import Hand, Steps, wait, wait_until

BAKE = "bpy.ops.verlet.bake(mode='CACHE')"


def resume(frame: int = 0) -> str:
    """The command of a button that goes on with a cache."""
    return f"bpy.ops.verlet.bake(mode='CACHE', resume=True, from_frame={frame})"


def test_esc_keeps_the_frames_so_far_and_resume_goes_on(hand: Hand) -> Steps:
    yield from hand.over_view()
    yield from hand.press("DEL")
    yield from add_cloth(hand)
    scene: Any = bpy.context.scene
    scene.frame_end = 400
    folder = Path(tempfile.mkdtemp())
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "shot.blend"))
    yield from hand.press("N")
    yield from hand.sidebar()
    scene.verlet.bake_mode = "CACHE"
    yield from hand.redrawn()
    hand.picture("cache_before")
    buttons = yield from hand.buttons()
    yield from hand.click(buttons[BAKE])
    points = folder / "shot_verlet_cache" / "bake_001" / "Cloth.pc2"
    yield from wait_until(lambda: points.is_file() and points.stat().st_size > 200_000)
    hand.picture("cache_baking")
    yield from hand.press("ESC")
    cloth: Any = bpy.data.objects["Cloth"]
    yield from wait_until(lambda: "Verlet Cache" in cloth.modifiers)
    end = cloth.verlet.baked_end
    assert 1 < end < 400
    yield from hand.redrawn()
    hand.picture("cache_stopped")
    buttons = yield from hand.buttons()
    assert resume() in buttons
    scene.frame_end = end + 20
    yield from hand.redrawn()
    yield from hand.click(buttons[resume()])
    yield from wait_until(lambda: cloth.verlet.baked_end == end + 20)
    yield from hand.over_view()
    scene.frame_set(5)
    yield from wait(0.3)
    yield from hand.redrawn()
    buttons = yield from hand.buttons()
    assert resume(5) in buttons
    assert resume() not in buttons
    hand.picture("cache_complete")
