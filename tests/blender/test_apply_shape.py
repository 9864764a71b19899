"""Apply: what the current frame shows becomes the mesh or a shape key, and nothing else is left."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.scenes import (
    baked,
    body,
    coordinates,
    file_content,
    pin,
    select,
    sheet,
    shown,
    verlet,
)
from tests.blender.test_drape import blanket, box, covered_box, seen, with_armature

SOURCES = ("drape", "live", "bake")
FRAME = 10


def simulate(source: str) -> None:
    """Has bodies show a simulation at the current frame."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 12
    if source == "drape":
        scene.frame_set(FRAME)
        verlet.drape(seconds=0.6)
    if source == "bake":
        verlet.bake()
    if source == "live":
        scene.frame_set(1)
        scene.verlet.use_live = True
        for frame in range(1, FRAME + 1):
            scene.frame_set(frame)
    scene.frame_set(FRAME)


def evaluated(obj: Any) -> Any:
    """Coordinates (m, 3) of the evaluated mesh, all modifiers included."""
    found = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return coordinates(found.data.vertices)


def assert_nothing_of_ours(obj: Any) -> None:
    """No modifier, key, curve, attribute, file or setting of the add-on is left."""
    assert not [item for item in obj.modifiers if item.name.startswith("Verlet")]
    assert not baked(obj)
    assert not [item for item in obj.data.attributes if "verlet" in item.name]
    assert not [action for action in bpy.data.actions if "Verlet" in action.name]
    settings = obj.verlet
    assert not [
        item.identifier
        for item in settings.bl_rna.properties
        if settings.is_property_set(item.identifier) and item.identifier != "rna_type"
    ]
    assert not list(Path(bpy.app.tempdir).glob("verlet_live/*.pc2"))
    assert not bpy.context.scene.verlet.use_live


@pytest.mark.parametrize("source", SOURCES)
def test_a_shape_becomes_the_mesh_bit_for_bit(source: str) -> None:
    cloth = covered_box()
    cloth.rotation_euler = (0.1, 0.2, 0.3)
    cloth.scale = (1.1, 0.9, 1.0)
    cloth.modifiers.new("Subdivision", "SUBSURF").levels = 1
    modifiers = [item.name for item in cloth.modifiers]
    simulate(source)
    before = evaluated(cloth)
    assert verlet.apply_shape(mode="MESH") == {"FINISHED"}
    assert np.array_equal(evaluated(cloth), before)
    assert cloth.data.shape_keys is None
    assert [item.name for item in cloth.modifiers] == modifiers
    assert_nothing_of_ours(cloth)
    bpy.context.scene.frame_set(1)
    assert np.array_equal(evaluated(cloth), before)


@pytest.mark.parametrize("source", SOURCES)
def test_a_shape_becomes_a_shape_key(source: str) -> None:
    cloth = covered_box()
    own = coordinates(cloth.data.vertices)
    simulate(source)
    before = seen(cloth)
    verlet.apply_shape(mode="SHAPE_KEY")
    assert np.allclose(seen(cloth), before, rtol=0, atol=1e-6)
    assert [key.name for key in cloth.data.shape_keys.key_blocks] == ["Basis", "Draped"]
    assert cloth.active_shape_key.name == "Draped"
    assert np.array_equal(coordinates(cloth.data.shape_keys.key_blocks[0].points), own)
    assert cloth.verlet.enabled
    assert cloth.verlet.rest_key == "Basis"
    assert not [item for item in cloth.modifiers if item.name.startswith("Verlet")]
    assert not bpy.data.actions


@pytest.mark.parametrize("mode", ["MESH", "SHAPE_KEY"])
@pytest.mark.parametrize("source", SOURCES)
def test_armatures_are_not_doubled(source: str, mode: str) -> None:
    cloth = with_armature(covered_box())
    simulate(source)
    before = seen(cloth)
    verlet.apply_shape(mode=mode)
    assert np.allclose(seen(cloth), before, rtol=0, atol=1e-5)
    assert [item.name for item in cloth.modifiers] == ["Armature"]


