"""Live simulation: frame changes simulate what a bake would, and nothing of the user's changes."""

from collections.abc import Callable
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


def played(start: int, end: int, obj: Any) -> list[Any]:
    """Where a body is shown at each frame, the timeline going through all of them once."""
    return [shown(obj, frame) for frame in range(start, end + 1)]


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


def keyed_damping(cloth: Any) -> None:
    """A setting with other values at other frames."""
    cloth.verlet.keyframe_insert("damping", frame=1)
    cloth.verlet.damping = 5.0
    cloth.verlet.keyframe_insert("damping", frame=END)


def finished(cloth: Any) -> None:
    """Modifiers that change the simulated mesh."""
    cloth.modifiers.new("Subdivision", "SUBSURF").levels = 1
    cloth.modifiers.new("Solidify", "SOLIDIFY")


def own_keys(cloth: Any) -> None:
    """The user's shape keys, mixed and animated."""
    cloth.shape_key_add(name="Basis")
    for number in (5, 30):
        key = cloth.shape_key_add(name="Own", from_mix=False)
        key.data[number].co.z += 0.1
        key.value = 0.3
    key.keyframe_insert("value", frame=1)
    key.value = 0.9
    key.keyframe_insert("value", frame=END)


def moved(cloth: Any) -> None:
    """An object that is animated, rotated and scaled."""
    cloth.rotation_euler, cloth.scale = (0.1, 0.2, 0.3), (1.0, 1.3, 0.7)
    cloth.keyframe_insert("location", frame=1)
    cloth.location.x = 0.5
    cloth.keyframe_insert("location", frame=END)


def stretched(old: int, new: int) -> Callable[[Any], None]:
    """Time Stretching, by which frames of the scene are not those of curves."""

    def change(_cloth: Any) -> None:
        render: Any = bpy.context.scene.render
        render.frame_map_old, render.frame_map_new = old, new

    return change


def frame_rate(_cloth: Any) -> None:
    """A frame rate that is no whole number."""
    render = bpy.context.scene.render
    render.fps, render.fps_base = 30, 1.001


def slow_motion(_cloth: Any) -> None:
    """An animated time scale."""
    settings: Any = bpy.context.scene.verlet
    settings.keyframe_insert("time_scale", frame=1)
    settings.time_scale = 0.2
    settings.keyframe_insert("time_scale", frame=END)


def settling(_cloth: Any) -> None:
    """Frames that are simulated before the first one."""
    settings: Any = bpy.context.scene.verlet
    settings.settle_frames = 5


def frames(start: int, end: int) -> Callable[[Any], None]:
    """Another range of frames, by the preview range if it begins before frame 0."""

    def change(_cloth: Any) -> None:
        scene = bpy.context.scene
        scene.use_preview_range = start < 0
        if start < 0:
            scene.frame_preview_start, scene.frame_preview_end = start, end
        else:
            scene.frame_start, scene.frame_end = start, end

    return change


SCENES: dict[str, Callable[[Any], Any]] = {
    "a collider": lambda _: moving_ball(),
    "an armature": with_armature,
    "finished": finished,
    "own keys": own_keys,
    "a moved object": moved,
    "a keyed setting": keyed_damping,
    "longer": stretched(100, 200),
    "much longer": stretched(100, 170),
    "shorter": stretched(200, 100),
    "a frame rate": frame_rate,
    "slow motion": slow_motion,
    "settling": settling,
    "a later start": frames(5, 12),
    "an early start": frames(-3, 4),
}
CARRIED = {"an armature"}
"""Scenes in which carriers round what a bake shows."""


@pytest.mark.parametrize("kind", SCENES)
def test_live_is_the_bake_to_the_bit(
    kind: str, scene: Any, live: ModuleType, addon: Callable[[str], ModuleType]
) -> None:
    cloth = hung_cloth()
    SCENES[kind](cloth)
    start, end = addon("blender.bake.bake").frame_range(scene)
    scene.frame_set(start)
    scene.verlet.use_live = True
    lively = played(start, end, cloth)
    frames = [frame.positions[0] for frame in live.session_of(scene).frames]
    assert same(lively, played(start, end, cloth))
    verlet.reset()
    stored = list(
        addon("blender.bake.bake").bake(
            scene, bpy.context.view_layer, [cloth], frame_start=start, frame_end=end
        )
    )
    assert len(frames) == end - start + 1
    stored = [progress.positions[0] for progress in stored[-len(frames) :]]
    assert all(np.array_equal(a, b) for a, b in zip(frames, stored, strict=True))
    for now, then in zip(played(start, end, cloth), lively, strict=True):
        assert np.allclose(now, then, rtol=0.0, atol=1e-5 if kind in CARRIED else 0.0)


def same(first: list[Any], second: list[Any]) -> bool:
    """Whether a body is shown at the same places at each of as many frames."""
    return all(np.array_equal(*each) for each in zip(first, second, strict=True))


def test_frames_once_simulated_are_shown_in_any_order(scene: Any, live: ModuleType) -> None:
    cloth = hung_cloth()
    scene.verlet.use_live = True
    lively = played(1, END, cloth)
    session = live.session_of(scene)
    for frame in (5, 2, END, 1):
        assert np.array_equal(shown(cloth, frame), lively[frame - 1])
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
    played(1, END, cloth)
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
    before = played(1, END, cloth)
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
    after = played(1, END, cloth)
    second = live.session_of(scene)
    assert second is not first
    assert not second.stale
    assert second.last == END
    if change != "body":
        assert not np.allclose(before[-1], after[-1], atol=1e-6)


def test_another_object_that_moves_changes_nothing(scene: Any, live: ModuleType) -> None:
    cloth, other = hung_cloth(), sheet("Other", height=4.0)
    scene.verlet.use_live = True
    played(1, END, cloth)
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
    lively = played(1, END, cloth)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"))
    assert live.session_of(scene).last == END
    assert not live.session_of(scene).stale
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "saved.blend"))
    cloth, scene = bpy.data.objects["Cloth"], bpy.context.scene
    assert not scene.verlet.use_live
    assert live.session_of(scene) is None
    assert np.array_equal(shown(cloth, 5), lively[4])
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


@pytest.mark.usefixtures("live")
def test_frames_after_the_last_one_show_it_as_those_of_a_bake_do(scene: Any) -> None:
    cloth = hung_cloth()
    scene.verlet.use_live = True
    lively = played(1, END + 2, cloth)
    verlet.reset()
    verlet.bake()
    assert same(lively, played(1, END + 2, cloth))


def test_a_bake_that_is_seen_is_not_said_to_be_hidden_while_live(
    scene: Any, live: ModuleType, said: Callable[[], list[str]]
) -> None:
    cloth = hung_cloth()
    tree: Any = bpy.data.node_groups.new("Through", "GeometryNodeTree")
    for in_out in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=in_out, socket_type="NodeSocketGeometry")
    ends = [tree.nodes.new(f"NodeGroup{kind}") for kind in ("Input", "Output")]
    tree.links.new(ends[0].outputs[0], ends[1].inputs[0])
    cloth.modifiers.new("Nodes", "NODES").node_group = tree
    before = said()
    scene.verlet.use_live = True
    played(1, END, cloth)
    assert live.session_of(scene) is not None
    assert said() == before


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
    played(1, END, cloth)
    cloth.verlet.bend_compliance = 1.0
    verlet.bake()
    found = baked(cloth)
    assert live.session_of(scene) is None
    assert not cloth.modifiers
    verlet.clear_bake()
    verlet.bake()
    assert all(np.array_equal(found[name], points) for name, points in baked(cloth).items())
