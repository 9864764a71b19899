"""Live simulation with mouse and keyboard, in a window of real Blender."""

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np

from tests.blender.scenes import file_content, shown
from tests.window.first_minutes import add_cloth
from tests.window.hand import Hand, Steps, wait, wait_until

LIVE = "bpy.ops.verlet.live()"


def modifiers(obj: Any) -> list[str]:
    """The names of the modifiers of an object."""
    return [modifier.name for modifier in obj.modifiers]


def frame_reached(number: int) -> Callable[[], bool]:
    """Whether the timeline has come so far."""
    return lambda: bpy.context.scene.frame_current >= number


def test_space_plays_a_live_simulation(hand: Hand) -> Steps:
    """Add a cloth, press Live and Space: it moves; end it, and the scene is as before."""
    yield from hand.over_view()
    yield from hand.press("DEL")
    yield from add_cloth(hand)
    cloth: Any = bpy.data.objects["Cloth"]
    bpy.context.scene.frame_end = 40
    start = shown(cloth, 1)
    before = file_content()
    yield from hand.sidebar()
    hand.picture("live_before")
    yield from hand.click((yield from hand.find(LIVE)))
    yield from wait_until(lambda: bpy.context.scene.verlet.use_live)
    yield from hand.over_view()
    yield from hand.press("SPACE")
    yield from wait_until(frame_reached(25), seconds=60)
    hand.picture("live_playing")
    yield from hand.press("SPACE")
    assert np.abs(shown(cloth, 20) - start).max() > 0.3
    cloth.verlet.mass = 1.0
    bpy.context.scene.frame_set(22)
    yield from hand.redrawn()
    hand.picture("live_changed")
    yield from hand.click((yield from hand.find(LIVE)))
    yield from wait_until(lambda: not bpy.context.scene.verlet.use_live)
    cloth.verlet.property_unset("mass")
    bpy.context.scene.frame_set(1)
    yield from wait(0.2)
    assert file_content() == before
    assert not modifiers(cloth)


def test_undo_while_live_is_safe(hand: Hand) -> Steps:
    """Ctrl Z past the start of a live simulation ends it, and nothing of ours is left."""
    yield from hand.over_view()
    yield from hand.press("DEL")
    yield from add_cloth(hand)
    yield from hand.sidebar()
    yield from hand.click((yield from hand.find(LIVE)))
    yield from wait_until(lambda: bpy.context.scene.verlet.use_live)
    for number in range(1, 8):
        bpy.context.scene.frame_set(number)
    yield from hand.over_view()
    for _ in range(2):
        yield from hand.press("Z", ctrl=True)
        yield from wait(0.5)
    hand.picture("live_undone")
    for obj in bpy.data.objects:
        assert "Verlet Live" not in modifiers(obj)
    assert not bpy.context.scene.verlet.use_live
