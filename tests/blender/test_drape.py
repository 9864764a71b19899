"""Draping: bodies come to rest off the timeline, and nothing of the user's changes."""

import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.scenes import (
    baked,
    ball,
    body,
    file_content,
    line,
    pin,
    select,
    sheet,
    shown,
    verlet,
)
from tests.core.intersections import crossings


def seen(obj: Any) -> Any:
    """World positions (n, 3) that an object shows now."""
    return shown(obj, bpy.context.scene.frame_current)


def box(name: str, location: Any, scale: Any, turned: float = 0.0) -> Any:
    """A collider."""
    bpy.ops.mesh.primitive_cube_add(size=2, location=location, scale=scale, rotation=(0, 0, turned))
    obj: Any = bpy.context.object
    obj.name = name
    verlet.make_collider()
    return obj


def blanket(resolution: int = 12, **settings: Any) -> Any:
    """A sheet of two metres above the middle."""
    cloth = sheet("Blanket", resolution=resolution, size=2.0, height=1.0)
    cloth.location.x = cloth.location.y = -1.0
    return body(cloth, **settings)


def covered_box() -> Any:
    """A blanket over a box."""
    box("Box", (0.0, 0.0, 0.3), (0.4, 0.3, 0.3))
    return blanket()


def triangles(obj: Any) -> Any:
    """(3, t) of the evaluated mesh."""
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    mesh.calc_loop_triangles()
    found = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", found)
    return found.reshape(-1, 3).T.astype(np.int64)


def edges(obj: Any) -> Any:
    """(2, e) of the evaluated mesh."""
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    found = np.empty(2 * len(mesh.edges), np.int32)
    mesh.edges.foreach_get("vertices", found)
    return found.reshape(-1, 2).T.astype(np.int64)


def crossings_of(first: Any, second: Any) -> int:
    """How often edges of one object pass through triangles of the other, or of itself."""
    objects = [first] if first == second else [first, second]
    positions = [np.asarray(seen(obj), np.float64) for obj in objects]
    points = np.ascontiguousarray(np.concatenate(positions).T)
    shift = 0 if first == second else len(positions[0])
    found = crossings(points, edges(first), triangles(second) + shift).shape[1]
    if shift:
        found += crossings(points, edges(second) + shift, triangles(first)).shape[1]
    return int(found)


def test_a_blanket_drapes_over_a_box_and_the_scene_stays() -> None:
    cloth = covered_box()
    bpy.context.scene.frame_set(7)
    mesh = file_content()["meshes/Blanket"]
    assert verlet.drape() == {"FINISHED"}
    assert bpy.context.scene.frame_current == 7
    places = seen(cloth)
    assert 0.0 < places[:, 2].min() < 0.02
    assert 0.6 < places[:, 2].max() < 0.65
    assert file_content()["meshes/Blanket"] == mesh
    assert not baked(cloth)
    assert np.array_equal(shown(cloth, 100), places)


def test_a_blanket_askew_slides_on_its_box_unless_told_not_to() -> None:
    cloth = covered_box()
    cloth.location.x -= 0.2
    landed = []
    for slide in (False, True):
        verlet.drape(seconds=1.0, slide=slide)
        landed.append(seen(cloth)[:, 0].mean())
        verlet.reset()
    assert landed[1] < landed[0] - 0.01


def test_reset_leaves_everything_as_it_was() -> None:
    cloth = covered_box()
    cloth.modifiers.new("Subdivision", "SUBSURF")
    before = file_content()
    verlet.drape(seconds=0.5)
    assert file_content() != before
    verlet.reset()
    bpy.context.view_layer.update()
    assert file_content() == before


@pytest.mark.slow
def test_bodies_that_keep_still_move_no_more() -> None:
    cloth = covered_box()
    verlet.drape()
    first = seen(cloth)
    verlet.drape()
    assert len(cloth.modifiers) == 1
    moved = np.linalg.norm(seen(cloth) - first, axis=1).max()
    assert moved < 0.005 * 2.0 * np.sqrt(2.0)


@pytest.mark.slow
def test_a_drape_that_reached_its_limit_goes_on_from_there() -> None:
    cloth = covered_box()
    verlet.drape(seconds=0.25)
    above = seen(cloth)
    assert above[:, 2].min() > 0.4
    verlet.drape(seconds=0.1)
    assert seen(cloth)[:, 2].min() < above[:, 2].min() - 0.01
    verlet.drape()
    assert seen(cloth)[:, 2].min() < 0.02


