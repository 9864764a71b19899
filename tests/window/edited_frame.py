"""A frame of a cache sculpted by the buttons of the panel and a stroke of the mouse."""

import tempfile
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from tests.window.first_minutes import add_cloth
from tests.window.grab import over_vertex, seen
from tests.window.hand import Hand, Steps, wait, wait_until

EDIT = "bpy.ops.verlet.edit_frame()"
GO_ON = "bpy.ops.verlet.bake(mode='CACHE', resume=True, from_frame=8, edited=True)"


def shown(frame: int) -> Any:
    """(n, 3) the cloth as it is shown at a frame."""
    bpy.context.scene.frame_set(frame)
    cloth: Any = bpy.data.objects["Cloth"]
    found = cloth.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([vertex.co[:] for vertex in found.data.vertices])


def test_a_frame_is_sculpted_with_the_mouse_and_simulated_on(hand: Hand) -> Steps:
    yield from hand.over_view()
    yield from hand.press("DEL")
    yield from add_cloth(hand)
    scene: Any = bpy.context.scene
    scene.frame_end = 16
    folder = Path(tempfile.mkdtemp())
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "shot.blend"))
    scene.verlet.bake_mode = "CACHE"
    blender: Any = bpy.ops
    blender.verlet.bake(mode="CACHE")
    before = [shown(frame) for frame in range(1, 17)]
    scene.frame_set(8)
    yield from hand.press("N")
    yield from hand.sidebar()
    yield from hand.redrawn()
    place = yield from hand.find(EDIT)
    yield from hand.click(place)
    cloth: Any = bpy.data.objects["Cloth"]
    yield from wait_until(lambda: cloth.data.shape_keys is not None)
    with hand.override():
        bpy.ops.object.mode_set(mode="SCULPT")
        bpy.ops.view3d.view_selected()
    yield from wait(1.0)
    yield from hand.move(*over_vertex(hand, seen(cloth).mean(axis=0)))
    hand.drag("LEFTMOUSE", right=60)
    yield from wait(1.0)
    hand.picture("frame_sculpted")
    with hand.override():
        bpy.ops.object.mode_set(mode="OBJECT")
    if scene.tool_settings.sculpt.brush is None:  # as in builds without Blender's assets
        for point in cloth.active_shape_key.data[-40:]:
            point.co.z += 0.05
    sculpted = shown(8)
    moved = np.abs(sculpted - before[7]).max()
    assert moved > 1e-3, moved
    yield from hand.redrawn()
    hand.picture("frame_edited")
    place = yield from hand.find(GO_ON)
    yield from hand.click(place)
    yield from wait_until(lambda: cloth.data.shape_keys is None)
    yield from hand.redrawn()
    hand.picture("frame_simulated_on")
    assert np.abs(shown(8) - sculpted).max() < moved
    np.testing.assert_array_equal(shown(2), before[1])
    assert np.abs(shown(10) - before[9]).max() > 1e-4
