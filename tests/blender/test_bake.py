"""What a bake shows is what the laws of motion ask for, and it disturbs nothing else."""

from collections.abc import Callable
from dataclasses import replace
from math import cos, pi, radians, sin
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from tests.benchmarks import meshes
from tests.blender.scenes import (
    baked,
    blender,
    body,
    coordinates,
    file_content,
    line,
    mesh_object,
    pin,
    select,
    sheet,
    shown,
    verlet,
)

Addon = Callable[[str], ModuleType]

GRAVITY = 9.81
# A shape key's float32 at coordinates of some metres.
FLOAT32 = 2e-5


@pytest.fixture
def scene() -> Any:
    """The scene, of ten frames, without ground."""
    scene: Any = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 10
    scene.verlet.use_ground = False
    return scene


def seconds(scene: Any, frames: int) -> float:
    """Playing time of some frames."""
    return float(frames * scene.render.fps_base / scene.render.fps)


def key_time_scale(scene: Any, values: dict[int, float]) -> None:
    """Animates the time scale, straight from key to key."""
    scene.verlet.keyframe_insert("time_scale", frame=1)
    animation = scene.animation_data
    if bpy.app.version < (5, 0, 0):
        curves = animation.action.fcurves
    else:
        curves = animation.action.layers[0].strips[0].channelbag(animation.action_slot).fcurves
    points = curves[0].keyframe_points
    points.add(len(values) - 1)
    points.foreach_set("co", [float(x) for pair in values.items() for x in pair])
    for point in points:
        point.interpolation = "LINEAR"


# --- motion -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fps", "fps_base"),
    [(12, 1.0), (24, 1.001), (24, 1.0), (25, 1.0), (30, 1.0), (60, 1.0), (120, 1.0)],
)
def test_bodies_fall_by_the_law_at_every_frame_rate(scene: Any, fps: int, fps_base: float) -> None:
    scene.render.fps, scene.render.fps_base, scene.verlet.substeps = fps, fps_base, 5
    frames = round(fps / fps_base)
    obj = body(sheet(height=3.0), damping=0.0)
    verlet.bake(frame_start=1, frame_end=1 + frames)
    fall = GRAVITY * seconds(scene, frames) ** 2 / 2
    assert shown(obj, 1 + frames)[:, 2].mean() == pytest.approx(3.0 - fall, abs=FLOAT32)


@pytest.mark.parametrize("substeps", [1, 2, 3, 5, 8, 20])
def test_bodies_fall_by_the_law_at_every_number_of_substeps(scene: Any, substeps: int) -> None:
    scene.verlet.substeps = substeps
    obj = body(line(height=3.0), damping=0.0)
    verlet.bake(frame_start=1, frame_end=25)
    assert shown(obj, 25)[:, 2].mean() == pytest.approx(3.0 - GRAVITY / 2, abs=FLOAT32)


def test_in_slow_motion_bodies_fall_by_the_law_of_the_scaled_time(scene: Any) -> None:
    """Time is the area under the curve of its scale: 1 → 0.2 → 1 gives 0.6 of it."""
    key_time_scale(scene, {1: 1.0, 13: 0.2, 25: 1.0})
    obj = body(line(height=3.0), damping=0.0)
    verlet.bake(frame_start=1, frame_end=25)
    assert shown(obj, 25)[:, 2].mean() == pytest.approx(3.0 - GRAVITY * 0.36 / 2, abs=FLOAT32)


def test_plain_verlet_misses_where_time_is_scaled(scene: Any) -> None:
    """The correction is what makes the difference, and it is there to be seen."""
    key_time_scale(scene, {1: 1.0, 13: 0.2, 25: 1.0})
    missed = {}
    for integrator in ("TCV_EXACT", "TCV", "VERLET"):
        scene.verlet.integrator = integrator
        obj = body(line(height=3.0), damping=0.0)
        verlet.bake(frame_start=1, frame_end=25)
        missed[integrator] = abs(shown(obj, 25)[:, 2].mean() - (3.0 - GRAVITY * 0.36 / 2))
        bpy.data.objects.remove(obj)
    assert missed["TCV_EXACT"] < FLOAT32
    assert missed["VERLET"] > 10 * missed["TCV"] > 10 * FLOAT32


