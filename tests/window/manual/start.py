"""The page of docs/start that is followed by clicks: the first cloth."""

from typing import Any

import bpy

from tests.window.first_minutes import FRAME_END, add_cloth
from tests.window.hand import Hand, Steps
from tests.window.manual import steps


def test_page_first_cloth(hand: Hand) -> Steps:
    """From the scene that Blender opens with."""
    yield from hand.over_view()
    yield from hand.press("DEL")
    yield from add_cloth(hand)
    yield from hand.sidebar()
    yield from steps.enter(hand, FRAME_END, str(min(60, hand.frames)))
    yield from hand.take("first_cloth_added_tab", "Bake", "Soft Body")
    cloth: Any = bpy.data.objects["Cloth"]
    yield from steps.bake(hand, cloth)
    yield from hand.take("first_cloth_baked_tab", "Bake", "Soft Body")
