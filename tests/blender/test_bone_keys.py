"""Bakes of soft bones as keys, in a new action or in the NLA: what constraints show."""

import shlex
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from .rigs import armature, chain, fox, pose_at, poses, select, swing, tips
from .scenes import ball, select as select_objects, verlet
from .test_soft_bones import at_first_frame, soft, turn, vertices


def mixed(count: int = 4) -> Any:
    """A fox whose bones have several rotation modes, one of them keyed by the animator."""
    obj = fox(count)
    swing(obj, 0.5)
    for bone, mode in zip(
        obj.pose.bones[1:], ("QUATERNION", "XZY", "AXIS_ANGLE", "XYZ"), strict=True
    ):
        bone.rotation_mode = mode
    wagged = obj.pose.bones["tail.1"]
    for frame, angle in ((0, 0.0), (6, 0.5), (12, -0.5)):
        wagged.rotation_euler = 0.0, 0.1, angle
        wagged.keyframe_insert("rotation_euler", frame=frame)
    return obj


def curves(action: Any) -> set[str]:
    """Paths of the curves of an action that an armature plays."""
    if hasattr(action, "fcurves"):
        return {curve.data_path for curve in action.fcurves}
    strip = action.layers[0].strips[0]
    return {curve.data_path for bag in strip.channelbags for curve in bag.fcurves}


@pytest.mark.parametrize("form", ["ACTION", "NLA"])
@pytest.mark.parametrize("mode", ["RELATIVE", "CACHE"])
def test_keys_are_what_constraints_show(form: str, mode: str, tmp_path: Any) -> None:
    """To 0.01 mm and 0.01°; other bones exactly; and Clear Bake leaves the file as it was."""
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "fox.blend"))
    obj = mixed()
    body = soft(obj, "tail.0")
    body.verlet.bones_to = form
    before, keyed = at_first_frame(), poses(obj)
    body.verlet.bones_to = "CONSTRAINTS"
    verlet.bake(mode=mode)
    shown = poses(obj)
    assert np.abs(shown - keyed).max() > 0.02
    body.verlet.bones_to = form
    verlet.bake(mode=mode)
    assert not any(len(bone.constraints) for bone in obj.pose.bones)
    again = poses(obj)
    assert np.linalg.norm(again[..., :3, 3] - shown[..., :3, 3], axis=2).max() < 1e-5
    assert turn(again[..., :3, :3], shown[..., :3, :3]).max() < np.radians(0.01)
    np.testing.assert_array_equal(again[:, 0], shown[:, 0])
    verlet.clear_bake()
    np.testing.assert_array_equal(poses(obj), keyed)
    assert at_first_frame() == before


def test_the_action_of_the_animator_stays_as_it_is() -> None:
    """Only rotations of soft bones are keyed, and in the NLA nothing else is in our action."""
    obj = mixed()
    own = obj.animation_data.action
    paths = curves(own)
    body = soft(obj, "tail.0")
    body.verlet.bones_to = "NLA"
    verlet.bake()
    assert curves(own) == paths
    assert obj.animation_data.action is None
    top = obj.animation_data.nla_tracks[-1].strips[0]
    added = curves(top.action)
    assert all("tail" in path and "rotation" in path for path in added)
    assert len(added) == 4
    body.verlet.bones_to = "ACTION"
    verlet.bake()
    assert not obj.animation_data.nla_tracks
    assert curves(obj.animation_data.action) == paths | added
    assert curves(own) == paths


def test_bakes_over_keys_read_the_pose_below_them() -> None:
    """A second bake is the same as the first; so is one after Live."""
    obj = mixed()
    body = soft(obj, "tail.0")
    body.verlet.bones_to = "ACTION"
    verlet.bake()
    first = poses(obj)
    verlet.bake()
    np.testing.assert_allclose(poses(obj), first, atol=1e-6)


def test_constraints_of_bones_act_on_the_pose_and_not_on_keys() -> None:
    """A limit that would stop the keys is muted while they show, and back after Clear Bake."""
    obj = mixed()
    limit = obj.pose.bones["tail.2"].constraints.new("LIMIT_ROTATION")
    limit.use_limit_x = limit.use_limit_z = True
    limit.owner_space = "LOCAL"
    body = soft(obj, "tail.0")
    verlet.bake()
    shown = poses(obj)
    body.verlet.bones_to = "ACTION"
    verlet.bake()
    assert limit.mute
    np.testing.assert_allclose(poses(obj), shown, atol=1e-5)
    verlet.clear_bake()
    assert not limit.mute