def test_gravity_is_the_scene_s_own(scene: Any) -> None:
    scene.gravity = (2.0, 0.0, 0.0)
    obj = body(line(), damping=0.0)
    start = shown(obj, 1)
    verlet.bake(frame_start=1, frame_end=25)
    assert shown(obj, 25) - start == pytest.approx(np.tile((1.0, 0.0, 0.0), (5, 1)), abs=FLOAT32)
    scene.use_gravity = False
    verlet.bake(frame_start=1, frame_end=25)
    assert shown(obj, 25) == pytest.approx(start, abs=FLOAT32)


@pytest.mark.usefixtures("scene")
def test_a_thrown_body_starts_with_the_speed_of_its_animation() -> None:
    """The object accelerates up to the first frame; from there it flies and falls."""
    obj = body(line(height=3.0), damping=0.0)
    for frame in range(-4, 2):
        obj.location.x = (frame + 4) ** 2 / 100
        obj.keyframe_insert("location", index=0, frame=frame)
    speed = 2 * 5 / 100 * 24
    verlet.bake(frame_start=1, frame_end=25)
    start, end = shown(obj, 1), shown(obj, 25)
    assert (end - start).mean(axis=0) == pytest.approx((speed, 0.0, -GRAVITY / 2), abs=5 * FLOAT32)


def test_pins_follow_the_animated_object(scene: Any) -> None:
    obj = body(line(segments=8, height=2.0))
    pin(obj, [0])
    scene.frame_set(1)
    obj.keyframe_insert("location")
    obj.location.y = 0.5
    obj.keyframe_insert("location", frame=10)
    animated = [shown(obj, frame)[0] for frame in range(1, 11)]
    verlet.bake()
    followed = [shown(obj, frame)[0] for frame in range(1, 11)]
    assert followed == pytest.approx(np.array(animated), abs=FLOAT32)


def place_of(obj: Any) -> Any:
    """Somewhere turned, stretched unevenly, mirrored, and under a moved parent."""
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.location, parent.rotation_euler = (1.0, 2.0, 3.0), (0.3, 0.2, 0.1)
    parent.scale = (1.0, 2.0, 0.5)
    obj.parent = parent
    obj.location, obj.rotation_euler, obj.scale = (0.5, 0.0, 1.0), (1.0, 0.5, 0.2), (-1.5, 0.5, 2.0)
    return obj


@pytest.mark.usefixtures("scene")
def test_world_space_is_one_wherever_the_object_stands() -> None:
    """A body moves as its twin does whose mesh has all transforms applied."""
    # Firm against shear: buckling would magnify the rounding of the coordinates.
    placed = body(place_of(sheet("Placed")), damping=0.0, shear_compliance=1e-4)
    pin(placed, [0, 4])
    bpy.context.view_layer.update()
    corners = [[int(v) for v in face.vertices] for face in placed.data.polygons]
    verlet.bake()
    placed.verlet.enabled = False  # in the same place they would push each other away
    twin = mesh_object("Twin", shown(placed, 1).tolist(), [], corners)
    body(twin, damping=0.0, shear_compliance=1e-4)
    pin(twin, [0, 4])
    verlet.bake()
    assert shown(placed, 10) == pytest.approx(shown(twin, 10), abs=FLOAT32)
    assert np.abs(shown(placed, 10) - shown(placed, 1)).max() > 0.1


# --- ground -------------------------------------------------------------------------------------


def test_nothing_sinks_into_the_ground(scene: Any) -> None:
    scene.verlet.use_ground, scene.verlet.ground_height = True, 0.25
    obj = body(sheet(height=0.5), thickness=0.01)
    verlet.bake(frame_start=1, frame_end=30)
    assert shown(obj, 30)[:, 2].min() > 0.25
    assert shown(obj, 30)[:, 2].max() < 0.3


def test_ground_that_a_script_has_just_moved_is_where_it_is_now(scene: Any) -> None:
    """Even if the scene was evaluated with the one before."""
    obj = body(sheet(height=0.5), thickness=0.01)
    scene.verlet.use_ground = True
    scene.update_tag()
    bpy.context.view_layer.update()
    assert bpy.context.evaluated_depsgraph_get().scene_eval.verlet.use_ground
    scene.verlet.ground_height = -5.0
    verlet.bake(frame_start=1, frame_end=30)
    assert shown(obj, 30)[:, 2].min() < -1.0
    scene.verlet.ground_height, scene.verlet.use_ground = 0.0, False
    verlet.bake(frame_start=1, frame_end=30)
    assert shown(obj, 30)[:, 2].min() < -1.0


