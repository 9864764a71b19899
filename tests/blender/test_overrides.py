"""A linked character is overridden in a shot, where its cape is simulated, saved and played."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.scenes import body, file_content, pin, select, sheet, shown, verlet

Addon = Callable[[str], ModuleType]
LAST = 5


def write_hero(path: Path) -> Path:
    """A library: a rig, and a cape on it that is pinned, and attached to it by a second group."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    armature = bpy.data.armatures.new("Rig")
    rig: Any = bpy.data.objects.new("Rig", armature)
    bpy.context.scene.collection.objects.link(rig)
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    armature.edit_bones.new("Spine").tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    cape = body(sheet("Cape", height=2.0), material="COTTON", thickness=0.02)
    pin(cape, [0, 20])
    cape.vertex_groups.new(name="Hem").add([4], 1.0, "REPLACE")
    cape.vertex_groups.new(name="All").add(range(25), 1.0, "REPLACE")
    held = cape.verlet.attachments.add()
    held.target, held.bone, held.vertex_group, held.weight = rig, "Spine", "Hem", 0.0
    cape.vertex_groups.new(name="Spine").add(range(25), 1.0, "REPLACE")
    cape.parent = rig
    cape.modifiers.new("Armature", "ARMATURE").object = rig
    cape.modifiers.new("Subdivision", "SUBSURF").levels = 1
    hero = bpy.data.collections.new("Hero")
    for obj in (rig, cape):
        hero.objects.link(obj)
        bpy.context.scene.collection.objects.unlink(obj)
    bpy.context.scene.collection.children.link(hero)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library's file, which no test changes."""
    return write_hero(tmp_path_factory.mktemp("library") / "hero.blend")


def link(library: Path) -> Any:
    """The linked collection, in a new shot."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    libraries: Any = bpy.data.libraries
    with libraries.load(str(library), link=True) as (_, linked):
        linked.collections = ["Hero"]
    bpy.context.scene.frame_end = LAST
    return linked.collections[0]


def override(hero: Any) -> None:
    """Overrides a linked collection and all within it."""
    scene, view_layer = bpy.context.scene, bpy.context.view_layer
    hero.override_hierarchy_create(scene, view_layer, do_fully_editable=True)


def own(name: str) -> Any:
    """The override with a name, or what else this file itself has under it."""
    (found,) = (obj for obj in bpy.data.objects if obj.name == name and obj.library is None)
    return found


@pytest.fixture
def shot(library: Path, tmp_path: Path) -> Path:
    """A shot with an override of the character, whose rig is posed, saved and open."""
    override(link(library))
    pose(1.2)
    path = tmp_path / "shot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def pose(angle: float) -> None:
    """Turns the rig's bone from the first frame on to an angle at the last."""
    bone = own("Rig").pose.bones["Spine"]
    bone.rotation_mode = "XYZ"
    for frame, turned in ((1, 0.0), (LAST, angle)):
        bone.rotation_euler = (turned, 0, 0)
        bone.keyframe_insert("rotation_euler", frame=frame)


def reopen() -> None:
    """Saves the open file and opens it again."""
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)


def overrides() -> set[str]:
    """Paths of all that the cape's override changes."""
    return {prop.rna_path for prop in own("Cape").override_library.properties}


def places() -> Any:
    """World positions of the cape at each frame."""
    return np.array([shown(own("Cape"), frame) for frame in range(1, LAST + 1)])


@pytest.mark.usefixtures("shot")
def test_a_cape_is_baked_to_a_cache_in_the_shot_and_plays_after_reopening() -> None:
    assert verlet.bake(mode="CACHE") == {"FINISHED"}
    baked = places()
    reopen()
    np.testing.assert_array_equal(places(), baked)
    assert own("Cape").override_library is not None  # still the library's in all else
    assert np.abs(baked[-1] - baked[0]).max() > 0.01
    pose(-1.2)
    verlet.bake(mode="CACHE")
    assert np.abs(places()[-1] - baked[-1]).max() > 0.5  # it follows the rig as it is posed now


def test_clear_bake_leaves_the_override_as_it_was(shot: Path) -> None:
    reopen()
    before, content = overrides(), file_content()
    verlet.bake(mode="CACHE")
    reopen()
    verlet.clear_bake()
    reopen()
    assert overrides() == before
    assert file_content() == content
    assert not list(shot.parent.glob("*/*/*.pc2"))


@pytest.mark.usefixtures("shot")
def test_settings_that_the_shot_changes_stay() -> None:
    cape = own("Cape")
    cape.verlet.thickness, cape.verlet.body_type = 0.03, "CLOTH"
    cape.verlet.attachments[0].weight = 0.5
    added = cape.verlet.attachments.add()
    added.target, added.vertex_group = own("Rig"), "All"
    reopen()
    settings = own("Cape").verlet
    assert settings.thickness == pytest.approx(0.03)
    assert [(item.vertex_group, item.weight) for item in settings.attachments] == [
        ("Hem", 0.5),
        ("All", 1.0),
    ]
    assert all(item.target == own("Rig") for item in settings.attachments)


def test_every_setting_can_be_overridden() -> None:
    settings: Any = sheet().verlet
    groups: list[Any] = [settings, bpy.context.scene.verlet]
    groups += [settings.attachments.add(), settings.baked_keys.add()]
    for group in groups:
        fixed = [item.identifier for item in group.bl_rna.properties if not item.is_overridable]
        assert set(fixed) <= {"rna_type", "name", "bl_system_properties_get"}, group
    for owner in (bpy.types.Object, bpy.types.Scene):
        assert owner.bl_rna.properties["verlet"].is_overridable


