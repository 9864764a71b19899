"""A frame of a cache that is sculpted by hand, and simulated on from there."""

from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.scenes import ball, body, pin, sheet, shown, verlet

ALL = {"frame_start": 1, "frame_end": 12}
ON: dict[str, Any] = {"mode": "CACHE", "resume": True, "edited": True, **ALL}


@pytest.fixture
def flag(tmp_path: Any) -> Any:
    """A flag that swings, baked to a cache, without a shape key."""
    obj = body(sheet("Flag", height=3.0))
    pin(obj, [0, 4])
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "flag.blend"))
    verlet.bake(mode="CACHE", **ALL)
    return obj


def track(obj: Any) -> Any:
    """(12, n, 3) what is shown."""
    return np.array([shown(obj, frame) for frame in range(1, 13)])


def sculpt(obj: Any, vertex: int, by: Any) -> None:
    """Moves a vertex of the active shape key."""
    point = obj.active_shape_key.points[vertex] if hasattr(obj.active_shape_key, "points") else None
    point = point or obj.active_shape_key.data[vertex]
    point.co = [at + off for at, off in zip(point.co, by, strict=True)]


def lengths(obj: Any, frames: Any) -> Any:
    """(f, e) lengths of the edges at each frame."""
    ends = np.array([edge.vertices[:] for edge in obj.data.edges])
    return np.linalg.norm(np.diff(frames[:, ends], axis=2)[:, :, 0], axis=2)


def largest_steps(frames: Any) -> Any:
    """(f − 1,) how far a vertex moves at most from each frame to the next."""
    return np.linalg.norm(np.diff(frames, axis=0), axis=2).max(axis=1)


def test_an_edit_is_eased_in_and_keeps_the_lengths(flag: Any) -> None:
    """No edge is stretched in it or after it, as in a grab, and no vertex jumps."""
    before, by = track(flag), np.array((0.0, 0.1, 0.3))
    bpy.context.scene.frame_set(9)
    verlet.edit_frame()
    assert flag.active_shape_key.name == "Edited 9"
    assert shown(flag, 9) == pytest.approx(before[8], abs=1e-6)
    sculpt(flag, 22, by)
    wanted = shown(flag, 9)
    verlet.bake(from_frame=9, **ON)
    after = track(flag)
    np.testing.assert_array_equal(after[:3], before[:3])
    assert np.abs(after[3:9] - before[3:9]).max(axis=(1, 2)).all()
    # Drawn by springs against weight and lengths, it comes most of the way.
    assert np.linalg.norm(after[8, 22] - wanted[22]) < 0.25 * np.linalg.norm(by)
    # As a grab may stretch a cloth at default Substeps.
    assert (lengths(flag, after) / lengths(flag, before)[0]).max() < 1.02
    # The motion's own step, and an even share of the edit, twice at the steepest of its easing.
    assert (largest_steps(after)[:8] < largest_steps(before)[:8] + 2.0 / 6 * 0.32).all()
    assert largest_steps(after)[8:].max() < largest_steps(before).max() + 2.0 / 6 * 0.32
    assert flag.data.shape_keys is None


def test_more_frames_ease_an_edit_in_from_earlier_on(flag: Any) -> None:
    before = track(flag)
    bpy.context.scene.frame_set(9)
    verlet.edit_frame()
    sculpt(flag, 22, (0.0, 0.1, 0.3))
    verlet.bake(from_frame=9, ease_frames=2, **ON)
    differing = np.abs(track(flag) - before).max(axis=(1, 2)) > 0
    assert differing.tolist() == 7 * [False] + 5 * [True]


def test_without_an_edit_it_moves_on_as_it_did(flag: Any) -> None:
    """Velocities are kept: what is not sculpted goes on as before, to the rounding of a key."""
    before = track(flag)
    bpy.context.scene.frame_set(6)
    verlet.edit_frame()
    verlet.bake(from_frame=6, **ON)
    assert track(flag) == pytest.approx(before, abs=1e-5)


def test_all_of_a_body_moved_falls_on_elsewhere(tmp_path: Any) -> None:
    """A cloth in free fall that is set aside arrives there, and falls as fast as it did."""
    bpy.context.scene.verlet.use_ground = False
    obj = body(sheet("Cloth", height=9.0), damping=0.0)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    verlet.bake(mode="CACHE", **ALL)
    before = track(obj)
    bpy.context.scene.frame_set(8)
    verlet.edit_frame()
    for point in obj.active_shape_key.data:
        point.co.x += 0.5
    verlet.bake(from_frame=8, **ON)
    moved = track(obj) - before
    assert moved[7] == pytest.approx(np.broadcast_to((0.5, 0.0, 0.0), moved[7].shape), abs=0.1)
    assert np.abs(np.diff(moved[7:, :, 2], axis=0)).max() < 0.02


