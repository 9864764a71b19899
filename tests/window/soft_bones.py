"""Soft bones in a window of real Blender: in Pose Mode, with the buttons of the tab."""

from typing import Any

import bpy
import numpy as np

from tests.blender.rigs import fox, poses, select, swing
from tests.blender.scenes import store, verlet
from tests.window.hand import Hand, Steps, wait, wait_until


def lone_fox() -> Any:
    """A fox in place of all objects."""
    bpy.ops.object.select_all(action="SELECT")
    bpy.ops.object.delete()
    return fox()


def shown_from_the_side(hand: Hand, obj: Any) -> Steps:
    """Selects the first bone of the tail, and shows it beside the sidebar."""
    select(obj, "tail.0")
    with hand.override():
        bpy.ops.view3d.view_axis(type="RIGHT")
        bpy.ops.view3d.view_all()
    yield from hand.sidebar()


def test_a_tail_is_made_soft_played_baked_and_released(hand: Hand) -> Steps:
    """From the selection of a bone to a bake, with undo, and back."""
    obj = lone_fox()
    swing(obj, 1.0)
    scene: Any = bpy.context.scene
    scene.frame_set(0)
    keyed = poses(obj)
    scene.frame_set(0)
    yield from shown_from_the_side(hand, obj)
    hand.picture("soft_bones_none")
    yield from hand.click((yield from hand.find("bpy.ops.verlet.make_soft_bones()")))
    yield from wait_until(lambda: "Fox Bones" in bpy.data.objects)
    yield from hand.over_view()
    yield from hand.press("Z", ctrl=True)
    yield from wait_until(lambda: "Fox Bones" not in bpy.data.objects)
    yield from hand.press("Z", ctrl=True, shift=True)
    yield from wait_until(lambda: "Fox Bones" in bpy.data.objects)
    yield from hand.redrawn()
    hand.picture("soft_bones_made")
    obj, scene = bpy.data.objects["Fox"], bpy.context.scene  # others since undo
    assert obj.mode == "POSE"
    yield from hand.click((yield from hand.find("bpy.ops.verlet.live()")))
    yield from wait_until(lambda: bool(scene.verlet.use_live))
    yield from hand.over_view()
    yield from hand.press("SPACE")
    yield from wait_until(lambda: scene.frame_current > 18, seconds=60)
    yield from hand.press("SPACE")
    hand.picture("soft_bones_live")
    assert "Verlet" in obj.pose.bones["tail.3"].constraints
    yield from hand.click((yield from hand.find("bpy.ops.verlet.live()")))
    yield from wait(0.5)
    yield from hand.press("RET")  # its frames are lost
    yield from wait_until(lambda: not scene.verlet.use_live)
    assert not obj.pose.bones["tail.3"].constraints
    yield from hand.click((yield from hand.find("bpy.ops.verlet.bake()")))
    yield from wait_until(lambda: bool(obj.pose.bones["tail.3"].constraints), seconds=60)
    yield from wait(0.5)
    assert np.abs(poses(obj) - keyed).max() > 0.05
    hand.picture("soft_bones_baked")
    verlet.clear_bake()
    assert np.abs(poses(obj) - keyed).max() == 0.0
    yield from hand.redrawn()
    yield from hand.click((yield from hand.find("bpy.ops.verlet.release_soft_bones()")))
    yield from wait_until(lambda: "Fox Bones" not in bpy.data.objects)


def test_spring_bones_of_vrm_are_made_soft_with_one_click(hand: Hand) -> Steps:
    """In a file of the VRM add-on, without it; their settings show, and undo takes them back."""
    obj = lone_fox()
    joints = [{"node": {"bone_name": f"tail.{n}"}, "stiffness": 1.0} for n in range(8)]
    own = {"springs": [{"joints": joints}]}
    store(obj.data, "vrm_addon_extension", {"spec_version": 1, "spring_bone1": own})
    yield from shown_from_the_side(hand, obj)
    hand.picture("soft_bones_from_none")
    yield from hand.click((yield from hand.find("bpy.ops.verlet.soft_bones_from_addons()")))
    yield from wait_until(lambda: "Fox Bones" in bpy.data.objects)
    yield from hand.redrawn()
    hand.picture("soft_bones_from_vrm")
    yield from hand.over_view()
    yield from hand.press("Z", ctrl=True)
    yield from wait_until(lambda: "Fox Bones" not in bpy.data.objects)
