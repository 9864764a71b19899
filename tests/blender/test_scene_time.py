"""The scene's time is the body's: stretched, before frame 0, and between frames."""

from typing import Any

import bpy
import pytest

from tests.blender.scenes import body, file_content, line, pin, shown, verlet


@pytest.fixture
def scene() -> Any:
    """The scene, without ground."""
    scene: Any = bpy.context.scene
    scene.verlet.use_ground = False
    return scene


def carried_line() -> Any:
    """A body that hangs on one vertex, which an animation carries along at a constant speed."""
    obj = body(line(segments=8, height=2.0))
    pin(obj, [0])
    obj.driver_add("location", 0).driver.expression = "frame / 20"
    return obj


@pytest.mark.parametrize(("old", "new"), [(100, 200), (100, 50), (100, 800), (30, 20)])
def test_time_stretching_only_plays_the_same_motion_at_another_pace(
    scene: Any, old: int, new: int
) -> None:
    """Each frame of the animation shows the same, whatever frame of the scene it is.

    Steps are as long either way; float32 of Blender's matrices moves pins and what hangs on them.
    """
    scene.verlet.substeps = 24
    obj = carried_line()
    verlet.bake(frame_start=0, frame_end=24)
    plain = {frame: shown(obj, frame) for frame in range(0, 25, 3)}
    scene.render.frame_map_old, scene.render.frame_map_new = old, new
    scene.verlet.substeps = 24 * old // new
    verlet.bake(frame_start=0, frame_end=24 * new // old)
    for frame, positions in plain.items():
        if frame * new % old == 0:
            assert shown(obj, frame * new // old) == pytest.approx(positions, abs=1e-4)


def place(frame: float) -> tuple[int, float]:
    """The playhead as Blender gives it after going to a frame."""
    scene: Any = bpy.context.scene
    scene.frame_set(int(frame // 1), subframe=frame % 1)
    return scene.frame_current, scene.frame_subframe


@pytest.mark.parametrize("frame", [-30.25, -2.5, -2.0, -1.1, -0.5, 0.0, 0.3, 7.0, 12.75])
def test_a_bake_leaves_the_playhead_where_it_is(frame: float) -> None:
    body(line(height=1.0))
    before = place(frame)
    verlet.bake(frame_start=1, frame_end=3)
    scene: Any = bpy.context.scene
    assert (scene.frame_current, scene.frame_subframe) == before


def freeze(scene: Any, first: int, last: int) -> None:
    """Lets time stand still over these frames: none passes on the way to any of them."""
    expression = f"0.0 if {first - 1} <= frame <= {last} else 1.0"
    scene.driver_add("verlet.time_scale").driver.expression = expression


def test_pins_that_move_while_time_stands_still_are_named_with_the_frame(scene: Any) -> None:
    """What hangs on them cannot follow in no time, and would be torn at when time goes on."""
    carried_line()
    freeze(scene, 6, 9)
    scene.frame_set(1)
    before = file_content()
    with pytest.raises(
        RuntimeError, match=r"pins of 'Line' move at frame 6, where the time scale is 0"
    ):
        verlet.bake(frame_start=1, frame_end=12)
    assert file_content() == before


def test_after_time_stood_still_the_motion_goes_on_as_if_it_had_not(scene: Any) -> None:
    """Five frames later, to what other lengths of steps change; a hundredth of an edge is still."""
    obj = body(line(segments=8, height=2.0))
    pin(obj, [0])
    verlet.bake(frame_start=1, frame_end=12)
    moved_on = shown(obj, 12)
    obj.driver_add("location", 0).driver.expression = "2e-5 * frame"
    freeze(scene, 6, 9)
    verlet.bake(frame_start=1, frame_end=12 + 5)
    assert shown(obj, 9) == pytest.approx(shown(obj, 5), abs=1e-5)
    assert shown(obj, 12 + 5) == pytest.approx(moved_on, abs=1e-3)


def test_a_bake_does_not_depend_on_where_the_scene_stands(scene: Any) -> None:
    """What is animated may make no sense at a frame that is not baked."""
    obj = body(line(segments=8, height=2.0))
    pin(obj, [0])
    scene.driver_add("verlet.time_scale").driver.expression = "6 - frame"
    obj.driver_add("verlet.damping").driver.expression = "6 - frame"
    baked = []
    for frame in (1, 8):
        scene.frame_set(frame)
        assert verlet.bake(frame_start=1, frame_end=5) == {"FINISHED"}
        baked.append(shown(obj, 5))
    assert (baked[0] == baked[1]).all()