def test_inverse_kinematics_shape_the_pose_and_hide_nothing(said: Callable[[], list[str]]) -> None:
    """The tail swings about the pose that its solver gives; that is on again afterwards."""
    obj = fox(4)
    swing(obj, 0.5)
    target = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    target.location = 0.1, -0.2, 1.1
    solver = obj.pose.bones["tail.3"].constraints.new("IK")
    solver.target, solver.chain_count = target, 4
    keyed = poses(obj)
    body = soft(obj, "tail.0", frequency=3.0)
    before = at_first_frame()
    assert not any("also turns bones" in sentence for sentence in said())
    for form in ("CONSTRAINTS", "ACTION"):
        body.verlet.bones_to = form
        verlet.bake()
        assert solver.mute
        away = np.linalg.norm(poses(obj)[..., :3, 3] - keyed[..., :3, 3], axis=2)
        assert away[0].max() < 1e-5
        assert 0.01 < away.max() < 0.15
        verlet.clear_bake()
        assert not solver.mute
    body.verlet.bones_to = "CONSTRAINTS"
    assert at_first_frame() == before
    solver.chain_count = 0
    assert any("IK of tail.3 also turns bones of Fox" in sentence for sentence in said())


@pytest.mark.parametrize("form", ["CONSTRAINTS", "ACTION"])
def test_deforming_bones_that_copy_controls_swing_by_themselves(form: str) -> None:
    """As those of Rigify: controls stay keyed, and bones do not come apart."""
    bones: list[Any] = [("hips", "", (0.0, 0.0, 1.0), (0.0, 0.0, 1.2))]
    bones += chain("tail", "hips", (0, 0, 1), (0, -0.3, 0), 4)
    bones += chain("DEF", "hips", (0, 0, 1), (0, -0.3, 0), 4)
    obj = armature(bones)
    swing(obj, 0.5)
    for number in range(4):
        copied = obj.pose.bones[f"DEF.{number}"].constraints.new("COPY_TRANSFORMS")
        copied.target, copied.subtarget = obj, f"tail.{number}"
    keyed = tips(obj, poses(obj))
    body = soft(obj, "DEF.0")
    body.verlet.bones_to = form
    before = at_first_frame()
    verlet.bake()
    matrices = poses(obj)
    shown = tips(obj, matrices)
    np.testing.assert_array_equal(shown[:, :5], keyed[:, :5])
    assert np.linalg.norm(shown[:, 8] - keyed[:, 8], axis=1).max() > 0.02
    np.testing.assert_allclose(matrices[:, 6:, :3, 3], shown[:, 5:8], atol=1e-6)
    np.testing.assert_allclose(shown[:, 5:], vertices(body)[:, 3:], atol=1e-5)
    verlet.clear_bake()
    assert at_first_frame() == before


def test_it_is_told_of_a_collider_that_soft_bones_move(said: Callable[[], list[str]]) -> None:
    """Bones would start inside the skin that follows them."""
    obj = fox(2)
    soft(obj, "tail.0")
    skin = ball("Skin")
    skin.vertex_groups.new(name="tail.1").add([0], 1.0, "REPLACE")
    skin.modifiers.new("Armature", "ARMATURE").object = obj
    select_objects(skin)
    bpy.ops.object.mode_set(mode="OBJECT")
    verlet.make_collider()
    assert any("Skin, a collider, is skinned to soft bones of Fox" in each for each in said())
    skin.vertex_groups["tail.1"].name = "hips"
    assert not any("is skinned to" in each for each in said())


def test_keys_beside_those_of_a_bake_are_not_lost() -> None:
    """What the animator keys in the new action stays in the file after Clear Bake."""
    obj = mixed()
    body = soft(obj, "tail.0")
    body.verlet.bones_to = "ACTION"
    verlet.bake()
    keyed = obj.animation_data.action
    obj.pose.bones["hips"].keyframe_insert("scale", frame=5)
    verlet.clear_bake()
    assert obj.animation_data.action != keyed
    assert keyed.name in bpy.data.actions
    assert keyed.use_fake_user


@pytest.mark.parametrize("form", ["CONSTRAINTS", "ACTION", "NLA"])
def test_a_loop_repeats_before_and_after(form: str) -> None:
    """To 0.01 mm, with hips whose curves repeat: in the NLA they go on as before."""
    obj, scene = fox(4), bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 48
    hips = obj.pose.bones["hips"]
    hips.rotation_mode = "XYZ"
    for frame in range(1, 26):
        hips.rotation_euler = 0.0, 0.4 * np.sin(np.pi * frame / 12), 0.0
        hips.keyframe_insert("rotation_euler", frame=frame)
    action = obj.animation_data.action
    held = action if hasattr(action, "fcurves") else action.layers[0].strips[0].channelbags[0]
    for curve in held.fcurves:
        curve.modifiers.new("CYCLES")
    keyed = [pose_at(obj, frame) for frame in (40, 500)]
    body = soft(obj, "tail.0")
    body.verlet.bones_to = form
    verlet.bake(loop=24)
    start = body.verlet.baked_start
    shown = np.array([pose_at(obj, start + 24 * turn + 5) for turn in (0, 1, 7, -3)])
    np.testing.assert_allclose(shown, shown[:1].repeat(4, axis=0), atol=1e-5)
    assert np.abs(pose_at(obj, 40)[1:] - keyed[0][1:]).max() > 0.01
    for frame, before in zip((40, 500), keyed, strict=True):
        np.testing.assert_allclose(pose_at(obj, frame)[0], before[0], atol=1e-6)