def test_a_fast_body_at_the_limit_is_told_in_metres_a_second(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """As it falls; 1.5 m/s once read 1.5e+02 cm/s."""
    bpy.context.scene.verlet.use_ground = False
    body(line(height=3.0))
    verlet.drape(seconds=0.5)
    assert re.search(r"still moves at \d\.\d m/s;", "".join(capfd.readouterr()))


def test_the_drape_keeps_the_lengths_of_the_mesh_when_it_goes_on() -> None:
    cloth = covered_box()
    verlet.drape(seconds=0.6)
    verlet.drape()
    places, ends = seen(cloth), edges(cloth)
    lengths = np.linalg.norm(places[ends[0]] - places[ends[1]], axis=1)
    assert np.abs(lengths / lengths.mean() - 1).max() < 0.01


def test_pins_hold_at_the_current_frame() -> None:
    cloth = sheet("Cloth", resolution=8, height=3.0)
    body(cloth)
    pin(cloth, [0, 8])
    cloth.keyframe_insert("location", frame=1)
    cloth.location.x = 2.0
    cloth.keyframe_insert("location", frame=11)
    bpy.context.scene.frame_set(6)
    held = seen(cloth)[[0, 8]]
    verlet.drape()
    places = seen(cloth)
    assert bpy.context.scene.frame_current == 6
    assert np.allclose(places[[0, 8]], held, atol=1e-5)
    assert places[:, 2].min() < 2.1
    # It hangs: the middle of its lower edge is below the middle between the pins.
    assert abs(places[76, 1] - held[:, 1].mean()) < 0.02


@pytest.mark.slow
def test_two_bodies_rest_on_each_other() -> None:
    box("Box", (0.0, 0.0, 0.3), (0.4, 0.3, 0.3))
    lower = blanket(use_self_collision=True)
    upper = sheet("Napkin", resolution=8, size=0.6, height=1.3)
    upper.location.x = upper.location.y = -0.3
    body(upper)
    verlet.drape()
    assert seen(upper)[:, 2].max() > 0.6
    assert not crossings_of(lower, upper)
    assert not crossings_of(lower, lower)


def strewn_triangles(count: int = 60) -> Any:
    """Separate triangles above Suzanne."""
    rng = np.random.default_rng(5)
    places = rng.uniform((-1.0, -0.8, 1.6), (1.0, 0.8, 4.0), (count, 3))
    corners = places[:, None] + rng.normal(0.0, 0.12, (count, 3, 3))
    mesh = bpy.data.meshes.new("Strewn")
    mesh.from_pydata(
        corners.reshape(-1, 3).tolist(), [], np.arange(3 * count).reshape(-1, 3).tolist()
    )
    obj = bpy.data.objects.new("Strewn", mesh)
    bpy.context.scene.collection.objects.link(obj)
    return body(obj, use_self_collision=True)


@pytest.mark.slow
def test_triangles_strewn_over_suzanne_lie_on_her() -> None:
    bpy.ops.mesh.primitive_monkey_add(location=(0, 0, 0.8))
    monkey: Any = bpy.context.object
    verlet.make_collider()
    strewn = strewn_triangles()
    before = crossings_of(strewn, strewn)
    verlet.drape(seconds=4.0)
    places = seen(strewn)
    assert places[:, 2].min() > 0.0
    assert places[:, 2].max() < 2.2
    # Some get caught where her eyes pass through her head, as in a bake: of 180 edges, 12 at most.
    assert crossings_of(strewn, monkey) <= 12
    assert crossings_of(strewn, strewn) <= before


@pytest.mark.parametrize("kind", ["rope", "jelly", "water"])
def test_other_bodies_drape_too(kind: str) -> None:
    if kind == "rope":
        obj = body(line("Rope", segments=12, height=1.0))
    elif kind == "jelly":
        bpy.ops.mesh.primitive_cube_add(size=0.4, location=(0, 0, 0.4))
        obj = body(bpy.context.object)
    else:
        obj = body(sheet("Pond", resolution=6, height=0.5), body_type="WATER")
    before = seen(obj)
    verlet.drape(seconds=5.0)
    after = seen(obj)
    assert np.isfinite(after).all()
    if kind == "water":
        assert np.allclose(after, before, atol=1e-5)
    else:
        assert 0.0 <= after[:, 2].min() < 0.02


def test_a_drape_begins_where_a_bake_shows_the_body() -> None:
    cloth = covered_box()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 8
    verlet.bake()
    here = shown(cloth, 8)
    verlet.drape(seconds=1 / 24)
    assert np.abs(seen(cloth) - here).max() < 0.01
    verlet.reset()
    assert np.array_equal(shown(cloth, 8), here)
    assert len(baked(cloth)) == 8


def test_a_drape_ends_live_simulation_and_begins_where_it_stands(
    addon: Callable[[str], ModuleType],
) -> None:
    control = addon("blender.live.control")
    cloth, scene = covered_box(), bpy.context.scene
    scene.frame_set(1)
    scene.verlet.use_live = True
    for frame in range(1, 9):
        here = shown(cloth, frame)
    verlet.drape(seconds=1 / 24)
    assert control.session_of(scene) is None
    assert np.abs(seen(cloth) - here).max() < 0.01
    assert [modifier.name for modifier in cloth.modifiers] == ["Verlet Drape"]


def with_armature(cloth: Any, *, mirrored: bool = False) -> Any:
    """The cloth, deformed by a bone that is turned and moved."""
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    bone = rig.data.edit_bones.new("Bone")
    bone.head, bone.tail = (0, 0, 0), (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    count = len(cloth.data.vertices)
    cloth.vertex_groups.new(name="Bone").add(range(count), 1.0, "REPLACE")
    if mirrored:
        cloth.modifiers.new("Subdivision", "SUBSURF").levels = 1
    cloth.modifiers.new("Armature", "ARMATURE").object = rig
    pose = rig.pose.bones["Bone"]
    pose.location = (0.3, 0.2, 0.0)
    pose.rotation_mode = "XYZ"
    pose.rotation_euler = (0.2, 0.3, 0.1)
    select(cloth)
    return cloth


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_drape_passes_through_the_modifiers_after_it(mirrored: bool) -> None:
    cloth = with_armature(covered_box(), mirrored=mirrored)
    verlet.drape()
    assert cloth.modifiers[0].name == "Verlet Drape"
    places = seen(cloth)
    assert -0.01 < places[:, 2].min() < 0.02
    assert 0.55 < places[:, 2].max() < 0.7


def test_a_parent_that_deforms_is_refused() -> None:
    cloth = covered_box()
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    cloth.parent, cloth.parent_type = rig, "ARMATURE"
    bpy.context.view_layer.update()
    before = file_content()
    with pytest.raises(RuntimeError, match="The parent Rig deforms Blanket"):
        verlet.drape()
    assert file_content() == before


@pytest.mark.parametrize("fault", ["linked mesh", "pins", "explosion"])
def test_what_cannot_be_draped_changes_nothing(
    fault: str, monkeypatch: pytest.MonkeyPatch, addon: Callable[[str], ModuleType]
) -> None:
    cloth = covered_box()
    if fault == "linked mesh":
        bpy.data.objects.new("Other", cloth.data)
        match = "shares its mesh"
    if fault == "pins":
        cloth.verlet.pin_group = "Gone"
        match = "has no vertex group Gone"
    if fault == "explosion":
        errors = addon("core.errors")

        def fails(*_: Any, **__: Any) -> Any:
            raise errors.DivergenceError("Blanket explodes; make it softer")
            yield

        monkeypatch.setattr(addon("blender.live.drape"), "drape", fails)
        match = "explodes"
    before = file_content()
    with pytest.raises(RuntimeError, match=match):
        verlet.drape()
    bpy.context.view_layer.update()
    assert file_content() == before


def test_a_bake_says_that_a_drape_would_hide_it() -> None:
    cloth = covered_box()
    verlet.drape(seconds=0.2)
    with pytest.raises(RuntimeError, match="Blanket shows a drape"):
        verlet.bake()
    assert not baked(cloth)


def test_the_selected_bodies_alone_drape() -> None:
    cloth = covered_box()
    other = body(sheet("Other", height=3.0))
    select(cloth)
    before = seen(other)
    verlet.drape(seconds=0.2, selected=True)
    assert not other.modifiers
    assert np.array_equal(seen(other), before)


def test_a_saved_drape_is_there_again(tmp_path: Path) -> None:
    cloth = covered_box()
    verlet.drape(seconds=0.4)
    places = seen(cloth)
    path = tmp_path / "draped.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    assert np.array_equal(seen(cloth), places)
    bpy.ops.wm.open_mainfile(filepath=str(path))
    cloth = bpy.data.objects["Blanket"]
    assert np.array_equal(seen(cloth), places)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    assert len(list(tmp_path.glob("*/*.pc2"))) == 1
    verlet.reset()
    # The file on the disk still shows it, until it is saved without.
    assert len(list(tmp_path.glob("*/*.pc2"))) == 1
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    assert not list(tmp_path.glob("*/*.pc2"))


def test_temporary_files_go_with_their_drape() -> None:
    covered_box()
    verlet.drape(seconds=0.1)
    folder = Path(bpy.app.tempdir)
    assert len(list(folder.glob("*/*_drape.pc2"))) == 1
    verlet.drape(seconds=0.1)
    assert len(list(folder.glob("*/*_drape.pc2"))) == 1
    verlet.reset()
    assert not list(folder.glob("*/*_drape.pc2"))


def test_undo_and_redo_bring_a_drape_back() -> None:
    covered_box()
    bpy.ops.ed.undo_push(message="Before")
    verlet.drape(seconds=0.4)
    places = seen(bpy.data.objects["Blanket"])
    bpy.ops.ed.undo_push(message="Drape")
    verlet.reset()
    flat = seen(bpy.data.objects["Blanket"])
    bpy.ops.ed.undo_push(message="Reset")
    bpy.ops.ed.undo()
    assert np.array_equal(seen(bpy.data.objects["Blanket"]), places)
    bpy.ops.ed.undo()
    assert np.array_equal(seen(bpy.data.objects["Blanket"]), flat)
    bpy.ops.ed.redo()
    assert np.array_equal(seen(bpy.data.objects["Blanket"]), places)


def test_a_collider_in_the_scene_is_needed_for_no_ball() -> None:
    bouncer = ball()
    bouncer.location.z = 3.0
    body(bouncer, body_type="CLOTH")
    bpy.context.scene.verlet.use_ground = False
    verlet.drape(seconds=0.5)
    assert seen(bouncer)[:, 2].max() < 3.9
