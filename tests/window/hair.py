"""Hair as a groomer makes it, bakes it and combs it, in a window of real Blender."""

import tempfile
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from tests.blender.hair import shown, strands
from tests.window.cache import BAKE
from tests.window.grab import drag_from
from tests.window.hand import Hand, Steps, wait, wait_until

CONVERT = "bpy.ops.verlet.convert()"
CLEAR = "bpy.ops.verlet.clear_bake()"
GRAB = "bpy.ops.verlet.grab()"
COUNT, POINTS = 5, 9


def test_hair_is_made_baked_combed_and_cleared_by_buttons(hand: Hand) -> Steps:
    """The view shows it during the bake, and the bake afterwards; a comb takes strands along."""
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    bpy.context.scene.frame_end = 24
    obj = strands(count=COUNT, points=POINTS)
    obj.location = (0.0, 0.0, 0.5)
    obj.scale = (8.0, 8.0, 8.0)
    bpy.context.view_layer.update()
    bpy.ops.wm.save_as_mainfile(filepath=str(Path(tempfile.mkdtemp()) / "hair.blend"))
    yield from hand.sidebar()
    hand.picture("hair")
    yield from hand.click((yield from hand.find(CONVERT)))
    yield from wait_until(lambda: obj.verlet.enabled)
    obj.verlet.use_pose_gravity = False
    yield from hand.redrawn()
    hand.picture("hair_body")
    groom = shown(obj)
    yield from hand.click((yield from hand.find(BAKE)))
    yield from wait_until(lambda: len(obj.modifiers) == 1)
    bpy.context.scene.frame_set(24)
    yield from hand.redrawn()
    hand.picture("hair_baked")
    assert np.abs(shown(obj) - groom).max() > 0.3
    yield from hand.click((yield from hand.find(CLEAR)))
    yield from wait_until(lambda: not obj.modifiers)
    assert np.abs(shown(obj) - groom).max() < 1e-6
    yield from _comb(hand, obj)


def _comb(hand: Hand, obj: Any) -> Steps:
    """Drags a tip upwards and keeps the groom by Enter."""
    yield from hand.click((yield from hand.find(GRAB)))
    yield from wait_until(lambda: len(obj.modifiers) == 1)
    yield from hand.over_view()
    yield from wait(2.0)
    yield from drag_from(hand, shown(obj)[POINTS - 1], (0, 120))
    yield from wait(1.0)
    hand.picture("hair_combed")
    combed = shown(obj).reshape(COUNT, POINTS, 3)
    assert combed[0, -1, 2] > combed[-1, -1, 2] + 0.2
    yield from hand.event("LEFTMOUSE", "RELEASE")
    yield from hand.event("RET")
    yield from wait_until(lambda: not obj.modifiers)
    assert len(bpy.data.node_groups) == 0
