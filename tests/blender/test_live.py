"""Live simulation: frame changes simulate what a bake would, and nothing of the user's changes."""

from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.scenes import (
    baked,
    ball,
    body,
    file_content,
    pin,
    select,
    sheet,
    shown,
    verlet,
)

END = 8


@pytest.fixture
def live(addon: Callable[[str], ModuleType]) -> Iterator[ModuleType]:
    """The control of live simulations, which all end with the test."""
    control = addon("blender.live.control")
    yield control
    control.end_live(bpy.context.scene)


@pytest.fixture
def scene() -> Any:
    """A scene of a few frames."""
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, END
    bpy.context.scene.frame_set(1)
    return bpy.context.scene


def hung_cloth(**settings: Any) -> Any:
    """A cloth that hangs from two corners."""
    cloth = body(sheet("Cloth", resolution=6, height=2.0), **settings)
    pin(cloth, [0, 6])
    return cloth


def moving_ball() -> Any:
    """A collider that moves into the cloth."""
    obstacle = ball()
    obstacle.scale = (0.2, 0.2, 0.2)
    obstacle.location = (0.5, 0.5, 1.6)
    obstacle.keyframe_insert("location", frame=1)
    obstacle.location.z = 2.2
    obstacle.keyframe_insert("location", frame=END)
    obstacle.modifiers.new("Collision", "COLLISION")
    return obstacle


def played(scene: Any, *objects: Any) -> list[Any]:
    """Where bodies are shown at each frame, the timeline going through all of them once."""
    numbers = range(scene.frame_start, scene.frame_end + 1)
    return [[shown(obj, frame) for obj in objects] for frame in numbers]


def world_of_bake(scene: Any, *objects: Any) -> list[Any]:
    """Where bodies are shown at each frame of a bake."""
    verlet.bake()
    return played(scene, *objects)


def with_armature(cloth: Any) -> Any:
    """The cloth, whose pins an armature carries along."""
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    bone = rig.data.edit_bones.new("Bone")
    bone.head, bone.tail = (0, 0, 0), (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    cloth.vertex_groups.new(name="Bone").add([0, 6], 1.0, "REPLACE")
    cloth.modifiers.new("Armature", "ARMATURE").object = rig
    pose = rig.pose.bones["Bone"]
    pose.keyframe_insert("location", frame=1)
    pose.location = (0.3, 0.2, 0.0)
    pose.keyframe_insert("location", frame=END)
    select(cloth)
    return cloth


@pytest.mark.parametrize("kind", ["collider", "armature", "finished", "keyed setting"])
def test_live_is_the_bake_to_the_bit(
    kind: str, scene: Any, live: ModuleType, addon: Callable[[str], ModuleType]
) -> None:
    cloth = hung_cloth()
    if kind == "collider":
        moving_ball()
    if kind == "armature":
        with_armature(cloth)
    if kind == "finished":
        cloth.modifiers.new("Subdivision", "SUBSURF").levels = 1
        cloth.modifiers.new("Solidify", "SOLIDIFY")
    if kind == "keyed setting":
        cloth.verlet.keyframe_insert("damping", frame=1)
        cloth.verlet.damping = 5.0
        cloth.verlet.keyframe_insert("damping", frame=END)
    scene.verlet.use_live = True
    played(scene, cloth)
    lively = [frame.positions[0] for frame in live.session_of(scene).frames]
    verlet.reset()
    bake = addon("blender.bake.bake").bake(
        scene, bpy.context.view_layer, [cloth], frame_start=1, frame_end=END
    )
    stored = [progress.positions[0] for progress in bake]
    assert len(lively) == END
    assert all(np.array_equal(a, b) for a, b in zip(lively, stored, strict=True))


@pytest.mark.usefixtures("live")
def test_what_live_shows_is_what_the_bake_shows(scene: Any) -> None:
    cloth = hung_cloth()
    moving_ball()
    scene.verlet.use_live = True
    lively = played(scene, cloth)
    assert not baked(cloth)
    verlet.reset()
    for now, then in zip(world_of_bake(scene, cloth), lively, strict=True):
        assert np.allclose(now[0], then[0], atol=1e-5)


def test_frames_once_simulated_are_shown_in_any_order(scene: Any, live: ModuleType) -> None:
    cloth = hung_cloth()
    scene.verlet.use_live = True
    lively = played(scene, cloth)
    session = live.session_of(scene)
    for frame in (5, 2, END, 1):
        assert np.array_equal(shown(cloth, frame), lively[frame - 1][0])
    assert live.session_of(scene) is session
    assert session.last == END


@pytest.mark.usefixtures("live")
def test_reset_leaves_everything_as_it_was(scene: Any) -> None:
    cloth = hung_cloth()
    cloth.modifiers.new("Subdivision", "SUBSURF")
    moving_ball()
    scene.frame_set(3)
    before = file_content()
    scene.verlet.use_live = True
    played(scene, cloth)
    assert file_content() != before
    verlet.reset()
    scene.frame_set(3)
    assert file_content() == before
    assert not scene.verlet.use_live


@pytest.mark.parametrize("change", ["setting", "pins", "collider", "mesh", "body", "scene"])
def test_what_is_changed_makes_live_begin_anew(change: str, scene: Any, live: ModuleType) -> None:
    cloth, obstacle = hung_cloth(), moving_ball()
    other = sheet("Other", height=4.0)
    scene.verlet.use_live = True
    before = played(scene, cloth)
    first = live.session_of(scene)
    if change == "setting":
        cloth.verlet.bend_compliance = 1.0
    if change == "pins":
        cloth.vertex_groups["Pin"].add([3], 1.0, "REPLACE")
    if change == "collider":
        obstacle.scale = (0.3, 0.3, 0.3)
    if change == "mesh":
        cloth.data.vertices[24].co.z += 0.2
        cloth.data.update()
    if change == "body":
        body(other)
    if change == "scene":
        scene.gravity.z = -3.0
    bpy.context.view_layer.update()
    scene.frame_set(END)
    assert first.stale
    after = played(scene, cloth)
    second = live.session_of(scene)
    assert second is not first
    assert not second.stale
    assert second.last == END
    if change != "body":
        assert not np.allclose(before[-1][0], after[-1][0], atol=1e-6)


def test_another_object_that_moves_changes_nothing(scene: Any, live: ModuleType) -> None:
    cloth, other = hung_cloth(), sheet("Other", height=4.0)
    scene.verlet.use_live = True
    played(scene, cloth)
    session = live.session_of(scene)
    scene.frame_set(END)
    other.location.x = 2.0
    bpy.context.view_layer.update()
    scene.frame_set(1)
    assert live.session_of(scene) is session
    assert not session.stale


def test_a_file_saved_while_live_plays_by_itself(
    scene: Any, live: ModuleType, tmp_path: Path
) -> None:
    cloth = hung_cloth()
    scene.verlet.use_live = True
    lively = played(scene, cloth)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"))
    assert live.session_of(scene).last == END
    assert not live.session_of(scene).stale
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "saved.blend"))
    cloth, scene = bpy.data.objects["Cloth"], bpy.context.scene
    assert not scene.verlet.use_live
    assert live.session_of(scene) is None
    assert np.array_equal(shown(cloth, 5), lively[4][0])
    verlet.reset()
    assert not cloth.modifiers