def test_a_rig_without_keys_has_none_after_clear_bake() -> None:
    """It moves as an object, and its bones are where they were."""
    obj = fox(3)
    for frame, place in ((1, 0.0), (8, 0.3), (16, 0.0)):
        obj.location.x = place
        obj.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 16
    body = soft(obj, "tail.0")
    for form in ("ACTION", "NLA"):
        body.verlet.bones_to = form
        before, keyed = at_first_frame(), poses(obj)
        verlet.bake()
        assert np.abs(poses(obj) - keyed).max() > 0.01
        verlet.clear_bake()
        np.testing.assert_array_equal(poses(obj), keyed)
        assert at_first_frame() == before
    select(obj, "tail.0")
    verlet.release_soft_bones()
    assert "Fox Bones" not in bpy.data.objects


def test_the_command_line_keys_bones(
    cli: ModuleType, printed: Callable[[], Any], tmp_path: Path
) -> None:
    """The same as a bake in the interface; and another form of the bake keeps the motion."""
    source, output, other = (str(tmp_path / f"{name}.blend") for name in ("fox", "keyed", "other"))
    obj = mixed()
    soft(obj, "tail.0")
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.wm.save_as_mainfile(filepath=source)
    verlet.bake()
    shown = poses(obj)
    assert cli.main(["bake", source, "--output", output, "--bones", "ACTION", "--json"]) == 0
    for path in (output, other):
        bpy.ops.wm.open_mainfile(filepath=path)
        keyed = bpy.data.objects["Fox"]
        assert keyed.animation_data.action.name.endswith("Soft Bones")
        assert not keyed.pose.bones["tail.1"].constraints
        np.testing.assert_allclose(poses(keyed), shown, atol=1e-5)
        assert cli.main(["convert", output, "--output", other, "--mode", "absolute"]) == 0
    printed()


@pytest.mark.parametrize("form", ["CONSTRAINTS", "ACTION", "NLA"])
def test_a_bake_to_a_cache_goes_on_whatever_shows_it(form: str, tmp_path: Path) -> None:
    """Its keys are none of its inputs: nothing has changed, and it ends as in one go."""
    obj = mixed()
    driver = obj.pose.bones["tail.2"].driver_add("rotation_euler", 0)
    driver.driver.expression = "0.1"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "fox.blend"))
    body = soft(obj, "tail.0")
    body.verlet.bones_to = form
    verlet.bake(mode="CACHE", frame_start=0, frame_end=5)
    changed = import_module("verlet_addon.blender.bake.record").changes_since_bake
    assert changed(bpy.context.scene, bpy.context.view_layer) == {}
    verlet.bake(mode="CACHE", frame_start=0, frame_end=9, resume=True)
    resumed = poses(obj)[:10]
    verlet.bake(mode="CACHE", frame_start=0, frame_end=9)
    np.testing.assert_array_equal(poses(obj)[:10], resumed)
    obj.pose.bones["hips"].location.x = 0.3
    obj.pose.bones["hips"].keyframe_insert("location", frame=3)
    names = changed(bpy.context.scene, bpy.context.view_layer)
    assert names == ({} if form == "ACTION" else {"Fox Bones": ["Fox changed"]})


@pytest.mark.parametrize("form", ["openjd", "flamenco", "commands"])
def test_a_farm_keys_bones(
    cli: ModuleType, printed: Callable[[], Any], tmp_path: Path, form: str
) -> None:
    """Each format of a job hands the option on, and a line of commands bakes by it."""
    source, job, out = tmp_path / "fox.blend", tmp_path / "job", tmp_path / "out"
    soft(mixed(), "tail.0")
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.wm.save_as_mainfile(filepath=str(source))
    options = ["--format", form, "--output", str(job), "--output-dir", str(out)]
    assert cli.main(["job", str(source), *options, "--bones", "ACTION"]) == 0
    text = (job / "template.json" if form == "openjd" else job).read_text("utf-8")
    assert "--bones=action" in text or "--bones action" in text
    if form == "commands":
        words = shlex.split(text)
        assert cli.main(words[words.index("bake") :]) == 0
        bpy.ops.wm.open_mainfile(filepath=str(out / "fox.blend"))
        keyed = bpy.data.objects["Fox"]
        assert keyed.animation_data.action.name.endswith("Soft Bones")
        assert not keyed.pose.bones["tail.1"].constraints
    printed()
