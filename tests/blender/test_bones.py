"""A bake as bones moves as the bake does, in Blender and after exports."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.round_trips import FORMATS, round_trip
from tests.blender.scenes import (
    body,
    file_content,
    mesh_object,
    pin,
    select,
    sheet,
    shown,
    verlet,
)
from tests.blender.test_cache_exchange import END, baked, looks, moved, uneven


def differences(first: list[Any], second: list[Any]) -> Any:
    """(f, n) distances between two looks [m]."""
    return np.linalg.norm(np.array(first) - np.array(second), axis=2)


def cape() -> Any:
    """A baked sheet that is moved, turned, scaled and parented, and swings."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, END
    obj = body(moved(sheet("Cape", resolution=8, height=4.0)))
    pin(obj, [0, 8])
    verlet.bake()
    scene.frame_set(3)
    return obj


def test_bones_play_what_they_report() -> None:
    obj = cape()
    wanted = looks(obj)
    scene = bpy.context.scene
    scene.frame_set(3)
    select(obj)
    before = file_content()
    assert verlet.bake_bones(count=6) == {"FINISHED"}
    skin, armature = bpy.data.objects["Cape Skin"], bpy.data.objects["Cape Bones"]
    after = file_content()
    assert {name: after[name] for name in before} == before
    assert (bpy.context.object, bpy.context.selected_objects) == (obj, [obj])
    assert len(armature.data.bones) == len(skin.vertex_groups) == 6
    assert skin.data.shape_keys is None
    assert all(1 <= len(vertex.groups) <= 4 for vertex in skin.data.vertices)
    off = differences(looks(skin), wanted)
    assert float(np.sqrt((off**2).mean())) == pytest.approx(skin["bone_error_rms"], abs=1e-5)
    assert float(off.max()) == pytest.approx(skin["bone_error_worst"], abs=1e-5)
    values = np.empty(len(off[0]), np.float32)
    skin.data.attributes["bone_error"].data.foreach_get("value", values)
    np.testing.assert_allclose(values, off.max(axis=0), atol=1e-5)
    colors = [item.color[:] for item in skin.data.color_attributes["Bone Error"].data]
    reddest = max(range(len(colors)), key=lambda vertex: colors[vertex][0] - colors[vertex][2])
    assert off.max(axis=0)[reddest] == pytest.approx(off.max(), abs=0.1 * off.max())


@pytest.mark.parametrize("name", ["glTF", "FBX", "USD"])
def test_exports_have_ordinary_skinning(name: str, tmp_path: Path) -> None:
    form = FORMATS[name]
    if not form.available:
        pytest.skip(f"This build of Blender does not write {name}")
    obj = cape()
    verlet.bake_bones(count=5)
    skin = bpy.data.objects["Cape Skin"]
    assert differences(looks(skin), looks(obj)).max() <= skin["bone_error_worst"] + 1e-5
    bpy.data.objects.remove(obj)
    settings = form.preset | ({"export_armatures": True} if name == "USD" else {})
    assert round_trip(form, ["Cape Skin"], tmp_path, **settings)["Cape Skin"] < 1e-4


def test_bones_stand_beside_their_object_and_move_as_they_would_in_its_place() -> None:
    """At no frame does the one hide the other."""
    obj = cape()
    verlet.bake_bones(count=6)
    select(obj)
    verlet.bake_bones(count=6, beside=True)
    source, over, beside = (
        np.array(looks(bpy.data.objects[name])) for name in ("Cape", "Cape Skin", "Cape Skin.001")
    )
    (offset,) = np.unique((beside - over).round(4).reshape(-1, 3), axis=0)
    (axis,) = offset.nonzero()[0]
    gaps = beside[..., axis].min(axis=1) - source[..., axis].max(axis=1)
    assert 0.0 < gaps.min() < 0.3 * np.ptp(source[0], axis=0).max()


@pytest.mark.parametrize("way", [(0.0, 0.0, -0.5), (0.0, 0.5, 0.0)])
def test_even_what_has_no_width_has_its_bones_beside_it(way: tuple[float, ...]) -> None:
    """A rope that hangs still, or one that is taut along Y."""
    places = [tuple(number * each for each in way) for number in range(3)]
    obj = body(mesh_object("Rope", places, [(0, 1), (1, 2)], []))
    pin(obj, [0, 2])
    verlet.bake(frame_start=1, frame_end=3)
    verlet.bake_bones(count=1, beside=True)
    apart = shown(bpy.data.objects["Rope Skin"], 1)[:, None] - shown(obj, 1)
    assert np.linalg.norm(apart, axis=2).min() >= 0.1 - 1e-6


