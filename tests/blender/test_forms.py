"""A bake as absolute keys or as principal components shows the same motion, and goes entirely."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.round_trips import FORMATS, round_trip
from tests.blender.scenes import body, file_content, select, sheet, shown, verlet
from tests.blender.test_cache import cloth, jelly, moving, range_to, rope, saved

Addon = Callable[[str], ModuleType]
END = 24
FORMS = ("RELATIVE", "CACHE", "ABSOLUTE", "COMPACT")
EXACT = 1e-5
"""How far forms without a tolerance may be off [m]."""


def halves(obj: Any, end: int = END) -> Any:
    """World positions of an object at frames and half frames."""
    scene: Any = bpy.context.scene
    found = []
    for half in range(2, 2 * end + 1):
        scene.frame_set(half // 2, subframe=half % 2 / 2)
        evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        points = np.empty(3 * len(evaluated.data.vertices), np.float32)
        evaluated.data.vertices.foreach_get("co", points)
        matrix = np.array(evaluated.matrix_world)
        found.append(points.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3])
    scene.frame_set(1)
    return np.array(found)


def off(first: Any, second: Any) -> float:
    """The largest distance of a vertex between two of these [m]."""
    return float(np.linalg.norm(first - second, axis=2).max())


def odd() -> Any:
    """A triangulated jelly with an n-gon, turned, scaled, on a parent that moves, subdivided."""
    bpy.ops.mesh.primitive_cylinder_add(vertices=9, radius=0.3, depth=0.8, location=(0, 0, 1))
    obj: Any = bpy.context.object
    obj.rotation_euler, obj.scale = (0.3, 0.2, 0.1), (1.0, 2.0, 0.5)
    holder = bpy.data.objects.new("Holder", None)
    bpy.context.scene.collection.objects.link(holder)
    obj.parent = holder
    moving(holder, END)
    obj.modifiers.new("Subdivision", "SUBSURF")
    return body(obj, body_type="SOFT", resolution=5)


@pytest.mark.parametrize("make", [cloth, rope, jelly, odd])
@pytest.mark.parametrize("mode", ["ABSOLUTE", "COMPACT"])
def test_another_form_of_keys_shows_the_same(make: Callable[[], Any], mode: str) -> None:
    scene = range_to(END)
    obj = make()
    before = file_content()
    verlet.bake()
    wanted = halves(obj)
    assert verlet.bake(mode=mode, tolerance=0.02) == {"FINISHED"}
    assert off(halves(obj), wanted) <= (0.02 if mode == "COMPACT" else EXACT)
    assert obj.data.shape_keys.use_relative == (mode == "COMPACT")
    scene.frame_set(1)
    verlet.bake()
    assert off(halves(obj), wanted) <= EXACT
    verlet.clear_bake()
    assert file_content() == before


def test_each_form_becomes_each_other_one(tmp_path: Path) -> None:
    range_to(END)
    objects = [jelly(), cloth()]
    saved(tmp_path)
    verlet.bake()
    wanted = [halves(obj) for obj in objects]
    for mode in ("CACHE", *"ACAKACRKAK", "RELATIVE"):
        name = {"A": "ABSOLUTE", "C": "CACHE", "K": "COMPACT", "R": "RELATIVE"}.get(mode, mode)
        verlet.convert_bake(mode=name, tolerance=0.001)
        assert off(halves(objects[0]), wanted[0]) <= objects[0].verlet.baked_worst + EXACT
        # A cloth has no fewer components than frames, so it keeps its form.
        assert off(halves(objects[1]), wanted[1]) <= 2 * EXACT
    assert objects[0].verlet.baked_worst <= 0.004


def test_a_form_is_there_again_after_the_file_is_opened(tmp_path: Path) -> None:
    range_to(END)
    made = jelly()
    verlet.bake()
    name, wanted = made.name, halves(made)
    for mode in ("ABSOLUTE", "COMPACT"):
        verlet.convert_bake(mode=mode)
        path = saved(tmp_path)
        bpy.ops.wm.open_mainfile(filepath=str(path))
        obj: Any = bpy.data.objects[name]
        assert off(halves(obj), wanted) <= obj.verlet.baked_worst + EXACT


def test_components_stay_within_the_tolerance_and_say_what_they_achieve() -> None:
    range_to(END)
    obj = jelly()
    obj.scale = (3.0, 1.0, 0.5)
    verlet.bake()
    wanted = halves(obj)
    counts = []
    for tolerance in (1e-2, 1e-3, 1e-4):
        verlet.bake()
        verlet.convert_bake(mode="COMPACT", tolerance=tolerance)
        away = np.linalg.norm(halves(obj) - wanted, axis=2)
        assert away.max() <= tolerance
        assert obj.verlet.baked_worst == pytest.approx(away.max(), rel=0.01, abs=1e-6)
        assert obj.verlet.baked_rms == pytest.approx(np.sqrt((away**2).mean()), rel=0.01, abs=1e-6)
        keys = obj.data.shape_keys.key_blocks
        counts.append(len(keys) - 1)
        # Programs that read shape keys may limit them to this range, as Blender's importers do.
        assert all((key.slider_min, key.slider_max) == (0.0, 1.0) for key in keys[1:])
    assert counts == sorted(counts)
    assert 2 * counts[-1] < END


@pytest.mark.parametrize("name", ["glTF", "FBX"])
def test_components_are_exported_as_they_are(tmp_path: Path, name: str) -> None:
    range_to(60)
    obj = jelly()
    obj.name = obj.data.name = "Jelly"
    verlet.bake(mode="COMPACT")
    assert obj.verlet.baked_form == "COMPACT"
    form = FORMATS[name]
    off_by = round_trip(form, ["Jelly"], tmp_path, **form.preset)
    assert off_by["Jelly"] <= 1e-5


def test_components_that_are_no_gain_leave_the_bake(capfd: pytest.CaptureFixture[str]) -> None:
    range_to(END)
    obj = cloth()
    verlet.bake()
    before = file_content()
    assert verlet.convert_bake(mode="COMPACT") == {"CANCELLED"}
    assert file_content() == before
    assert "too many to play and load" in capfd.readouterr().out
    # A bake keeps a key per frame, for the simulation would be lost.
    verlet.bake(mode="COMPACT")
    assert len(obj.data.shape_keys.key_blocks) == END + 1
    assert obj.verlet.baked_form == ""
    assert "too many to play and load" in bpy.context.scene.verlet.baked_remarks


@pytest.mark.parametrize("mode", ["RELATIVE", "ABSOLUTE", "COMPACT"])
def test_a_step_says_how_far_it_is_off(mode: str) -> None:
    range_to(END)
    obj = jelly()
    verlet.bake()
    wanted = halves(obj)
    verlet.convert_bake(mode=mode, step=3, tolerance=1e-4)
    assert obj.verlet.baked_step == 3
    away = np.linalg.norm(halves(obj) - wanted, axis=2)
    assert away.max() > 1e-3
    assert obj.verlet.baked_worst == pytest.approx(away.max(), rel=0.01)
    assert obj.verlet.baked_rms == pytest.approx(np.sqrt((away**2).mean()), rel=0.01)
    verlet.convert_bake(mode="ABSOLUTE" if mode == "RELATIVE" else "RELATIVE")
    assert len(obj.data.shape_keys.key_blocks) == 1 + len({*range(1, END, 3), END})


def test_a_cache_has_every_frame(tmp_path: Path) -> None:
    range_to(END)
    jelly()
    saved(tmp_path)
    verlet.bake()
    with pytest.raises(RuntimeError, match="a cache has every frame"):
        verlet.convert_bake(mode="CACHE", step=2)
    with pytest.raises(RuntimeError, match="The frame step is 0; set it to 1 or more"):
        verlet.convert_bake(mode="ABSOLUTE", step=0)


def test_absolute_keys_turn_off_none_of_the_user_s() -> None:
    range_to(END)
    obj = jelly()
    obj.shape_key_add(name="Basis")
    verlet.bake(mode="ABSOLUTE")
    scene: Any = bpy.context.scene
    scene.frame_set(1)
    verlet.clear_bake()
    assert obj.data.shape_keys.use_relative
    obj.shape_key_add(name="Smile")
    before = file_content()
    with pytest.raises(RuntimeError, match="has the shape key Smile of its own, which absolute"):
        verlet.bake(mode="ABSOLUTE")
    assert file_content() == before
    verlet.bake()
    before = file_content()
    with pytest.raises(RuntimeError, match="has the shape key Smile of its own, which absolute"):
        verlet.convert_bake(mode="ABSOLUTE")
    assert file_content() == before


def test_a_user_s_basis_and_its_evaluation_time_are_as_before(addon: Addon) -> None:
    scene = range_to(END)
    obj = cloth()
    obj.shape_key_add(name="Basis")
    obj.data.shape_keys.eval_time = 7.0
    before = file_content()
    verlet.bake(mode="ABSOLUTE")
    record = addon("blender.bake.record")
    assert record.changed_since_bake(scene, bpy.context.view_layer) == []
    scene.frame_set(9)
    assert record.changed_since_bake(scene, bpy.context.view_layer) == []
    scene.frame_set(1)
    verlet.clear_bake()
    assert file_content() == before


def test_a_bake_does_not_read_the_former_absolute_keys() -> None:
    scene = range_to(END)
    obj = cloth()
    verlet.bake()
    wanted = halves(obj)
    for _ in range(2):
        scene.frame_set(7)
        verlet.bake(mode="ABSOLUTE")
        assert off(halves(obj), wanted) <= EXACT


def test_a_body_at_rest_has_a_component() -> None:
    range_to(END)
    obj = jelly()
    scene: Any = bpy.context.scene
    scene.use_gravity = False
    verlet.bake(mode="COMPACT")
    assert len(obj.data.shape_keys.key_blocks) == 2
    verlet.clear_bake()
    assert obj.data.shape_keys is None


def test_a_key_added_beside_absolute_ones_leaves_them(addon: Addon) -> None:
    scene = range_to(END)
    obj = cloth()
    verlet.bake(mode="ABSOLUTE")
    wanted = halves(obj)
    scene.frame_set(6)
    addon("blender.live.kept_shape").keep_shapes(
        [obj], bpy.context.view_layer, [shown(obj, 6)], starting=False
    )
    assert not obj.data.shape_keys.use_relative
    assert obj.data.shape_keys.key_blocks[-1].name == "Grab"
    assert off(halves(obj), wanted) == 0.0


def test_live_simulation_plays_over_absolute_keys(live: ModuleType) -> None:
    scene = range_to(END)
    obj = cloth()
    verlet.bake(mode="ABSOLUTE")
    wanted = [shown(obj, frame) for frame in range(1, 9)]
    scene.frame_set(1)
    verlet.live()
    for frame, places in enumerate(wanted, start=1):
        assert np.abs(shown(obj, frame) - places).max() <= EXACT
    assert live.session_of(scene).last == 8
    live.end_live(scene)
    assert not obj.data.shape_keys.use_relative
    assert np.abs(shown(obj, 8) - wanted[7]).max() <= EXACT


def test_a_frame_of_absolute_keys_can_be_applied() -> None:
    scene = range_to(END)
    obj = cloth()
    verlet.bake(mode="ABSOLUTE")
    wanted = shown(obj, 12)
    scene.frame_set(12)
    assert verlet.apply_shape(mode="MESH") == {"FINISHED"}
    assert np.abs(shown(obj, 12) - wanted).max() <= EXACT
    assert obj.data.shape_keys is None


@pytest.mark.parametrize("mode", ["ABSOLUTE", "COMPACT"])
def test_what_cannot_be_converted_stays(mode: str) -> None:
    range_to(END)
    obj = jelly()
    with pytest.raises(RuntimeError, match="has a bake"):
        verlet.convert_bake(mode=mode)
    verlet.bake()
    before = file_content()
    with pytest.raises(RuntimeError, match="The tolerance of components is 0 m; set it to more"):
        verlet.convert_bake(mode="COMPACT", tolerance=0.0)
    other = bpy.data.objects.new("Twin", obj.data)
    bpy.context.scene.collection.objects.link(other)
    with pytest.raises(RuntimeError, match="shares its mesh"):
        verlet.convert_bake(mode=mode)
    bpy.data.objects.remove(other)
    assert file_content() == before
    with pytest.raises(RuntimeError, match="Only a bake to a cache can be resumed"):
        verlet.bake(mode=mode, resume=True)
    assert file_content() == before


def test_linked_bakes_and_overrides_are_not_converted(tmp_path: Path) -> None:
    range_to(END)
    name = jelly().name
    verlet.bake()
    path = saved(tmp_path)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    libraries: Any = bpy.data.libraries
    with libraries.load(str(path), link=True) as (_, there):
        there.objects = [name]
    scene: Any = bpy.context.scene
    linked: Any = bpy.data.objects[name]
    scene.collection.objects.link(linked)
    select()
    with pytest.raises(RuntimeError, match=r"has a bake|linked from another file"):
        verlet.convert_bake(mode="ABSOLUTE")
    override = linked.override_create(remap_local_usages=True)
    with pytest.raises(RuntimeError, match=r"has a bake|linked|library override"):
        verlet.convert_bake(mode="ABSOLUTE")
    assert override.data.shape_keys.use_relative


def test_an_empty_mesh_has_no_form() -> None:
    range_to(END)
    obj = body(sheet("Sheet"))
    obj.data.clear_geometry()
    for mode in ("ABSOLUTE", "COMPACT"):
        with pytest.raises(RuntimeError, match="has no vertices"):
            verlet.bake(mode=mode)
