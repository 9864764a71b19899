"""Soft bones in a window of real Blender: in Pose Mode, with the buttons of the tab."""

import tempfile
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from tests.blender.rigs import fox, poses, select, swing
from tests.blender.scenes import file_content, store, verlet
from tests.window.drape import APPLY, DRAPE
from tests.window.grab import GRAB, drag_from, over_vertex
from tests.window.hand import Hand, Steps, wait, wait_until

GO_ON = "bpy.ops.verlet.bake(mode='CACHE', resume=True, from_frame=8, edited=True)"


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


def tip(obj: Any) -> Any:
    """The end of the tail in the world, as it is shown."""
    shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array(shown.matrix_world @ shown.pose.bones["tail.7"].tail)


def test_a_joint_is_dragged_in_pose_mode_while_live_is_on(hand: Hand) -> Steps:
    """Esc shows Live again, and Enter keeps the pose, which undo takes back."""
    obj = lone_fox()
    swing(obj, 1.0)
    select(obj, "tail.0")
    verlet.make_soft_bones()
    scene: Any = bpy.context.scene
    yield from shown_from_the_side(hand, obj)
    verlet.live()
    for frame in range(9):
        scene.frame_set(frame)
    before, played = file_content(), tip(obj)
    yield from hand.click((yield from hand.find(GRAB)))
    yield from wait(0.5)
    yield from drag_from(hand, tip(obj), (30, 140))
    yield from wait(0.5)
    hand.picture("soft_bones_grabbed")
    assert np.linalg.norm(np.array(over_vertex(hand, tip(obj))) - hand.place) < 15
    yield from hand.event("LEFTMOUSE", "RELEASE")
    yield from hand.press("ESC")
    yield from wait(0.3)
    assert file_content() == before
    assert np.abs(tip(obj) - played).max() < 1e-6
    assert scene.verlet.use_live
    with hand.override():
        bpy.ops.ed.undo_push(message="before")
    yield from hand.click((yield from hand.find(GRAB)))
    yield from wait(0.5)
    yield from drag_from(hand, tip(obj), (30, 140))
    yield from wait(0.5)
    yield from hand.press("RET")
    yield from wait_until(lambda: not scene.verlet.use_live)
    yield from wait(0.5)
    hand.picture("soft_bones_grab_kept")
    assert not obj.pose.bones["tail.3"].constraints
    assert np.linalg.norm(np.array(over_vertex(hand, tip(obj))) - hand.place) < 20
    yield from hand.event("LEFTMOUSE", "RELEASE")
    yield from hand.over_view()
    yield from hand.press("Z", ctrl=True)
    yield from wait(0.5)
    assert bpy.data.objects["Fox"].pose.bones["tail.3"].constraints


def test_the_tool_of_pose_mode_grabs_a_bone_at_a_press(hand: Hand) -> Steps:
    """Its icon stands in the toolbar there, too."""
    obj = lone_fox()
    select(obj, "tail.0")
    verlet.make_soft_bones()
    yield from shown_from_the_side(hand, obj)
    hand.area.spaces.active.show_region_toolbar = True
    with hand.override():
        bpy.ops.wm.tool_set_by_id(name="verlet.grab_bones_tool")
    yield from wait(0.5)
    start = tip(obj)
    yield from drag_from(hand, tip(obj), (20, 120))
    yield from wait(0.5)
    hand.picture("soft_bones_tool")
    assert np.linalg.norm(tip(obj) - start) > 0.05
    yield from hand.event("LEFTMOUSE", "RELEASE")
    yield from hand.press("ESC")
    yield from wait(0.3)
    assert np.abs(tip(obj) - start).max() < 1e-6


def test_a_frame_of_soft_bones_is_posed_and_simulated_on(hand: Hand) -> Steps:
    """With the key R in Pose Mode and the buttons of the panel; no key is set on the way."""
    obj = lone_fox()
    swing(obj, 0.5)
    select(obj, "tail.0")
    verlet.make_soft_bones()
    scene: Any = bpy.context.scene
    scene.frame_start = 1
    bpy.ops.wm.save_as_mainfile(filepath=str(Path(tempfile.mkdtemp()) / "fox.blend"))
    scene.verlet.bake_mode = "CACHE"
    verlet.bake(mode="CACHE")
    before = poses(obj)
    scene.frame_set(8)
    yield from shown_from_the_side(hand, obj)
    yield from hand.click((yield from hand.find("bpy.ops.verlet.edit_frame()")))
    yield from wait_until(lambda: bpy.data.objects["Fox Bones"].data.shape_keys is not None)
    select(obj, "tail.3")
    yield from hand.redrawn()
    place = yield from hand.find(GO_ON)
    yield from hand.over_view()
    yield from hand.press("R")
    yield from hand.type("40")
    yield from hand.press("RET")
    yield from wait(0.5)
    posed = tip(obj)
    hand.picture("soft_bones_edited")
    yield from hand.click(place)
    yield from wait_until(lambda: bpy.data.objects["Fox Bones"].data.shape_keys is None)
    yield from hand.redrawn()
    hand.picture("soft_bones_simulated_on")
    after = poses(obj)
    scene.frame_set(8)
    assert np.linalg.norm(tip(obj) - posed) < 0.03
    np.testing.assert_allclose(after[0], before[0], atol=1e-6)
    assert np.abs(after[7] - before[7]).max() > 0.05
    assert obj.animation_data.action.name == "FoxAction"


def test_a_tail_is_draped_and_kept_as_a_pose_in_pose_mode(hand: Hand) -> Steps:
    """By two clicks; undo takes the pose back."""
    obj = lone_fox()
    select(obj, "tail.0")
    verlet.make_soft_bones()
    body: Any = bpy.data.objects["Fox Bones"]
    body.verlet.use_pose_gravity = False
    level = tip(obj)
    yield from shown_from_the_side(hand, obj)
    yield from hand.click((yield from hand.find(DRAPE)))
    yield from wait_until(verlet.apply_shape.poll)
    yield from hand.redrawn()
    hand.picture("soft_bones_draped")
    seen = tip(obj)
    assert seen[2] < level[2] - 0.03
    yield from hand.click((yield from hand.find(APPLY.format("POSE"))))
    yield from wait_until(lambda: not bpy.data.objects["Fox Bones"].modifiers)
    yield from hand.redrawn()
    hand.picture("soft_bones_drape_kept")
    assert np.abs(tip(obj) - seen).max() < 1e-5
    assert not obj.pose.bones["tail.3"].constraints
    yield from hand.over_view()
    yield from hand.press("Z", ctrl=True)
    yield from wait(0.5)
    obj = bpy.data.objects["Fox"]
    assert obj.pose.bones["tail.3"].constraints
    assert np.abs(tip(obj) - seen).max() < 1e-5
