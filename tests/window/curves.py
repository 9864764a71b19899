"""Ropes that are curves, as an artist makes them, in a window of real Blender."""

from typing import Any

import bpy

from tests.blender.scenes import select
from tests.window.hand import Hand, Steps, wait_until

CONVERT = "bpy.ops.verlet.convert()"
BAKE = "bpy.ops.verlet.bake()"


def test_a_curve_is_made_a_rope_held_and_baked(hand: Hand) -> Steps:
    """By the buttons of the tab; the view shows it during the bake, and its keys afterwards."""
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    bpy.ops.curve.primitive_bezier_curve_add(location=(0.0, 0.0, 2.0))
    curve: Any = bpy.context.object
    curve.data.bevel_depth = 0.05
    bpy.context.scene.frame_end = 24
    select(curve)
    yield from hand.sidebar()
    hand.picture("curve")
    yield from hand.click((yield from hand.find(CONVERT)))
    yield from wait_until(lambda: curve.verlet.enabled)
    curve.verlet.hold_start = True
    yield from hand.redrawn()
    hand.picture("curve_body")
    yield from hand.click((yield from hand.find(BAKE)))
    yield from wait_until(lambda: curve.data.shape_keys is not None)
    bpy.context.scene.frame_set(24)
    yield from hand.redrawn()
    hand.picture("curve_baked")
    assert len(curve.data.shape_keys.key_blocks) == 25
