"""Grab on soft bones: joints are dragged, and what is kept is the pose of the bones."""

from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from .rigs import LENGTH, armature, chain, fox, pose_at, select, swing, tips
from .scenes import file_content, verlet
from .test_grab import Addon, begin
from .test_soft_bones import soft

TIP = -1
"""The joint at the end of a tail is the last one of its body."""
AWAY = (0.2, -0.22, 1.05)
"""A place that the tip of the tail is dragged to."""
NEAR = LENGTH / 30
"""How near it comes there, against the springs of the bones."""


def tail(count: int = 4, *, frame: int = 6) -> Any:
    """A fox with a soft tail whose hips are keyed, at a frame."""
    obj = fox(count)
    swing(obj, 0.5)
    soft(obj, "tail.0")
    bpy.context.scene.frame_set(frame)
    return obj


def now(obj: Any) -> Any:
    """(b, 3) tails of the bones as they are shown now, without a frame change."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrices = np.array([np.array(bone.matrix) for bone in evaluated.pose.bones])
    return tips(obj, matrices)


def drag_tip(addon: Addon, *, seconds: float = 1.0) -> Any:
    """A grab in which the tip has been dragged away."""
    grab = begin(addon)
    grab.hold(0, len(grab.positions[0]) - 1, 0.01)
    grab.drags[0].target = np.array(AWAY)
    for _ in range(round(seconds / grab.step / 4)):
        grab.advance(4)
    grab.show()
    bpy.context.view_layer.update()
    return grab


def test_bones_follow_a_dragged_joint_and_esc_leaves_no_trace(addon: Addon) -> None:
    """The tip comes to where it is dragged, and bones keep their lengths meanwhile."""
    obj = tail()
    before, start = file_content(), now(obj)
    grab = drag_tip(addon)
    shown = now(obj)
    assert np.linalg.norm(shown[TIP] - AWAY) < NEAR
    np.testing.assert_allclose(shown[1:], grab.positions[0][3:], atol=2e-6)
    lengths = np.linalg.norm(np.diff(grab.positions[0][2:], axis=0), axis=1)
    np.testing.assert_allclose(lengths, LENGTH / 4, rtol=1e-4)
    grab.end()
    assert file_content() == before
    np.testing.assert_array_equal(now(obj), start)


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "AXIS_ANGLE"])
def test_enter_keeps_the_pose_and_keys_what_has_keys(mode: str) -> None:
    """To 0.01 mm, in the mode of each bone; a frame change takes nothing back."""
    obj = tail()
    for number in range(4):
        bone = obj.pose.bones[f"tail.{number}"]
        bone.rotation_mode = mode
        name = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
        bone.keyframe_insert(name.get(mode, "rotation_euler"), frame=0)
    verlet.grab(body="Fox Bones", vertex=6, target=AWAY, radius=0.01, seconds=1.5)
    kept = now(obj)
    assert np.linalg.norm(kept[TIP] - AWAY) < NEAR
    assert not bpy.data.objects["Fox Bones"].modifiers
    assert not obj.pose.bones["tail.3"].constraints
    assert bpy.data.objects["Fox Bones"].data.shape_keys is None
    bpy.context.scene.frame_set(3)
    bpy.context.scene.frame_set(6)
    np.testing.assert_allclose(now(obj), kept, atol=1e-5)


def test_bones_without_keys_are_posed_without_keys() -> None:
    """As by Blender's own tools; with Auto Keying they are keyed, as by these."""
    obj, scene = tail(), bpy.context.scene
    verlet.grab(body="Fox Bones", vertex=6, target=AWAY, radius=0.01, seconds=1.0)
    assert np.linalg.norm(now(obj)[TIP] - AWAY) < NEAR
    assert not has_key(obj, "tail.2")
    scene.tool_settings.use_keyframe_insert_auto = True
    verlet.grab(body="Fox Bones", vertex=6, target=AWAY, radius=0.01, seconds=0.5)
    assert has_key(obj, "tail.2")
    scene.tool_settings.use_keyframe_insert_auto = False


def has_key(obj: Any, name: str) -> bool:
    """Whether a bone's rotation has a key at the current frame."""
    return bool(obj.pose.bones[name].keyframe_delete("rotation_quaternion"))


