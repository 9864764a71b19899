"""Hair live on the timeline, baked in loops and in parts, linked, overridden, and undone."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.hair import hair, nodes, points_of, shown, write_points
from tests.blender.scenes import file_content, select, verlet

Addon = Callable[[str], ModuleType]
LAST = 6


@pytest.fixture(autouse=True)
def _saved(tmp_path: Path) -> None:
    """A saved file of a few frames."""
    bpy.context.scene.frame_end = LAST
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))


def play(last: int = LAST) -> None:
    """Plays the scene from its start."""
    for frame in range(1, last + 1):
        bpy.context.scene.frame_set(frame)


def test_live_hair_moves_as_baked_hair_and_reset_leaves_the_file_as_it_was(live: Any) -> None:
    """To the bit, and backwards on the timeline too."""
    obj = hair()
    verlet.bake()
    baked = {frame: shown(obj, frame) for frame in (1, 4, LAST)}
    verlet.clear_bake()
    bpy.context.scene.frame_set(1)
    before = file_content()
    live.start_live(bpy.context.scene, bpy.context.view_layer)
    play()
    assert not live.session_of(bpy.context.scene).stale
    for frame, places in baked.items():
        assert np.array_equal(shown(obj, frame), places)
    verlet.reset()
    bpy.context.scene.frame_set(1)
    assert file_content() == before


def test_live_hair_over_a_bake_gives_it_back(live: Any) -> None:
    """Both are played by one carrier; what is live comes first."""
    obj = hair()
    verlet.bake()
    baked = shown(obj, LAST)
    obj.verlet.gravity = 0.0
    live.start_live(bpy.context.scene, bpy.context.view_layer)
    play()
    assert np.abs(shown(obj, LAST) - baked).max() > 0.01
    verlet.reset()
    assert np.array_equal(shown(obj, LAST), baked)
    assert [each.name for each in obj.modifiers] == ["Verlet Hair"]


def test_a_loop_of_hair_repeats() -> None:
    """The driver of the repetition is on the carrier, and goes with it."""
    obj = hair()
    bpy.context.scene.frame_end = 20
    verlet.bake(loop=8)
    start = obj.verlet.baked_start
    assert np.abs(shown(obj, start) - shown(obj, start + 8)).max() < 1e-6
    assert np.abs(shown(obj, start) - shown(obj, start + 4)).max() > 1e-3
    verlet.clear_bake()
    assert len(bpy.data.objects) == 1


def test_a_resumed_bake_of_hair_equals_a_whole_one() -> None:
    """Rotations of rods are stored with the simulation."""
    obj = hair()
    verlet.bake()
    bpy.context.scene.frame_end = 2 * LAST
    verlet.bake(mode="CACHE", resume=True)
    resumed = shown(obj, 2 * LAST)
    verlet.clear_bake()
    verlet.bake()
    assert np.array_equal(shown(obj, 2 * LAST), resumed)


def test_the_panel_is_told_what_changed_since_the_bake(addon: Addon) -> None:
    """The groom, settings, and the surface that the hair grows on."""
    obj = hair()
    verlet.bake()
    changes = addon("blender.bake.record").changes_since_bake
    scene, layer = bpy.context.scene, bpy.context.view_layer
    assert changes(scene, layer) == {}
    points = shown(obj) @ np.eye(3)
    write_points(obj, points)
    assert changes(scene, layer) == {"Hair": ["Hair changed"]}
    verlet.bake()
    obj.verlet.follow_groom = 0.5
    assert changes(scene, layer) == {"Hair": ["settings changed"]}


def write_library(path: Path, *, baked: bool) -> None:
    """A library with a head of hair in a collection, baked or not."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.context.scene.frame_end = LAST
    obj = hair()
    hero = bpy.data.collections.new("Hero")
    bpy.context.scene.collection.children.link(hero)
    hero.objects.link(obj)
    bpy.context.scene.collection.objects.unlink(obj)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    if baked:
        verlet.bake()
        bpy.ops.wm.save_as_mainfile(filepath=str(path))


