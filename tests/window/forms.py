"""Forms of a bake and loops, by the fields and buttons of the panel."""

from typing import Any

import bpy

from tests.window.first_minutes import add_cloth
from tests.window.hand import Hand, Steps, wait_until

LOOP = "bpy.ops.verlet.bake(mode='ABSOLUTE', loop=20)"
CONVERT = "bpy.ops.verlet.convert_bake(mode='COMPACT')"


def test_a_loop_of_absolute_keys_becomes_components(hand: Hand) -> Steps:
    yield from hand.over_view()
    yield from hand.press("DEL")
    yield from add_cloth(hand)
    scene: Any = bpy.context.scene
    scene.frame_end = 60
    yield from hand.press("N")
    yield from hand.sidebar()
    scene.verlet.bake_mode, scene.verlet.loop_length = "ABSOLUTE", 20
    yield from hand.redrawn()
    hand.picture("forms_before")
    buttons = yield from hand.buttons()
    yield from hand.click(buttons[LOOP])
    cloth: Any = bpy.data.objects["Cloth"]
    yield from wait_until(lambda: cloth.verlet.baked_loop == 20)
    yield from hand.over_view()
    yield from hand.redrawn()
    hand.picture("forms_loop")
    scene.verlet.bake_mode, scene.verlet.component_tolerance = "COMPACT", 0.05
    yield from hand.redrawn()
    buttons = yield from hand.buttons()
    yield from hand.click(buttons[CONVERT])
    yield from wait_until(lambda: cloth.verlet.baked_form == "COMPACT")
    yield from hand.over_view()
    yield from hand.redrawn()
    hand.picture("forms_components")
    assert cloth.verlet.baked_loop == 20
    assert 0.0 < cloth.verlet.baked_worst <= 0.05
