"""A bake of a loop repeats without a seam, in every form, and goes entirely."""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.scenes import body, file_content, line, pin, select, sheet, shown, verlet
from tests.blender.test_cache import balloon, cloth, jelly, range_to, saved
from tests.core.intersections import crossings

Addon = Callable[[str], ModuleType]
ROOT = Path(__file__).parents[2]
END, LENGTH = 60, 30
FORMS = ["RELATIVE", "ABSOLUTE", "CACHE", "COMPACT"]


def swinging() -> Any:
    """A rope that is held at one end and swings."""
    obj = body(line("Rope", segments=12, height=3.0))
    pin(obj, [0])
    return obj


def attach(obj: Any, vertices: Sequence[int] = (12,), weight: float = 0.01) -> None:
    """Attaches vertices to an empty; with little weight, they are drawn softly."""
    hook = bpy.data.objects.new("Hook", None)
    bpy.context.scene.collection.objects.link(hook)
    obj.vertex_groups.new(name="End").add([*vertices], 1.0, "REPLACE")
    item = obj.verlet.attachments.add()
    item.target, item.vertex_group, item.weight = hook, "End", weight


def pond() -> Any:
    """Water on which waves run to and fro."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=12, y_subdivisions=12, size=2.0)
    obj = body(bpy.context.object, body_type="WATER")
    pin(obj, [40])
    obj.location.z = 0.0
    obj.keyframe_insert("location", frame=1)
    obj.location.z = 0.3
    obj.keyframe_insert("location", frame=6)
    return obj


def looks(obj: Any, start: int, count: int) -> Any:
    """(count, n, 3) world positions of an object at frames from a first one on."""
    return np.array([shown(obj, frame) for frame in range(start, start + count)], np.float64)


def check_loop(obj: Any, plain: Any) -> None:
    """Whether what an object shows repeats, and meets itself as fast as the plain bake went on.

    Parameters
    ----------
    plain : world positions of its bake without a loop, from frame 1 on.
    """
    start = obj.verlet.baked_start
    assert (obj.verlet.baked_loop, obj.verlet.baked_end) == (LENGTH, start + LENGTH - 1)
    once = looks(obj, start, LENGTH + 1)
    assert np.abs(once[-1] - once[0]).max() == 0.0
    for turns in (-2, -1, 1, 3):
        again = looks(obj, start + turns * LENGTH, LENGTH)
        assert np.abs(again - once[:-1]).max() <= 1e-5
    speed = np.linalg.norm(np.diff(once, axis=0), axis=2).mean()
    there = plain[start - 1] - plain[start - 2]
    jump = np.linalg.norm((once[-1] - once[-2]) - there, axis=1).max()
    assert jump <= max(0.01 * speed, 1e-6)
    # Half way from the last frame to the first one.
    scene: Any = bpy.context.scene
    scene.frame_set(start + LENGTH - 1, subframe=0.5)
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    points = np.empty(3 * len(evaluated.data.vertices), np.float32)
    evaluated.data.vertices.foreach_get("co", points)
    matrix = np.array(evaluated.matrix_world)
    half = points.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]
    assert np.abs(half - (once[-1] + once[-2]) / 2).max() <= 1e-5


@pytest.mark.parametrize("mode", FORMS[:3])
def test_a_loop_repeats_before_and_after(tmp_path: Path, addon: Addon, mode: str) -> None:
    scene = range_to(END)
    obj = swinging()
    attach(obj)
    saved(tmp_path)
    before = file_content()
    verlet.bake()
    plain = looks(obj, 1, END)
    scene.frame_set(3)
    assert verlet.bake(mode=mode, loop=LENGTH) == {"FINISHED"}
    assert scene.frame_current == 3
    assert bpy.context.scene.verlet.baked_remarks == ""
    check_loop(obj, plain)
    assert addon("blender.bake.record").changed_since_bake(scene, bpy.context.view_layer) == []
    scene.frame_set(1)
    verlet.clear_bake()
    scene.frame_set(1)
    assert file_content() == before


@pytest.mark.parametrize("make", [jelly, balloon, pond], ids=["jelly", "balloon", "pond"])
def test_every_kind_of_body_can_loop(make: Callable[[], Any]) -> None:
    range_to(END)
    obj = make()
    obj.animation_data_clear()
    verlet.bake()
    plain = looks(obj, 1, END)
    bpy.context.scene.frame_set(1)
    verlet.bake(loop=LENGTH)
    check_loop(obj, plain)


@pytest.mark.slow
def test_bodies_loop_together_and_components_do_too(tmp_path: Path) -> None:
    range_to(END)
    objects = [jelly(), swinging()]
    saved(tmp_path)
    verlet.bake()
    plain = [looks(obj, 1, END) for obj in objects]
    verlet.bake(mode="COMPACT", loop=LENGTH, tolerance=1e-5)
    assert objects[0].verlet.baked_form == "COMPACT"
    assert len({obj.verlet.baked_start for obj in objects}) == 1
    start = objects[0].verlet.baked_start
    wanted = [looks(obj, start - LENGTH, 4 * LENGTH) for obj in objects]
    assert np.abs(wanted[0][:LENGTH] - wanted[0][LENGTH : 2 * LENGTH]).max() <= 1e-5
    check_loop(objects[1], plain[1])
    for mode in ("CACHE", "ABSOLUTE", "RELATIVE", "COMPACT", "CACHE", "RELATIVE"):
        verlet.convert_bake(mode=mode, tolerance=1e-5)
        for obj, places in zip(objects, wanted, strict=True):
            assert obj.verlet.baked_loop == LENGTH
            assert np.abs(looks(obj, start - LENGTH, 4 * LENGTH) - places).max() <= 5e-5


def test_a_loop_of_a_cache_plays_in_a_file_that_is_opened_again(tmp_path: Path) -> None:
    range_to(END)
    obj = swinging()
    path = saved(tmp_path)
    verlet.bake(mode="CACHE", loop=LENGTH)
    start = obj.verlet.baked_start
    wanted = looks(obj, start, 2 * LENGTH)
    driver = obj.animation_data.drivers[0].driver
    assert driver.is_simple_expression  # needs no Python, so no trust
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(path))
    again: Any = bpy.data.objects["Rope"]
    assert np.abs(looks(again, start, 2 * LENGTH) - wanted).max() == 0.0
    assert np.abs(wanted[:LENGTH] - wanted[LENGTH:]).max() == 0.0


def test_a_loop_with_a_step_repeats() -> None:
    range_to(END)
    obj = swinging()
    for mode in ("RELATIVE", "ABSOLUTE"):
        bpy.context.scene.frame_set(1)
        verlet.bake(mode=mode, loop=LENGTH, step=4)
        keys = [key.name for key in obj.data.shape_keys.key_blocks]
        assert len(keys) == 1 + len(range(0, LENGTH, 4)) + (mode == "ABSOLUTE")
        start = obj.verlet.baked_start
        once = looks(obj, start, 2 * LENGTH)
        assert np.abs(once[:LENGTH] - once[LENGTH:]).max() <= 1e-5


def own_looks(obj: Any, start: int, count: int) -> Any:
    """(count, n, 3) positions of an object in its own space at frames from a first one on."""
    found = []
    for frame in range(start, start + count):
        places = shown(obj, frame)
        matrix = np.array(obj.matrix_world)
        found.append((places - matrix[:3, 3]) @ np.linalg.inv(matrix[:3, :3]).T)
    return np.array(found)


def test_a_turn_of_several_loops_is_one_of_each() -> None:
    scene: Any = range_to(END)
    first = swinging()
    with pytest.raises(RuntimeError, match="No object of the scene has a loop; set Loop, and bake"):
        verlet.scene_range_to_loop()
    verlet.bake(loop=12)
    second = body(line("Other", segments=4, height=3.0))
    pin(second, [0])
    select(second)
    verlet.bake(loop=8, selected=True)
    starts = {obj.verlet.baked_start for obj in (first, second)}
    verlet.scene_range_to_loop()
    assert (scene.frame_start, scene.frame_end) == (max(starts), max(starts) + 24)
    once = [looks(obj, scene.frame_start, 25) for obj in (first, second)]
    assert all(np.abs(each[-1] - each[0]).max() <= 1e-6 for each in once)


@pytest.mark.parametrize("mode", FORMS[:3])
def test_a_loop_goes_along_with_an_object_that_moves(tmp_path: Path, mode: str) -> None:
    """As a flag on a car that drives away."""
    scene = range_to(END)
    obj = cloth()
    obj.animation_data_clear()
    for frame in (1, END):
        obj.location.x, obj.rotation_euler.z = 0.1 * frame, 0.01 * frame
        obj.keyframe_insert("location", frame=frame)
        obj.keyframe_insert("rotation_euler", frame=frame)
    saved(tmp_path)
    scene.frame_set(1)
    verlet.bake()
    plain = own_looks(obj, 1, END)
    scene.frame_set(1)
    verlet.bake(mode=mode, loop=LENGTH)
    assert scene.verlet.baked_remarks == ""
    start = obj.verlet.baked_start
    for turns in (-2, 0, 1, 3):
        again = own_looks(obj, start + turns * LENGTH, LENGTH + 1)
        assert np.abs(again[0] - plain[start - 1]).max() <= 1e-5
        assert np.abs(again[-1] - plain[start - 1]).max() <= 1e-5
        assert np.abs(again[-2] - plain[start - 2]).max() <= 1e-5


def test_pins_that_do_not_repeat_are_faded() -> None:
    scene = range_to(END)
    obj = cloth()
    obj.animation_data_clear()
    obj.verlet.pin_group = ""
    attach(obj, range(9), 1.0)
    hook: Any = bpy.data.objects["Hook"]
    for frame in (1, END):
        hook.location.x = 0.02 * frame
        hook.keyframe_insert("location", frame=frame)
    edges = np.array([edge.vertices[:] for edge in obj.data.edges])

    def lengths(places: Any) -> Any:
        return np.linalg.norm(places[:, edges[:, 0]] - places[:, edges[:, 1]], axis=2)

    scene.frame_set(1)
    verlet.bake()
    plain = looks(obj, 1, END)
    scene.frame_set(1)
    verlet.bake(loop=LENGTH)
    assert "Cloth is faded over its last" in scene.verlet.baked_remarks
    start = obj.verlet.baked_start
    once = looks(obj, start, 2 * LENGTH)
    assert np.abs(once[:LENGTH] - once[LENGTH:]).max() <= 1e-5
    assert np.abs(once[LENGTH - 1] - plain[start - 2]).max() <= 1e-5
    # No edge shrinks or grows much, as those of a plain fade do.
    assert lengths(once).min() >= 0.9 * lengths(plain).min()
    assert lengths(once).max() <= 1.05 * lengths(plain).max()


@pytest.mark.slow
def test_a_loop_that_cannot_be_is_refused() -> None:
    range_to(END)
    swinging()
    verlet.bake()
    before = file_content()
    refused: dict[str, dict[str, Any]] = {
        "A loop of 53 frames needs 62 frames or more to choose from": {"loop": 53},
        "The loop has 5 frames; set it to 8 or more": {"loop": 5},
        "was never saved": {"loop": LENGTH, "mode": "CACHE"},
        "A loop cannot be resumed": {"loop": LENGTH, "mode": "CACHE", "resume": True},
        "and a cache has every frame": {"loop": LENGTH, "mode": "CACHE", "step": 2},
        "set it to more than 0": {"loop": LENGTH, "mode": "COMPACT", "tolerance": 0.0},
    }
    for sentence, options in refused.items():
        with pytest.raises(RuntimeError, match=sentence):
            verlet.bake(**options)
        assert file_content() == before
    verlet.bake(loop=51)
    rope: Any = bpy.data.objects["Rope"]
    assert rope.verlet.baked_loop == 51


def test_a_body_with_a_cage_does_not_loop() -> None:
    range_to(END)
    fine, cage = body(sheet("Fine", resolution=12, height=3.0)), sheet("Cage", height=3.0)
    fine.verlet.simulate_as = cage
    with pytest.raises(RuntimeError, match="Fine follows Cage, its Simulate As, which a loop"):
        verlet.bake(loop=LENGTH)


def test_a_loop_can_be_ended_early_in_its_first_simulation(addon: Addon) -> None:
    scene: Any = range_to(END)
    obj = swinging()

    def start() -> Any:
        return addon("blender.bake.loop_bake").bake_loop(
            *(scene, bpy.context.view_layer, [obj]),
            frame_start=1,
            frame_end=END,
            length=20,
            form=addon("blender.bake.forms").RELATIVE,
        )

    running = start()
    while next(running).frame < 40:
        pass
    later = [running.send(True), *running]
    assert obj.verlet.baked_loop == 20
    assert obj.verlet.baked_end <= 40
    assert [each.done for each in later] == sorted(each.done for each in later)
    before = file_content()
    running = start()
    while next(running).frame < 25:
        pass
    with pytest.raises(addon("core.errors").SettingsError, match="needs 29 frames or more"):
        running.send(True)
    running = start()
    while next(running).done < END + 10:
        pass
    running.close()
    assert file_content() == before


@pytest.mark.slow
def test_an_error_leaves_the_former_bake(monkeypatch: pytest.MonkeyPatch, addon: Addon) -> None:
    range_to(END)
    swinging()
    verlet.bake()
    before = file_content()

    def fail(*_: Any) -> None:
        raise addon("core.errors").MeshError("no loop")

    monkeypatch.setattr(addon("blender.bake.loop_bake"), "find_seam", fail)
    with pytest.raises(RuntimeError, match="no loop"):
        verlet.bake(loop=LENGTH)
    assert file_content() == before


def test_an_unstable_second_simulation_is_faded(
    monkeypatch: pytest.MonkeyPatch, addon: Addon
) -> None:
    scene = range_to(END)
    obj = swinging()
    seam = addon("core.loop_seam")

    def fail(*_: Any) -> None:
        raise addon("core.errors").DivergenceError("Rope moves too fast")

    monkeypatch.setattr(seam.Guide, "_springs", fail)
    # Where the motion is nearly the same, nothing has to be faded.
    verlet.bake(loop=LENGTH)
    assert "simulating into its start failed: Rope moves too fast" in scene.verlet.baked_remarks
    start = obj.verlet.baked_start
    once = looks(obj, start, 2 * LENGTH)
    assert np.abs(once[:LENGTH] - once[LENGTH:]).max() <= 1e-5


def test_the_nearest_frames_are_found(addon: Addon) -> None:
    """A circle in 40 frames, passed with a growing radius that stays the same from frame 60 on."""
    seam = addon("core.loop_seam")
    frames = np.arange(130)
    radius = 1.0 + np.maximum(60 - frames, 0) / 60
    angle = 2 * np.pi * frames / 40
    track = radius[:, None] * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    found = seam.find_seam([[each[None].astype(np.float32)] for each in track], 1, 40)
    assert found.start >= 61
    assert (found.length, found.blended) == (40, 24)
    assert [found.share(found.end - back) for back in (24, 4, 0)] == [0.0, 1.0, 1.0]


@pytest.mark.slow
@pytest.mark.parametrize("collides", [pytest.param(False, marks=pytest.mark.nightly), True])
def test_a_flag_in_the_wind_loops_as_well_as_it_flies(collides: bool) -> None:
    """No jump, no more stretch, no shorter edges than without a loop, and no crossing."""
    bpy.ops.wm.open_mainfile(filepath=str(ROOT / "sample_blends" / "flag_in_wind.blend"))
    scene: Any = bpy.context.scene
    flag: Any = bpy.data.objects["Flag"]
    flag.verlet.use_self_collision = collides
    mesh: Any = flag.data
    edges = np.array([edge.vertices[:] for edge in mesh.edges])
    mesh.calc_loop_triangles()
    triangles = np.array([each.vertices[:] for each in mesh.loop_triangles]).T

    def lengths(places: Any) -> Any:
        return np.linalg.norm(places[:, edges[:, 0]] - places[:, edges[:, 1]], axis=2)

    rest = lengths(looks(flag, 1, 1))
    verlet.bake()
    plain = looks(flag, 1, 144)
    strains = lengths(plain) / rest
    scene.frame_set(1)
    verlet.bake(loop=96)
    start = flag.verlet.baked_start
    loop = looks(flag, start, 97)
    assert np.abs(loop[-1] - loop[0]).max() == 0.0
    speed = np.linalg.norm(np.diff(loop, axis=0), axis=2).mean()
    there = plain[start - 1] - plain[start - 2]
    assert np.linalg.norm(loop[-1] - loop[-2] - there, axis=1).max() <= 0.01 * speed
    assert (lengths(loop) / rest).max() <= strains.max() + 0.005
    assert (lengths(loop) / rest).min() >= strains.min() - 0.05
    if collides:
        counts = [crossings(np.ascontiguousarray(each.T), edges.T, triangles) for each in loop]
        assert sum(each.shape[1] for each in counts) == 0
