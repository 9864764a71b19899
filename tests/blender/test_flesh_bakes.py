"""Flesh in all forms of a bake, live, resumed, in loops, as bones, by cages and overrides."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.fleshy import limb, paint_by_side, painted, shaken_limb
from tests.blender.round_trips import FORMATS, round_trip
from tests.blender.scenes import file_content, select, shown, verlet
from verlet_addon.core.arrays import Floats

LAST = 8
NEAR = 1e-4
"""Distance below which a vertex is where it was, in a file of another format [m]."""


@pytest.fixture(autouse=True)
def _saved(tmp_path: Path) -> None:
    """A saved file of a few frames."""
    scene: Any = bpy.context.scene
    scene.frame_end, scene.verlet.use_ground = LAST, False
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))


def track(obj: Any) -> Floats:
    """(f, n, 3) vertices as the scene shows them, frame by frame."""
    return np.array([shown(obj, frame) for frame in range(1, LAST + 1)])


def test_fat_swings_and_bone_follows_its_pose_to_the_bit() -> None:
    """In shape keys below the armature, which have its inverse: to rounding there."""
    obj = shaken_limb()
    posed = track(obj)
    verlet.bake()
    moved = np.linalg.norm(track(obj) - posed, axis=2)
    weights = painted(obj)
    assert moved[:, weights == 0.0].max() < 1e-6
    assert moved[:, weights == 1.0].max() > 0.02
    assert moved[0].max() < 1e-4, "as it was modelled"


def test_a_swing_beyond_the_thickness_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    """With the frame; no edge is said not to stretch, as none is measured."""
    for stiffness, is_told in ((5e3, False), (200.0, True)):
        obj = shaken_limb()
        obj.verlet.stiffness, obj.verlet.flesh_depth = stiffness, 0.06
        capfd.readouterr()
        verlet.bake()
        said = capfd.readouterr().out
        assert ("farther than its flesh is thick; raise its Stiffness" in said) == is_told, said
        assert "no edge stretched" not in said
        bpy.data.objects.remove(obj)


def test_at_full_less_inertia_it_only_follows_its_pose() -> None:
    obj = shaken_limb()
    obj.verlet.inertia_share = 1.0
    posed = track(obj)
    verlet.bake()
    assert np.abs(track(obj) - posed).max() < 1e-4


@pytest.mark.parametrize("name", ["glTF", "FBX", "USD"])
def test_exports_play_it_with_its_rig(name: str, tmp_path: Path) -> None:
    """Bone moves in the skin's clip, and fat in the shape keys below it."""
    form, body = FORMATS[name], shaken_limb().name
    if not form.available:
        pytest.skip(f"This build of Blender does not write {name}")
    verlet.bake()
    assert round_trip(form, [body], tmp_path, **form.preset)[body] < NEAR


@pytest.mark.parametrize("form", ["ABSOLUTE", "COMPACT", "CACHE", "LIVE"])
@pytest.mark.usefixtures("live")
def test_all_forms_show_the_same(form: str) -> None:
    """Components within their tolerance, all others to single precision."""
    obj = shaken_limb()
    verlet.bake()
    wanted = track(obj)
    verlet.clear_bake()
    if form == "LIVE":
        bpy.context.scene.frame_set(1)
        bpy.context.scene.verlet.use_live = True
    else:
        assert verlet.bake(mode=form, tolerance=1e-4) == {"FINISHED"}
    assert np.abs(track(obj) - wanted).max() < (2e-4 if form == "COMPACT" else 1e-6)


def test_live_leaves_the_file_as_it_was(live: Any) -> None:
    shaken_limb()
    bpy.context.scene.frame_set(1)
    before = file_content()
    live.start_live(bpy.context.scene, bpy.context.view_layer)
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
    assert not live.session_of(bpy.context.scene).stale
    verlet.reset()
    bpy.context.scene.frame_set(1)
    assert file_content() == before


def test_a_resumed_bake_equals_a_whole_one() -> None:
    """To the bit: what the flesh is at a frame is stored with the simulation."""
    obj = shaken_limb()
    bpy.context.scene.frame_end = 5
    verlet.bake(mode="CACHE")
    bpy.context.scene.frame_end = LAST
    verlet.bake(mode="CACHE", resume=True)
    resumed = track(obj)
    verlet.clear_bake()
    verlet.bake(mode="CACHE")
    assert np.array_equal(track(obj), resumed)