def with_keys(cloth: Any) -> Any:
    """The cloth with a Basis and two keys of the user's, both partly on."""
    cloth.shape_key_add(name="Basis")
    for name, value, axis in (("Wide", 0.25, 0), ("Long", 0.5, 1)):
        key = cloth.shape_key_add(name=name)
        places = coordinates(key.points)
        places[:, axis] *= 1.2
        key.points.foreach_set("co", places.ravel())
        key.value = value
    return cloth


@pytest.mark.parametrize("source", SOURCES)
def test_keys_of_the_user_move_along_with_the_mesh(source: str) -> None:
    cloth = with_keys(covered_box())
    keys = cloth.data.shape_keys.key_blocks
    offsets = {key.name: coordinates(key.points) - coordinates(keys[0].points) for key in keys}
    simulate(source)
    before = seen(cloth)
    verlet.apply_shape(mode="MESH")
    assert np.allclose(seen(cloth), before, rtol=0, atol=1e-6)
    keys = cloth.data.shape_keys.key_blocks
    assert [(key.name, key.value) for key in keys[1:]] == [("Wide", 0.25), ("Long", 0.5)]
    for key in keys:
        offset = coordinates(key.points) - coordinates(keys[0].points)
        assert np.allclose(offset, offsets[key.name], atol=1e-6)
    assert np.array_equal(coordinates(cloth.data.vertices), coordinates(keys[0].points))


@pytest.mark.parametrize("source", SOURCES)
def test_a_shape_key_stands_beside_those_of_the_user(source: str) -> None:
    cloth = with_keys(covered_box())
    keys = cloth.data.shape_keys.key_blocks
    own = {key.name: coordinates(key.points) for key in keys}
    simulate(source)
    before = seen(cloth)
    verlet.apply_shape(mode="SHAPE_KEY")
    assert np.allclose(seen(cloth), before, rtol=0, atol=1e-6)
    keys = cloth.data.shape_keys.key_blocks
    assert [key.name for key in keys] == ["Basis", "Wide", "Long", "Draped"]
    assert all(np.array_equal(coordinates(keys[name].points), own[name]) for name in own)


@pytest.mark.parametrize("mode", ["MESH", "SHAPE_KEY"])
@pytest.mark.parametrize("source", SOURCES)
def test_undo_restores_what_was_shown(source: str, mode: str) -> None:
    covered_box()
    simulate(source)
    bpy.ops.ed.undo_push(message="Simulated")
    before, content = seen(bpy.data.objects["Blanket"]), file_content()
    verlet.apply_shape(mode=mode)
    after = seen(bpy.data.objects["Blanket"])
    bpy.ops.ed.undo_push(message="Applied")
    bpy.ops.ed.undo()
    cloth: Any = bpy.data.objects["Blanket"]
    assert cloth.verlet.enabled
    if source != "live":
        assert np.array_equal(seen(cloth), before)
        assert file_content() == content
    bpy.ops.ed.redo()
    assert np.array_equal(seen(bpy.data.objects["Blanket"]), after)