@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (2.0, 3.0, 1.0), (-1.0, 1.0, 1.0)])
def test_any_object_s_plane_can_be_the_ground(scene: Any, scale: tuple[float, ...]) -> None:
    """Without friction a body slides down a tilted plane, never through it."""
    ramp = bpy.data.objects.new("Ramp", None)
    scene.collection.objects.link(ramp)
    ramp.rotation_euler.y, ramp.scale = radians(30), scale
    settings = scene.verlet
    settings.use_ground, settings.ground_object, settings.ground_height = True, ramp, 0.1
    settings.ground_friction = 0.0
    obj = body(line(height=1.0), damping=0.0, thickness=0.0)
    verlet.bake(frame_start=1, frame_end=40)
    normal = np.array((sin(pi / 6), 0.0, cos(pi / 6)))
    start, end = shown(obj, 1), shown(obj, 40)
    assert (end @ normal).min() == pytest.approx(0.1, abs=1e-3)
    assert end[:, 0].mean() > start[:, 0].mean() + 0.5


# --- frames -------------------------------------------------------------------------------------


def test_frames_default_to_the_scene_s_range(scene: Any) -> None:
    scene.frame_start, scene.frame_end = 5, 8
    obj = body(line())
    verlet.bake()
    assert list(baked(obj)) == [f"verlet_{frame:04}" for frame in range(5, 9)]


def test_the_preview_range_comes_first_where_it_is_used(scene: Any) -> None:
    scene.use_preview_range = True
    scene.frame_preview_start, scene.frame_preview_end = 3, 4
    obj = body(line())
    verlet.bake()
    assert list(baked(obj)) == ["verlet_0003", "verlet_0004"]


@pytest.mark.usefixtures("scene")
@pytest.mark.parametrize("start", [-20, 0, 1000])
def test_a_bake_may_start_at_any_frame(start: int) -> None:
    """Only the frames' numbers differ."""
    obj = body(line(height=2.0))
    verlet.bake()
    first = list(baked(obj).values())
    verlet.bake(frame_start=start, frame_end=start + 9)
    assert np.array_equal(list(baked(obj).values()), first)
    assert shown(obj, start + 9)[:, 2].mean() < 1.9


@pytest.mark.usefixtures("scene")
def test_with_a_step_every_nth_frame_is_kept_and_the_motion_is_the_same() -> None:
    obj = body(line(height=2.0))
    verlet.bake()
    every = baked(obj)
    verlet.bake(step=3)
    assert list(baked(obj)) == ["verlet_0001", "verlet_0004", "verlet_0007", "verlet_0010"]
    for name, points in baked(obj).items():
        assert np.array_equal(points, every[name])


@pytest.mark.parametrize("step", [4, 50])
def test_the_last_frame_has_a_key_whatever_the_step(scene: Any, step: int) -> None:
    """Without it, the motion would stand still from the last key on."""
    obj = body(line(height=2.0))
    verlet.bake()
    fallen = shown(obj, 10)
    verlet.bake(step=step)
    assert np.array_equal(shown(obj, 10), fallen)
    assert scene.frame_end == 10


def test_the_step_is_the_scene_s_unless_one_is_given(scene: Any) -> None:
    obj = body(line(height=2.0))
    scene.verlet.key_step = 3
    verlet.bake()
    assert list(baked(obj)) == ["verlet_0001", "verlet_0004", "verlet_0007", "verlet_0010"]
    verlet.bake(step=5)
    assert list(baked(obj)) == ["verlet_0001", "verlet_0006", "verlet_0010"]


# --- settling before the first frame ------------------------------------------------------------


def test_a_body_that_settles_is_at_the_first_frame_where_it_would_come_to_be(scene: Any) -> None:
    """Where nothing is animated, the same bits as if it had begun so many frames earlier."""
    obj = body(line(height=2.0))
    pin(obj, [0])
    verlet.bake(frame_start=-4, frame_end=10)
    earlier = baked(obj)
    scene.verlet.settle_frames = 5
    verlet.bake()
    settled = baked(obj)
    assert list(settled) == [f"verlet_{frame:04d}" for frame in range(1, 11)]
    for name, points in settled.items():
        assert np.array_equal(points, earlier[name]), name


def test_animation_stands_still_while_bodies_settle(scene: Any) -> None:
    """One that flies along falls straight down meanwhile, from where it is at the first frame."""
    obj = body(line(height=2.0), damping=0.0)
    for frame in (-10, 20):
        obj.location.x = frame
        obj.keyframe_insert("location", frame=frame)
    scene.verlet.settle_frames = 6
    verlet.bake()
    scene.frame_set(1)
    place = obj.location.x
    fall = GRAVITY / 2 * seconds(scene, 6) ** 2
    np.testing.assert_allclose(
        shown(obj, 1), [(place + x / 4, 0, 2 - fall) for x in range(5)], atol=FLOAT32
    )