@pytest.mark.usefixtures("shot", "live")
def test_live_shows_an_override_and_leaves_nothing() -> None:
    before = overrides()
    verlet.live()
    seen = places()
    verlet.reset()
    reopen()
    assert overrides() == before
    verlet.bake(mode="CACHE")
    np.testing.assert_array_equal(places(), seen)


@pytest.mark.usefixtures("shot")
def test_a_drape_is_shown_on_an_override() -> None:
    own("Cape").verlet.damping = 5.0
    unseen = places()[0]
    assert verlet.drape(seconds=0.5) == {"FINISHED"}
    assert np.abs(places()[0] - unseen).max() > 0.01
    with pytest.raises(RuntimeError, match="belongs to another file"):
        verlet.apply_shape(mode="MESH")
    verlet.reset()
    np.testing.assert_array_equal(places()[0], unseen)


@pytest.mark.usefixtures("shot")
@pytest.mark.parametrize("make", ["linked", "override"])
def test_shape_keys_that_a_linked_mesh_would_lose_are_refused_with_the_remedy(make: str) -> None:
    """Blender would add them, and discard them when the file is opened again."""
    mesh = own("Cape").data
    if make == "override":
        mesh.override_create(remap_local_usages=True)
    for act in (verlet.bake, verlet.grab):
        with pytest.raises(RuntimeError, match=r"Cape belongs to another file.*bake it to a Cache"):
            act()
    assert own("Cape").data.shape_keys is None


@pytest.mark.usefixtures("shot")
def test_a_mesh_made_single_user_gets_the_keys_of_a_bake() -> None:
    select(own("Cape"))
    bpy.ops.object.make_single_user(type="SELECTED_OBJECTS", object=True, obdata=True)
    verlet.bake()
    baked = places()
    reopen()
    assert own("Cape").override_library is not None
    np.testing.assert_array_equal(places(), baked)
    verlet.clear_bake()
    reopen()
    assert own("Cape").data.shape_keys is None


def test_two_overrides_of_one_character_are_baked_together(library: Path, tmp_path: Path) -> None:
    hero = link(library)
    for _ in range(2):
        override(hero)
    own("Rig.001").location.x = 5.0
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    verlet.bake(mode="CACHE")
    first, second = (shown(own(name), LAST) for name in ("Cape", "Cape.001"))
    np.testing.assert_allclose(second - (5, 0, 0), first, atol=1e-5)  # float32 at 5 m


def test_buttons_of_what_is_linked_alone_are_grey_and_say_why(library: Path) -> None:
    hero = link(library)
    bpy.context.scene.collection.children.link(hero)
    cape = bpy.context.scene.objects["Cape"]
    cape.select_set(True)
    bpy.context.view_layer.objects.active = cape
    for name in ("bake", "live", "drape", "grab", "convert", "release", "set_material"):
        with pytest.raises(RuntimeError, match="Cape is linked from another file; make it an over"):
            getattr(verlet, name)()
    with pytest.raises(RuntimeError, match="Cape is linked from another file; make it an over"):
        verlet.attachment_add()


@pytest.mark.usefixtures("shot")
def test_a_soft_body_of_the_library_is_switched_off_in_the_shot_not_removed() -> None:
    """Removed, it would be back when the file is opened again."""
    select(own("Cape"))
    with pytest.raises(RuntimeError, match="Cape is a soft body of its library; switch it off"):
        verlet.release()
    with pytest.raises(RuntimeError, match="belongs to the library of this override"):
        verlet.attachment_remove()
    own("Cape").verlet.enabled = False
    reopen()
    assert not own("Cape").verlet.enabled


def plain_library(library: Path, folder: Path) -> Path:
    """A library whose cape is no soft body."""
    bpy.ops.wm.open_mainfile(filepath=str(library))
    select(bpy.data.objects["Cape"])
    verlet.release()
    path = folder / "plain.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def test_an_override_is_no_new_collider_since_blender_would_reset_its_settings(
    library: Path, tmp_path: Path
) -> None:
    hero = link(plain_library(library, tmp_path))
    override(hero)
    select(own("Cape"))
    with pytest.raises(RuntimeError, match="add it in their library"):
        verlet.make_collider()


def test_an_object_of_the_library_becomes_a_body_and_an_ordinary_object_again(
    library: Path, tmp_path: Path
) -> None:
    hero = link(plain_library(library, tmp_path))
    override(hero)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    select(own("Cape"))
    before = overrides()
    verlet.convert()
    reopen()
    assert own("Cape").verlet.enabled
    select(own("Cape"))
    verlet.release()
    reopen()
    assert not own("Cape").verlet.enabled
    assert overrides() - before <= {"verlet"}


def test_a_bake_of_the_library_plays_in_the_shot_and_is_left_alone(
    library: Path, tmp_path: Path
) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(library))
    bpy.context.scene.frame_end = LAST
    baked = tmp_path / "baked.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(baked))
    verlet.bake(mode="CACHE")
    there = places()
    bpy.ops.wm.save_mainfile()
    hero = link(baked)
    override(hero)
    np.testing.assert_allclose(places(), there, atol=1e-6)
    with pytest.raises(RuntimeError, match="Cape plays a bake of its library"):
        verlet.bake(mode="CACHE")


def test_the_command_line_bakes_the_cape_of_a_shot(
    shot: Path, cli: ModuleType, tmp_path: Path
) -> None:
    output = tmp_path / "farm" / "shot.blend"
    output.parent.mkdir()
    assert cli.main(["bake", str(shot), "--output", str(output), "--mode", "cache"]) == 0
    bpy.ops.wm.open_mainfile(filepath=str(output))
    baked = places()
    bpy.ops.wm.open_mainfile(filepath=str(shot))
    verlet.bake(mode="CACHE")
    np.testing.assert_array_equal(places(), baked)
