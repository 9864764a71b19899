"""Drape on soft bones: joints settle off the timeline, and are kept as a pose."""

from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from .rigs import fox, pose_at, swing, tips
from .scenes import file_content, verlet
from .test_grab_bones import now
from .test_skirts import CHAINS, closed, skirt
from .test_soft_bones import soft


def tail(**settings: Any) -> Any:
    """A fox with a level tail that has not been drawn with its weight."""
    obj = fox(4)
    body: Any = soft(obj, "tail.0", **settings)
    body.verlet.use_pose_gravity = False
    return obj


def test_a_tail_without_gravity_in_its_pose_sags_and_is_kept_as_a_pose() -> None:
    """To 0.01 mm, without drape, constraints and shape keys."""
    obj = tail()
    level = now(obj)
    assert verlet.drape() == {"FINISHED"}
    shown = now(obj)
    assert shown[-1, 2] < level[-1, 2] - 0.03
    assert verlet.apply_shape(mode="POSE") == {"FINISHED"}
    body = bpy.data.objects["Fox Bones"]
    assert not body.modifiers
    assert body.data.shape_keys is None
    assert not obj.pose.bones["tail.2"].constraints
    np.testing.assert_allclose(now(obj), shown, atol=1e-5)


def test_with_gravity_in_its_pose_a_drape_leaves_a_pose_that_touches_nothing() -> None:
    """Whoever drew it drew it with its weight."""
    obj = tail()
    body: Any = bpy.data.objects["Fox Bones"]
    body.verlet.use_pose_gravity = True
    before = now(obj)
    verlet.drape()
    np.testing.assert_allclose(now(obj), before, atol=1e-5)


def test_discard_leaves_the_file_as_it_was() -> None:
    obj = tail()
    before, start = file_content(), now(obj)
    verlet.drape(seconds=0.5)
    assert obj.pose.bones["tail.2"].constraints
    verlet.reset()
    bpy.context.view_layer.update()
    assert file_content() == before
    np.testing.assert_array_equal(now(obj), start)


def test_a_skirt_is_draped_over_a_ball_that_stands_in_it() -> None:
    """Its pose goes through the ball, and its joints come to lie on that."""
    obj = skirt()
    closed(obj, radius=0.01)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.mesh.primitive_uv_sphere_add(radius=RADIUS, location=MIDDLE)
    verlet.make_collider()
    bpy.context.view_layer.objects.active = obj
    names = [bone.name for bone in obj.pose.bones]
    ends = [names.index(f"skirt{n}.{part}") for n in range(CHAINS) for part in range(3)]
    assert deepest(now(obj)[ends]) > 0.02
    verlet.drape(seconds=0.5)
    shown = now(obj)
    assert deepest(shown[ends]) < 0.0
    verlet.apply_shape(mode="POSE")
    np.testing.assert_allclose(now(obj), shown, atol=1e-5)


MIDDLE, RADIUS = (0.0, 0.0, 0.75), 0.22
"""A ball within a skirt."""


def deepest(places: Any) -> float:
    """How far the deepest of places is within the ball."""
    return float(RADIUS - np.linalg.norm(places - MIDDLE, axis=1).min())


def test_what_live_shows_is_kept_as_a_keyed_pose(live: ModuleType) -> None:
    """Live ends, and the frame shows the same from then on."""
    obj, scene = fox(4), bpy.context.scene
    swing(obj, 0.5)
    soft(obj, "tail.0")
    for number in range(4):
        obj.pose.bones[f"tail.{number}"].keyframe_insert("rotation_quaternion", frame=0)
    scene.frame_set(0)
    live.start_live(scene, bpy.context.view_layer)
    for frame in range(9):
        scene.frame_set(frame)
    shown = now(obj)
    verlet.apply_shape(mode="POSE")
    assert live.session_of(scene) is None
    np.testing.assert_allclose(tips(obj, pose_at(obj, 8)), shown, atol=1e-5)


def test_meshes_are_applied_apart_from_poses() -> None:
    """Soft bones are no mesh to apply, and a mesh has no pose."""
    tail()
    verlet.drape(seconds=0.2)
    with pytest.raises(RuntimeError, match="No mesh shows a simulation; select one that does"):
        verlet.apply_shape(mode="MESH")