def test_what_cannot_be_simulated_ends_live_and_says_why(scene: Any, live: ModuleType) -> None:
    cloth = hung_cloth()
    cloth.verlet.pin_group = "Gone"
    before = file_content()
    scene.verlet.use_live = True
    scene.frame_set(1)
    assert "Cloth has no vertex group Gone" in live.message_of(scene)
    assert live.session_of(scene) is None
    assert file_content() == before


@pytest.mark.parametrize("played_to", [4, END])
def test_a_bake_takes_over_what_is_simulated(
    played_to: int, scene: Any, live: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    cloth = hung_cloth()
    moving_ball()
    verlet.bake()
    wanted = baked(cloth)
    verlet.clear_bake()
    scene.verlet.use_live = True
    for frame in range(1, played_to + 1):
        scene.frame_set(frame)
    simulation = live.session_of(scene).simulation
    steps: list[int] = []
    advance = type(simulation).advance

    def counted(self: Any, sample: Any) -> Any:
        steps.append(sample.frame)
        return advance(self, sample)

    monkeypatch.setattr(type(simulation), "advance", counted)
    verlet.bake()
    assert len(steps) == END - played_to
    assert live.session_of(scene) is None
    assert not cloth.modifiers
    found = baked(cloth)
    assert found.keys() == wanted.keys()
    assert all(np.array_equal(found[name], wanted[name]) for name in wanted)


def test_a_bake_ends_live_that_no_longer_holds(scene: Any, live: ModuleType) -> None:
    cloth = hung_cloth()
    scene.verlet.use_live = True
    played(scene, cloth)
    cloth.verlet.bend_compliance = 1.0
    verlet.bake()
    found = baked(cloth)
    assert live.session_of(scene) is None
    assert not cloth.modifiers
    verlet.clear_bake()
    verlet.bake()
    assert all(np.array_equal(found[name], points) for name, points in baked(cloth).items())