def test_a_loop_repeats() -> None:
    obj = shaken_limb()
    bone = obj.modifiers[0].object.pose.bones["Bone"]
    for frame in range(1, 34):
        bone.location.x = 0.03 * np.sin(2 * np.pi * frame / 8)
        bone.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_end = 17
    verlet.bake(loop=8)
    start = obj.verlet.baked_start
    assert np.abs(shown(obj, start) - shown(obj, start + 8)).max() < 1e-5
    assert np.abs(shown(obj, start) - shown(obj, start + 4)).max() > 1e-3


def test_bones_carry_it_with_the_error_that_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    """For games: a few bones in an armature beside the body."""
    obj = shaken_limb()
    verlet.bake()
    wanted = track(obj)
    select(obj)
    assert verlet.bake_bones(count=4, beside=True) == {"FINISHED"}
    copy = next(
        each
        for each in bpy.context.scene.objects
        if each.type == "MESH" and each != obj and any(m.type == "ARMATURE" for m in each.modifiers)
    )
    off = track(copy) - wanted
    away = np.linalg.norm(off - off[0].mean(axis=0), axis=2)  # it stands beside
    assert away.max() < 0.015
    assert "4 bones are off by " in capfd.readouterr().out


def test_a_light_body_moves_a_detailed_one() -> None:
    """Its own vertices follow the cage's within the roundness of both."""
    cage = shaken_limb()
    settings = {
        name: getattr(cage.verlet, name)
        for name in (
            "flesh_depth",
            "flesh_resolution",
            "stiffness",
            "use_density",
            "density",
            "flesh_group",
        )
    }
    verlet.bake()
    wanted = track(cage)
    verlet.clear_bake()
    rig = cage.modifiers[0].object
    verlet.release()
    fine = limb(0.1, 0.3, bone=-0.05)
    bpy.data.objects.remove(fine.modifiers[0].object)
    fine.modifiers[0].object = rig
    fine.verlet.simulate_as = cage
    for name, value in settings.items():
        setattr(fine.verlet, name, value)
    verlet.bake()
    assert np.abs(track(fine) - wanted).max() < 1e-5


def test_a_body_without_fat_is_refused_with_the_remedy() -> None:
    """Before a frame is baked; no group at all is the same."""
    obj = limb()
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"'Limb' has no .* Paint from Bones"):
            verlet.bake()
        obj.verlet.flesh_group = obj.vertex_groups.new(name="Empty").name
    assert obj.data.shape_keys is None


def test_meshes_of_several_objects_are_refused() -> None:
    """As those of other bodies."""
    obj = shaken_limb()
    other = obj.copy()
    bpy.context.scene.collection.objects.link(other)
    with pytest.raises(RuntimeError, match="shares its mesh"):
        verlet.bake()


def test_shape_keys_pose_it_too() -> None:
    """A corrective that a key of its value drives: bone is where it puts it."""
    obj = limb()
    obj.verlet.flesh_depth = 0.1
    paint_by_side(obj)
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="Corrective")
    for point in key.data:
        point.co.z += 0.1
    for frame, value in ((1, 0.0), (4, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    posed = track(obj)
    verlet.bake()
    moved = np.linalg.norm(track(obj) - posed, axis=2)
    assert np.ptp(posed[:, 0, 2]) > 0.09
    assert moved[:, painted(obj) == 0.0].max() < 1e-6
    assert moved.max() > 0.01


def test_a_linked_body_is_baked_as_an_override(tmp_path: Path) -> None:
    """To a cache, since its mesh belongs to another file; settings are its own."""
    obj = shaken_limb()
    verlet.bake(mode="CACHE")
    wanted = track(obj)
    verlet.clear_bake()
    hero = bpy.data.collections.new("Hero")
    bpy.context.scene.collection.children.link(hero)
    for each in (obj, obj.modifiers[0].object):
        hero.objects.link(each)
        bpy.context.scene.collection.objects.unlink(each)
    library = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=library, copy=True)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    scene: Any = bpy.context.scene
    scene.frame_end, scene.verlet.use_ground = LAST, False
    scene.render.fps = 24
    libraries: Any = bpy.data.libraries
    with libraries.load(library, link=True) as (_, loaded):
        loaded.collections = ["Hero"]
    linked: Any = loaded.collections[0]
    made = linked.override_hierarchy_create(scene, bpy.context.view_layer, do_fully_editable=True)
    own = next(each for each in made.all_objects if each.type == "MESH")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot2.blend"))
    select(own)
    assert verlet.bake(mode="CACHE") == {"FINISHED"}
    assert np.abs(track(own) - wanted).max() < 1e-6