def test_bones_of_several_objects_stand_together_beside_all() -> None:
    obj = cape()
    other = obj.copy()
    other.data = obj.data.copy()
    other.name = "Lining"
    other.location.x += 0.5
    bpy.context.scene.collection.objects.link(other)
    select(obj, other)
    verlet.bake()
    verlet.bake_bones(count=3, beside=True)
    bpy.context.scene.frame_set(1)
    places = [
        (bpy.data.objects[f"{name} Bones"].matrix_world, bpy.data.objects[name].matrix_world)
        for name in ("Cape", "Lining")
    ]
    first, second = (np.array(bones.translation - its.translation) for bones, its in places)
    np.testing.assert_allclose(first, second, atol=1e-5)


def test_a_fit_that_is_cancelled_leaves_the_file_as_it_was(addon: Callable[[str], Any]) -> None:
    """While frames are read as well as while bones are fitted."""
    obj = cape()
    context, before = bpy.context, file_content()
    for steps in (1, 3, END + 4):
        fitting = addon("blender.export.bone_fit").fit_bones(
            context.scene, context.view_layer, obj, count=4
        )
        shares = [next(fitting).share for _ in range(steps)]
        assert all(0.0 <= share < 1.0 for share in shares)
        fitting.close()
        assert file_content() == before


def test_a_tolerance_takes_fewer_bones() -> None:
    obj = cape()
    verlet.bake_bones(count=20, tolerance=0.05)
    loose = bpy.data.objects["Cape Skin"]
    select(obj)
    verlet.bake_bones(count=20, tolerance=0.005)
    tight = bpy.data.objects["Cape Skin.001"]
    assert len(loose.vertex_groups) < len(tight.vertex_groups) <= 20
    assert loose["bone_error_rms"] <= 0.05
    assert tight["bone_error_rms"] <= 0.005


def test_modifiers_that_finish_the_mesh_act_on_the_bones() -> None:
    obj = moved(uneven())
    mirror = obj.modifiers.new("Mirror", "MIRROR")
    mirror.mirror_object, mirror.use_mirror_merge = sheet("Other"), False
    obj.modifiers.new("Subdivision", "SUBSURF")
    obj.modifiers.new("Collision", "COLLISION")
    baked(obj)
    wanted = looks(obj)
    select(obj)
    verlet.bake_bones(count=9)
    skin: Any = bpy.data.objects["Cape Skin"]
    assert [each.type for each in skin.modifiers] == ["ARMATURE", "MIRROR", "SUBSURF"]
    assert not skin.verlet.enabled
    assert differences(looks(skin), wanted).max() < 1.5 * skin["bone_error_worst"] + 1e-4


def test_what_cannot_become_bones_is_told() -> None:
    obj = cape()
    before = file_content()
    with pytest.raises(RuntimeError, match="Cape needs 1 bone or more, not 0; set another"):
        verlet.bake_bones(count=0)
    with pytest.raises(RuntimeError, match="Cape has a tolerance of -1 m; set it to 0 or more"):
        verlet.bake_bones(tolerance=-1.0)
    sheet("Other")
    with pytest.raises(RuntimeError, match="Other has no bake; bake it first, or select"):
        verlet.bake_bones()
    bpy.data.objects.remove(bpy.data.objects["Other"])
    bpy.data.meshes.remove(bpy.data.meshes["Other"])
    select(obj)
    assert file_content() == before


def test_modes_and_linked_objects_stay_as_they_are(tmp_path: Path) -> None:
    obj = cape()
    select(obj)
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    verlet.bake_bones(count=2)
    verlet.export_cache(filepath=str(tmp_path / "cape.pc2"))
    assert (bpy.context.object, obj.mode) == (obj, "WEIGHT_PAINT")
    bpy.ops.object.mode_set(mode="OBJECT")
    path = tmp_path / "library.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    libraries: Any = bpy.data.libraries
    with libraries.load(str(path), link=True) as (_, linked):
        linked.objects = ["Cape"]
    (obj,) = linked.objects
    bpy.context.scene.collection.objects.link(obj)
    select(obj)
    verlet.bake_bones(count=2)
    skin = bpy.data.objects["Cape Skin"]
    assert skin.library is None
    assert skin.data.library is None
    with pytest.raises(RuntimeError, match="Cape is linked from another file; make it an override"):
        verlet.import_cache(filepath=str(tmp_path / "cape.pc2"))


@pytest.mark.slow
def test_the_cape_of_the_samples_is_within_2_mm_by_32_bones() -> None:
    path = Path(__file__).parents[2] / "sample_blends" / "cape.blend"
    bpy.ops.wm.open_mainfile(filepath=str(path))
    obj = bpy.data.objects["Cape"]
    verlet.bake()
    select(obj)
    verlet.bake_bones(count=32)
    skin = bpy.data.objects["Cape Skin"]
    scene = bpy.context.scene
    frames = range(scene.frame_start, scene.frame_end + 1)
    off = np.array([np.linalg.norm(shown(skin, f) - shown(obj, f), axis=1) for f in frames])
    assert np.sqrt((off**2).mean()) < 0.002
    assert off.max() == pytest.approx(skin["bone_error_worst"], abs=1e-5)
