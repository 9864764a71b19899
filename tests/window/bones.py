"""Bake to Bones by its dialog, in a window of real Blender."""

from typing import Any

import bpy
import numpy as np

from tests.blender.scenes import file_content, select, verlet
from tests.window.hand import Hand, Steps, wait, wait_until


def test_bones_come_with_progress_and_esc_leaves_nothing(hand: Hand) -> Steps:
    """The status bar says how far it is; the result stands beside the cloth."""
    bpy.ops.object.delete()
    verlet.add_cloth(resolution=40, size=1.0, rotation=(1.2, 0.0, 0.0), location=(0.0, 0.0, 2.0))
    cloth, scene = bpy.context.object, bpy.context.scene
    scene.frame_end = 80
    verlet.bake()
    scene.frame_set(20)
    with hand.override():
        bpy.ops.view3d.view_selected()
    select(cloth)
    before = file_content()
    yield from hand.sidebar()
    for key in ("ESC", ""):
        yield from hand.over_view()
        with hand.override():
            verlet.bake_bones("INVOKE_DEFAULT", count=40, beside=True)
        yield from wait(0.5)
        hand.picture("bones_dialog")
        yield from hand.press("RET")
        yield from wait_until(lambda: not verlet.bake.poll())
        if key:  # at once, or a slow window sees the end before
            yield from hand.press(key)
            yield from wait_until(verlet.bake.poll)
            assert file_content() == before
    yield from hand.over_view()
    hand.picture("bones_progress")
    yield from wait_until(verlet.bake.poll, seconds=120)
    yield from hand.redrawn()
    hand.picture("bones_beside")
    skin: Any = bpy.data.objects["Cloth Skin"]
    last: Any = bpy.context.window_manager.operator_properties_last("verlet.bake_bones")
    assert last.count == 40  # what the dialog proposes next
    apart = np.array(skin.matrix_world.translation - cloth.matrix_world.translation)
    assert np.abs(apart).max() > 0.9
    yield from hand.over_view()
    yield from hand.press("Z", ctrl=True)
    yield from wait(0.5)
    assert "Cloth Skin" not in bpy.data.objects
