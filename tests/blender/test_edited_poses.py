"""A frame of a cache of soft bones that is posed by hand, and simulated on from there."""

from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from .rigs import LENGTH, fox, poses, swing, tips
from .scenes import verlet
from .test_edited_frames import ALL, ON
from .test_grab_bones import now
from .test_skirts import CHAINS, closed, skirt
from .test_soft_bones import at_first_frame, soft

FRAME = 9
TURN = 0.6
"""How far a bone is turned by hand [rad]."""


def baked_tail(tmp_path: Any, form: str = "CONSTRAINTS") -> Any:
    """A fox with a soft tail that swings, baked to a cache."""
    obj = fox(4)
    swing(obj, 0.5)
    body = soft(obj, "tail.0")
    body.verlet.bones_to = form
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 12
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "fox.blend"))
    verlet.bake(mode="CACHE", **ALL)
    return obj


def turn(obj: Any, name: str) -> None:
    """Turns a bone about its own axis, as the tool Rotate does."""
    bone = obj.pose.bones[name]
    bone.matrix_basis = bone.matrix_basis @ Matrix.Rotation(TURN, 4, "X")


def lengths(track: Any) -> Any:
    """(frames, bones) distances of successive tips [m]."""
    return np.linalg.norm(np.diff(track, axis=1), axis=2)


@pytest.mark.parametrize("form", ["CONSTRAINTS", "ACTION", "NLA"])
def test_a_pose_is_eased_in_and_the_tail_swings_on_from_it(form: str, tmp_path: Any) -> None:
    """Bones keep their lengths, frames before stay as they are, and no key of the edit is left."""
    obj = baked_tail(tmp_path, form)
    before = tips(obj, poses(obj))
    paths = len(bpy.data.actions)
    bpy.context.scene.frame_set(FRAME)
    verlet.edit_frame()
    np.testing.assert_allclose(now(obj), before[FRAME - 1], atol=1e-5)
    turn(obj, "tail.1")
    bpy.context.view_layer.update()
    wanted = now(obj)
    moved = np.linalg.norm(wanted - before[FRAME - 1], axis=1).max()
    assert moved > 0.3 * LENGTH
    verlet.bake(from_frame=FRAME, **ON)
    after = tips(obj, poses(obj))
    np.testing.assert_allclose(after[:3], before[:3], atol=1e-6)
    # Drawn by springs against those of the bones: a tenth is missing at their default.
    assert np.linalg.norm(after[FRAME - 1] - wanted, axis=1).max() < 0.15 * moved
    assert np.linalg.norm(after[-1] - before[-1], axis=1).max() > 0.01
    np.testing.assert_allclose(lengths(after[:, 1:]), LENGTH / 4, rtol=1e-4)
    assert len(bpy.data.actions) == paths
    assert bpy.data.objects["Fox Bones"].data.shape_keys is None
    verlet.clear_bake()
    assert obj.animation_data.action.name == "FoxAction"


@pytest.mark.parametrize("form", ["CONSTRAINTS", "NLA"])
def test_discarded_it_is_as_it_was(form: str, tmp_path: Any) -> None:
    """The cache is shown again, by constraints or by keys."""
    obj = baked_tail(tmp_path, form)
    before, content = poses(obj), at_first_frame()
    bpy.context.scene.frame_set(FRAME)
    verlet.edit_frame()
    turn(obj, "tail.1")
    verlet.discard_edit()
    np.testing.assert_allclose(poses(obj), before, atol=1e-6)
    if form == "CONSTRAINTS":
        assert at_first_frame() == content


def test_keys_that_are_set_at_the_frame_hold_it_after_a_look_elsewhere(tmp_path: Any) -> None:
    """As Auto Keying sets them; the bake may begin at any frame then."""
    obj = baked_tail(tmp_path)
    bpy.context.scene.frame_set(FRAME)
    verlet.edit_frame()
    turn(obj, "tail.1")
    obj.pose.bones["tail.1"].keyframe_insert("rotation_quaternion", frame=FRAME)
    bpy.context.view_layer.update()
    wanted = now(obj)
    bpy.context.scene.frame_set(3)
    verlet.bake(from_frame=FRAME, **ON)
    shown = tips(obj, poses(obj))[FRAME - 1]
    assert np.linalg.norm(shown - wanted, axis=1).max() < 0.15 * 0.44 * LENGTH
    with pytest.raises(RuntimeError, match="edited frame 4, none is; go to that frame, and"):
        verlet.bake(from_frame=4, **ON)


def test_without_a_change_it_moves_on_as_it_did(tmp_path: Any) -> None:
    obj = baked_tail(tmp_path)
    before = poses(obj)
    bpy.context.scene.frame_set(FRAME)
    verlet.edit_frame()
    verlet.bake(from_frame=FRAME, **ON)
    np.testing.assert_allclose(poses(obj), before, atol=1e-4)


def test_clear_bake_takes_an_edited_pose_along(tmp_path: Any) -> None:
    """The file is as before the bake."""
    obj = baked_tail(tmp_path)
    verlet.clear_bake()
    before = at_first_frame()
    verlet.bake(mode="CACHE", **ALL)
    bpy.context.scene.frame_set(FRAME)
    verlet.edit_frame()
    turn(obj, "tail.2")
    verlet.clear_bake()
    assert at_first_frame() == before


def test_a_skirt_goes_on_from_an_edited_pose(tmp_path: Any) -> None:
    """As cloth it follows a chain that is lifted by hand."""
    obj = skirt()
    swing(obj, 0.5)
    closed(obj)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 12
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "fox.blend"))
    verlet.bake(mode="CACHE", **ALL)
    names = [bone.name for bone in obj.pose.bones]
    chain = [names.index(f"skirt0.{n}") for n in range(3)]
    before = tips(obj, poses(obj))
    scene.frame_set(FRAME)
    verlet.edit_frame()
    for number in range(CHAINS):
        if number in (CHAINS - 1, 0, 1):
            turn(obj, f"skirt{number}.0")
    bpy.context.view_layer.update()
    wanted = now(obj)[chain]
    verlet.bake(from_frame=FRAME, **ON)
    after = tips(obj, poses(obj))
    way = np.linalg.norm(wanted - before[FRAME - 1, chain], axis=1).max()
    off = np.linalg.norm(after[FRAME - 1, chain] - wanted, axis=1).max()
    assert way > 0.1
    assert off < 0.5 * way
    np.testing.assert_allclose(after[:3], before[:3], atol=1e-6)