@pytest.mark.parametrize("fault", ["shared", "absolute", "solo", "override"])
def test_what_cannot_be_applied_is_refused_in_one_sentence(fault: str, tmp_path: Path) -> None:
    cloth = with_keys(covered_box()) if fault in ("absolute", "solo") else covered_box()
    simulate("drape")
    mode = "SHAPE_KEY" if fault == "solo" else "MESH"
    if fault == "shared":
        bpy.data.objects.new("Twin", cloth.data)
        match = "Blanket shares its mesh Blanket with Twin"
    if fault == "absolute":
        cloth.data.shape_keys.use_relative = False
        match = "Blanket has absolute shape keys"
    if fault == "solo":
        cloth.show_only_shape_key = True
        match = "Blanket shows one shape key alone"
    if fault == "override":
        path = str(tmp_path / "library.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        libraries: Any = bpy.data.libraries
        with libraries.load(path, link=True) as (_, into):
            into.objects = ["Blanket"]
        linked = bpy.data.objects["Blanket"]
        bpy.context.scene.collection.objects.link(linked)
        match = "Blanket is linked from another file"
    bpy.context.view_layer.update()
    before = file_content()
    with pytest.raises(RuntimeError, match=match):
        verlet.apply_shape(mode=mode)
    assert file_content() == before


def test_two_bodies_and_the_selected_one_alone() -> None:
    box("Box", (0.0, 0.0, 0.3), (0.4, 0.3, 0.3))
    first = blanket()
    second = body(sheet("Second", resolution=4, height=2.0))
    simulate("drape")
    places = seen(first), seen(second)
    select(second)
    verlet.apply_shape(mode="MESH", selected=True)
    assert first.modifiers
    assert not second.modifiers
    verlet.apply_shape(mode="MESH")
    assert not first.modifiers
    assert np.array_equal(seen(first), places[0])
    assert np.array_equal(seen(second), places[1])


def test_a_duplicate_keeps_its_drape_when_the_other_is_applied() -> None:
    cloth = covered_box()
    simulate("drape")
    select(cloth)
    bpy.ops.object.duplicate()
    other: Any = bpy.context.object
    before = seen(other)
    select(cloth)
    verlet.apply_shape(mode="MESH", selected=True)
    assert np.array_equal(seen(other), before)


@pytest.mark.slow
def test_a_bake_begins_at_an_applied_shape_key_with_the_lengths_of_the_mesh() -> None:
    cloth = covered_box()
    verlet.drape()
    verlet.apply_shape(mode="SHAPE_KEY")
    before = seen(cloth)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 12
    verlet.bake()
    assert np.abs(shown(cloth, 12) - before).max() < 0.03


def test_nothing_to_apply_is_said() -> None:
    covered_box()
    assert not verlet.apply_shape.poll()


def test_a_body_that_is_switched_off_keeps_its_bake() -> None:
    cloth = covered_box()
    pin(cloth, [0])
    simulate("bake")
    cloth.verlet.enabled = False
    assert cloth.verlet.baked_keys
    other = body(sheet("Other", height=2.0))
    verlet.drape(seconds=0.1)
    verlet.apply_shape(mode="MESH")
    assert len(baked(cloth)) == 12
    assert not other.modifiers


@pytest.mark.parametrize("keep", [True, False])
def test_removing_a_soft_body_asks_for_its_motion(keep: bool) -> None:
    cloth = covered_box()
    before = coordinates(cloth.data.vertices)
    simulate("bake")
    select(cloth)
    verlet.release(keep_motion=keep)
    assert not cloth.verlet.enabled
    assert len(baked(cloth)) == (12 if keep else 0)
    assert bool(bpy.data.actions) == keep
    if not keep:
        assert cloth.data.shape_keys is None
        assert np.array_equal(coordinates(cloth.data.vertices), before)
        assert_nothing_of_ours(cloth)


def test_removing_a_soft_body_and_its_drape() -> None:
    cloth = covered_box()
    simulate("drape")
    select(cloth)
    verlet.release(keep_motion=False)
    assert_nothing_of_ours(cloth)


def test_a_shape_can_be_applied_as_long_as_there_is_one() -> None:
    """After Remove Soft Body with its motion, too."""
    assert not verlet.apply_shape.poll()
    cloth = covered_box()
    simulate("bake")
    select(cloth)
    assert verlet.apply_shape.poll()
    verlet.release(keep_motion=True)
    assert not cloth.verlet.enabled
    assert verlet.apply_shape.poll()
    verlet.apply_shape(mode="MESH")
    bpy.context.view_layer.update()
    assert not verlet.apply_shape.poll()
