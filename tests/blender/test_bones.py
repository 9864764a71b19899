"""A bake as bones moves as the bake does, in Blender and after exports."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.round_trips import FORMATS, round_trip
from tests.blender.scenes import body, file_content, pin, select, sheet, shown, verlet
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