def link(path: Path, shot: Path) -> Any:
    """A saved shot with the linked collection; returns that."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    libraries: Any = bpy.data.libraries
    with libraries.load(str(path), link=True) as (_, linked):
        linked.collections = ["Hero"]
    bpy.context.scene.frame_end = LAST
    bpy.context.scene.collection.children.link(linked.collections[0])
    bpy.ops.wm.save_as_mainfile(filepath=str(shot))
    return linked.collections[0]


def test_linked_hair_plays_the_bake_of_its_library(tmp_path: Path) -> None:
    """Carrier and nodes are linked with it."""
    write_library(tmp_path / "hero.blend", baked=True)
    baked = shown(bpy.data.objects["Hair"], LAST)
    link(tmp_path / "hero.blend", tmp_path / "shot.blend")
    assert np.array_equal(shown(bpy.data.objects["Hair"], LAST), baked)


def test_overridden_hair_is_baked_in_the_shot_and_plays_when_it_is_opened(tmp_path: Path) -> None:
    """With a carrier and nodes of the shot."""
    write_library(tmp_path / "hero.blend", baked=False)
    hero = link(tmp_path / "hero.blend", tmp_path / "shot.blend")
    hero.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)
    obj = next(each for each in bpy.data.objects if each.override_library and each.type == "CURVES")
    select(obj)
    groom = shown(obj, LAST)
    assert verlet.bake() == {"FINISHED"}
    baked = shown(obj, LAST)
    assert np.abs(baked - groom).max() > 0.02
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    obj = next(each for each in bpy.data.objects if each.override_library and each.type == "CURVES")
    assert np.array_equal(shown(obj, LAST), baked)
    verlet.clear_bake()
    assert np.array_equal(shown(obj, LAST), groom)
    assert not any(each.name.startswith("Verlet Hair") for each in bpy.data.node_groups)


def test_undo_takes_a_bake_of_hair_back() -> None:
    """With its carrier and nodes."""
    hair()
    bpy.ops.ed.undo_push(message="Hair")
    verlet.bake()
    bpy.ops.ed.undo_push(message="Bake")
    assert len(bpy.data.objects) == 2
    bpy.ops.ed.undo()
    assert [each.name for each in bpy.data.objects] == ["Hair"]
    assert not bpy.data.objects["Hair"].modifiers
    bpy.ops.ed.redo()
    assert len(bpy.data.objects) == 2
    assert np.abs(np.diff(shown(bpy.data.objects["Hair"], LAST), axis=0)).max() > 0.0


def test_a_comb_takes_all_strands_within_its_radius_along() -> None:
    """Grab on hair is a comb: also strands that are not connected to the one under the mouse."""
    obj = hair()
    bpy.context.scene.frame_set(1)
    groom = shown(obj).reshape(3, -1, 3)
    target = groom[0, -1] + (0.0, 0.0, 0.1)
    options = {"body": "Hair", "vertex": 8, "target": target.tolist(), "seconds": 1.0}
    verlet.grab(radius=0.03, **options)
    combed = shown(obj).reshape(3, -1, 3)
    assert (combed[:2, -1, 2] > groom[:2, -1, 2] + 0.05).all()  # the third one is 40 mm away
    assert combed[2, -1, 2] < groom[2, -1, 2]
    assert np.abs(combed[:, :2] - groom[:, :2]).max() < 1e-6
    assert len(bpy.data.objects) == 1
    assert not obj.modifiers


def test_a_comb_grooms_hair_below_its_modifiers() -> None:
    """The groom is what hair shows at the end of the grab, whatever moves it after that."""
    obj = hair()
    nodes(obj, "Lift", "GeometryNodeSetPosition", Offset=(0.0, 0.0, 0.1))
    verlet.grab(seconds=0.5)
    grooms = shown(obj)
    lifted = points_of(obj)
    assert np.abs(grooms.min(axis=0) - grooms.max(axis=0)).max() > 0.02
    obj.modifiers["Lift"].show_viewport = False
    inside = np.array(obj.matrix_world)[:3, :3]
    moved = (grooms - shown(obj)) @ inside
    assert moved == pytest.approx(np.tile((0.0, 0.0, 0.1), (27, 1)), abs=1e-5)
    assert np.array_equal(points_of(obj), lifted)