# --- the same again -----------------------------------------------------------------------------


def list_of_keys(obj: Any) -> Any:
    return list(baked(obj).values())


def keys_after_bake(obj: Any) -> Any:
    verlet.bake()
    return list_of_keys(obj)


def test_a_bake_depends_on_nothing_but_the_scene(scene: Any) -> None:
    """Again, under another name, beside an unrelated object: bit-identical keys."""
    scene.verlet.use_ground = True
    obj = body(sheet("Sheet", height=0.2))
    pin(obj, [0])
    first = keys_after_bake(obj)
    assert np.array_equal(keys_after_bake(obj), first)
    obj.name = "AnotherName"
    assert np.array_equal(keys_after_bake(obj), first)
    sheet("Aardvark").location.x = 5.0
    assert np.array_equal(keys_after_bake(obj), first)


def test_a_bake_takes_the_user_s_mesh_not_the_former_bake(scene: Any) -> None:
    obj = body(sheet(height=2.0))
    first = keys_after_bake(obj)
    scene.frame_set(7)
    assert np.array_equal(keys_after_bake(obj), first)
    assert scene.frame_current == 7


def test_all_bodies_of_the_scene_are_baked_together_and_no_others(scene: Any) -> None:
    first, second = body(line("First")), body(sheet("Second"))
    released = body(line("Released"))
    released.verlet.enabled = False
    elsewhere = body(line("Elsewhere"))
    bpy.data.scenes.new("Other").collection.objects.link(elsewhere)
    scene.collection.objects.unlink(elsewhere)
    select(first)
    verlet.bake()
    counts = [len(baked(obj)) for obj in (first, second, released, elsewhere)]
    assert counts == [10, 10, 0, 0]


def test_of_selected_bodies_alone_others_keep_their_bakes(scene: Any) -> None:
    """And none is baked where none is selected."""
    first, second = body(line("First")), body(sheet("Second", height=1.0))
    verlet.bake()
    kept = list_of_keys(second)
    scene.gravity = (0, 0, -1)
    select(first)
    former = list_of_keys(first)
    verlet.bake(selected=True)
    assert not np.array_equal(list_of_keys(first), former)
    assert np.array_equal(list_of_keys(second), kept)
    select()
    with pytest.raises(RuntimeError, match="is selected; select one"):
        verlet.bake(selected=True)


@pytest.mark.parametrize("others", [0, 5])
def test_of_linked_and_own_objects_of_one_name_the_own_is_baked(
    scene: Any, tmp_path: Any, others: int
) -> None:
    """Alone, and among so many that they are not looked for one by one."""
    library = str(tmp_path / "library.blend")
    bpy.data.libraries.write(library, {line("Rope")})
    bpy.data.objects.remove(bpy.data.objects["Rope"])
    own = body(sheet("Rope"))
    with blender.data.libraries.load(library, link=True) as (_, linked):
        linked.objects = ["Rope"]
    scene.collection.objects.link(linked.objects[0])
    all_of_them = [own, *(body(line(f"Line {k}", height=k + 1.0)) for k in range(others))]
    verlet.bake()
    assert [len(baked(obj)) for obj in all_of_them] == [10] * (others + 1)


# --- cancel and errors --------------------------------------------------------------------------


def start_bake(addon: Addon, scene: Any, *, step: int = 1) -> Any:
    """The bake as the interface runs it, frame by frame."""
    module = addon("blender.bake.bake")
    view_layer = bpy.context.view_layer
    objects = module.bodies(scene)
    return module.bake(scene, view_layer, objects, frame_start=1, frame_end=10, step=step)


def baked_scene(scene: Any) -> Any:
    """A bake, and a current frame between two frames."""
    obj = body(line(height=1.0))
    obj.shape_key_add(name="Basis")
    verlet.bake()
    scene.frame_set(4, subframe=0.25)
    return obj


def test_a_cancelled_bake_leaves_the_file_as_it_was(addon: Addon, scene: Any) -> None:
    obj = baked_scene(scene)
    obj.modifiers.new("Smooth", "SUBSURF")
    before = file_content()
    running = start_bake(addon, scene)
    for _ in range(5):
        next(running)
    assert file_content() != before
    running.close()
    assert file_content() == before