def test_a_bake_resumed_later_goes_on_from_the_edit(flag: Any) -> None:
    """Cut after the edit and resumed it is as without the cut."""
    bpy.context.scene.frame_set(6)
    verlet.edit_frame()
    sculpt(flag, 22, (0.0, 0.1, 0.3))
    verlet.bake(mode="CACHE", resume=True, edited=True, from_frame=6, frame_start=1, frame_end=8)
    verlet.bake(mode="CACHE", resume=True, **ALL)
    resumed = track(flag)
    bpy.context.scene.frame_set(6)
    verlet.bake(mode="CACHE", resume=True, from_frame=9, **ALL)
    np.testing.assert_array_equal(track(flag), resumed)


def test_jelly_and_own_keys_go_on_from_an_edit_too(tmp_path: Any) -> None:
    """The user's keys stay, and so do their values; the body is turned and scaled."""
    bpy.context.scene.verlet.use_ground = False
    obj = body(ball("Jelly"), body_type="SOFT")
    obj.rotation_euler, obj.scale = (0.3, 0.2, 0.1), (1.0, 1.5, 0.8)
    obj.shape_key_add(name="Basis")
    own = obj.shape_key_add(name="Mine")
    own.data[0].co.x += 0.5
    own.value = 0.4
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    verlet.bake(mode="CACHE", **ALL)
    bent = shown(obj, 5)
    verlet.edit_frame()
    sculpt(obj, 4, (0.0, 0.0, 0.3))
    wanted = shown(obj, 5)
    verlet.bake(from_frame=5, **ON)
    assert np.linalg.norm(shown(obj, 5)[4] - wanted[4]) < np.linalg.norm(bent[4] - wanted[4])
    assert [block.name for block in obj.data.shape_keys.key_blocks] == ["Basis", "Mine"]
    assert own.value == pytest.approx(0.4)
    assert not own.mute


def test_discarded_it_is_as_it_was(flag: Any) -> None:
    before = track(flag)
    bpy.context.scene.frame_set(6)
    verlet.edit_frame()
    sculpt(flag, 22, (0.0, 0.1, 0.3))
    verlet.discard_edit()
    np.testing.assert_array_equal(track(flag), before)
    assert flag.data.shape_keys is None


def test_a_bake_that_fails_leaves_the_edit(flag: Any) -> None:
    """And all else, for the next try."""
    bpy.context.scene.frame_set(6)
    verlet.edit_frame()
    sculpt(flag, 22, (0.0, 0.1, 0.3))
    wanted = shown(flag, 6)
    flag.verlet.thickness = 0.02
    with pytest.raises(RuntimeError, match="Thickness of Flag changed"):
        verlet.bake(from_frame=6, **ON)
    assert not flag.active_shape_key.mute
    np.testing.assert_array_equal(shown(flag, 6), wanted)
    flag.verlet.thickness = 0.005
    verlet.bake(from_frame=6, **ON)
    assert flag.data.shape_keys is None


@pytest.mark.usefixtures("flag")
def test_what_cannot_be_is_said_in_one_sentence() -> None:
    with pytest.raises(RuntimeError, match="has an edited frame 6, none is; go to that frame"):
        verlet.bake(from_frame=6, **ON)
    with pytest.raises(RuntimeError, match="Only a bake to a cache can be resumed"):
        verlet.bake(edited=True, **ALL)
    with pytest.raises(RuntimeError, match="Edited is on, and From Frame is 0"):
        verlet.bake(**ON)
    for frame in (1, 13):
        bpy.context.scene.frame_set(frame)
        with pytest.raises(RuntimeError, match=f"Frame {frame} of Flag cannot be edited; go to"):
            verlet.edit_frame()
    bpy.context.scene.frame_set(4)
    verlet.edit_frame()
    with pytest.raises(RuntimeError, match="Flag has an edited frame, 4, already"):
        verlet.edit_frame()
    for other in ({}, {"mode": "CACHE"}, {"mode": "CACHE", "resume": True}):
        with pytest.raises(RuntimeError, match="an edited frame, 4, which would act at all"):
            verlet.bake(**other, **ALL)
    with pytest.raises(RuntimeError, match="edited frame 6, edited frames are 4; go to"):
        verlet.bake(from_frame=6, **ON)
    verlet.discard_edit()
    verlet.clear_bake()
    assert not verlet.edit_frame.poll()
    assert not verlet.discard_edit.poll()