def test_pinned_for_good_a_joint_follows_its_pose() -> None:
    """Its bone has Follow Pose 1, so a bake leaves it where it was put."""
    obj = tail(frame=0)
    verlet.grab(body="Fox Bones", vertex=6, target=AWAY, radius=0.01, seconds=2.0, pin=True)
    assert [bone.verlet_follow_pose for bone in obj.pose.bones] == [0.0, 0.0, 0.0, 0.0, 1.0]
    posed = tips(obj, pose_at(obj, 12))
    verlet.bake()
    shown = tips(obj, pose_at(obj, 12))
    np.testing.assert_allclose(shown[TIP], posed[TIP], atol=1e-5)
    assert np.linalg.norm(shown[2] - posed[2]) > 1e-4


def test_a_grab_begins_where_live_is_and_live_goes_on_after_esc(
    live: ModuleType, addon: Addon
) -> None:
    """Enter ends it, for the pose below it is another one then."""
    obj, scene = tail(frame=0), bpy.context.scene
    session = live.start_live(scene, bpy.context.view_layer)
    scene.frame_set(0)
    for frame in range(1, 8):
        scene.frame_set(frame)
    start, played = now(obj), file_content()
    grab = begin(addon)
    np.testing.assert_allclose(grab.positions[0][3:], start[1:], atol=1e-6)
    grab.end()
    drag_tip(addon, seconds=0.2).end()
    assert file_content() == played
    np.testing.assert_array_equal(now(obj), start)
    scene.frame_set(8)
    assert live.session_of(scene) is session
    assert (session.last, session.stale) == (8, "")
    verlet.grab(body="Fox Bones", vertex=6, target=AWAY, radius=0.01, seconds=1.0)
    assert live.session_of(scene) is None
    assert np.linalg.norm(now(obj)[TIP] - AWAY) < NEAR


def test_bones_that_something_else_turns_are_named(addon: Addon) -> None:
    """Controls of Rigify turn its deforming bones, which show their pose again after a grab."""
    bones: list[Any] = [("hips", "", (0.0, 0.0, 1.0), (0.0, 0.0, 1.2))]
    bones += chain("tail", "hips", (0, 0, 1), (0, -0.3, 0), 3)
    bones += chain("DEF", "hips", (0, 0, 1), (0, -0.3, 0), 3)
    obj = armature(bones)
    for number in range(3):
        copied = obj.pose.bones[f"DEF.{number}"].constraints.new("COPY_TRANSFORMS")
        copied.target, copied.subtarget = obj, f"tail.{number}"
    soft(obj, "DEF.0")
    verlet.grab(body="Fox Bones", vertex=5, target=AWAY, seconds=1.0)
    kind, text = addon("blender.ui.messages")._last[0]
    assert kind == "WARNING"
    assert "DEF.0 and DEF.1" in text or "DEF.0, DEF.1" in text
    assert "cannot keep the pose, since constraints or drivers turn them" in text


def test_a_press_beside_a_bone_takes_its_free_end(addon: Addon) -> None:
    """Not those of its joints that follow the pose, which no drag could move."""
    tail()
    grab = begin(addon)
    assert grab.free[0].tolist() == 3 * [False] + 4 * [True]
    picking = addon("blender.live.picking")
    view, edges = np.diag([1.0, 1.0, 0.0, 1.0]), grab.drags[0].mesh.edges
    size = np.array([1000.0, 1000.0])
    places = grab.positions[0] @ [[0, 0, 0], [1, 0, 0], [0, 1, 0]] - [0.0, 1.0, 0.0]
    root = (places[2, :2] + 1.0) / 2.0 * size
    distance, vertex = picking.nearest_on_screen(view, size, root, places, edges, grab.free[0])
    assert (distance, vertex) == (pytest.approx(0.0, abs=1e-6), 3)
    grab.end()


def test_undo_takes_a_kept_pose_back() -> None:
    """In Pose Mode as in Object Mode."""
    obj = tail()
    bpy.ops.ed.undo_push(message="before")
    before = now(obj)
    verlet.grab("EXEC_DEFAULT", True, body="Fox Bones", vertex=6, target=AWAY, seconds=0.3)
    assert np.abs(now(obj) - before).max() > 0.02
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Fox"]
    assert obj.mode == "POSE"
    np.testing.assert_allclose(now(obj), before, atol=1e-6)
    select(obj, "tail.0")
    verlet.release_soft_bones()