@pytest.mark.parametrize("step", [1, 3])
def test_a_bake_that_is_stopped_keeps_what_it_has(addon: Addon, scene: Any, step: int) -> None:
    """The keys up to the frame that it has come to are those of the whole bake."""
    obj = body(line(height=1.0))
    verlet.bake(step=step)
    whole = baked(obj)
    verlet.clear_bake()
    running = start_bake(addon, scene, step=step)
    for _ in range(5):
        next(running)
    with pytest.raises(StopIteration):
        running.send(True)
    names = [f"verlet_{frame:04d}" for frame in range(1, 6, step)]
    assert list(baked(obj)) == names
    assert all(np.array_equal(points, whole[name]) for name, points in baked(obj).items())
    assert addon("blender.bake.record").baked_range(scene) == (1, 1 + (4 // step) * step)


def test_a_bake_cannot_be_stopped_before_it_has_a_frame(addon: Addon, scene: Any) -> None:
    """While bodies still settle it goes on."""
    obj = body(line(height=1.0))
    scene.verlet.settle_frames = 2
    running = start_bake(addon, scene)
    assert next(running).frame == -1
    assert running.send(True).frame == 0
    assert running.send(True).frame == 1
    with pytest.raises(StopIteration):
        running.send(True)
    assert list(baked(obj)) == ["verlet_0001"]


def test_an_unstable_bake_names_object_and_frame_and_leaves_the_former(scene: Any) -> None:
    obj = baked_scene(scene)
    obj.name = "Wild"
    pin(obj, [0])
    obj.keyframe_insert("location", frame=5)
    obj.location.x = 1e5
    obj.keyframe_insert("location", frame=6)
    scene.frame_set(4, subframe=0.25)
    before = file_content()
    with pytest.raises(RuntimeError, match=r"Wild.*frame [56]"):
        verlet.bake()
    assert file_content() == before


def test_time_that_runs_backwards_is_an_error_with_the_frame(scene: Any) -> None:
    body(line())
    key_time_scale(scene, {1: 1.0, 11: -1.0})
    before = file_content()
    with pytest.raises(RuntimeError, match=r"time scale is -0\.2 at frame 7"):
        verlet.bake()
    assert file_content() == before


def test_frozen_time_moves_nothing(scene: Any) -> None:
    scene.verlet.time_scale = 0.0
    obj = body(line(height=1.0))
    verlet.bake()
    first, *others = baked(obj).values()
    assert all(np.array_equal(points, first) for points in others)


def test_progress_counts_frames_and_knows_what_stretched_most(addon: Addon, scene: Any) -> None:
    pin(body(line("Stiff", height=3.0)), [0])
    obj = body(line(height=1.0), stretch_compliance=0.01)
    pin(obj, [0])
    progress = list(start_bake(addon, scene))
    assert [now.done for now in progress] == list(range(1, 11))
    assert [now.frame for now in progress] == list(range(1, 11))
    ends = coordinates(obj.data.vertices)[[edge.vertices[:] for edge in obj.data.edges]]
    rest = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
    worst = 0.0
    for points in baked(obj).values():
        ends = points[[edge.vertices[:] for edge in obj.data.edges]]
        worst = max(worst, np.max(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1) / rest) - 1)
    assert worst > 1e-3
    assert progress[-1].worst_stretch == pytest.approx(worst, abs=1e-5)
    assert progress[-1].most_stretched == obj.name


def test_progress_says_how_long_it_will_take(addon: Addon) -> None:
    """By the frames after the first, before which bodies are made ready once and for all.

    The frame is named as the timeline names it.
    """
    progress = addon("blender.bake.bake").Progress(frame=137, done=38, total=251, worst_stretch=0.0)
    assert progress.describe(seconds=37.0) == "frame 137, 38 of 251, 3:33 left"
    progress_from_one = replace(progress, frame=38)
    first = addon("blender.bake.bake").Progress(frame=100, done=1, total=251, worst_stretch=0.0)
    assert first.describe(seconds=0.0) == "frame 100, 1 of 251"
    assert progress_from_one.describe(seconds=37.0) == "frame 38 of 251, 3:33 left"


@pytest.mark.slow
def test_a_dress_comes_to_rest() -> None:
    """After 2.6 seconds what is crumpled moves by centimetres a second, and no fold flaps."""
    dress = body(meshes.make("dress with sleeves"), pin_group="Pin")
    bpy.context.scene.frame_end = 75
    verlet.bake()
    keys = list(baked(dress).values())[-13:]
    speeds = np.linalg.norm(np.diff(keys, axis=0), axis=2) * 24.0
    assert np.sqrt((speeds**2).mean()) < 0.045
    assert speeds.max() < 0.3
