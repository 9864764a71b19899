"""A bake adds shape keys and curves, plays them, and can be taken back without a trace."""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any
from unittest.mock import Mock

import bpy
import numpy as np
import pytest

from tests.blender.scenes import body, coordinates, file_content, verlet
from tests.work import count_calls

Addon = Callable[[str], ModuleType]
FRAMES = (1, 2, 3, 4)


@pytest.fixture
def keys(addon: Addon) -> ModuleType:
    return addon("blender.bake.shape_keys")


def has_bake(obj: Any) -> bool:
    """What the panel and Clear Bake go by."""
    return bool(import_module("verlet_addon.blender.bake.record").is_baked(obj))


def sheet(name: str = "Sheet") -> Any:
    """A flat mesh of nine vertices, linked to the scene and active."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=2, y_subdivisions=2)
    obj = bpy.context.object
    obj.name = obj.data.name = name
    return obj


def shapes(obj: Any, count: int = len(FRAMES), *, seed: int = 0) -> Any:
    """Coordinates of some frames, no two alike."""
    random = np.random.default_rng(seed)
    return random.normal(size=(count, len(obj.data.vertices), 3)).astype(np.float32)


def shown(obj: Any) -> Any:
    """The evaluated mesh at the current frame, in the object's space."""
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    return coordinates(mesh.vertices)


def move_key(obj: Any, name: str, *, seed: int) -> Any:
    """A user's key with a shape of its own."""
    block = obj.shape_key_add(name=name, from_mix=False)
    block.value = 0.0
    block.points.foreach_set("co", shapes(obj, 1, seed=seed).ravel())
    return block


def curves_of(key: Any) -> Any:
    """The F-curves that play a Key datablock, in any version of Blender."""
    animation = key.animation_data
    if bpy.app.version < (4, 4, 0):
        return animation.action.fcurves
    strip = animation.action.layers[0].strips[0]
    return strip.channelbag(animation.action_slot).fcurves


# --- files of users ---------------------------------------------------------------------------


def no_keys(obj: Any) -> None:
    """A mesh without shape keys."""


def edited_basis(obj: Any) -> None:
    """A Basis that differs from the mesh's own coordinates."""
    obj.shape_key_add(name="Basis").points.foreach_set("co", shapes(obj, 1, seed=5).ravel())


def muted_and_masked(obj: Any) -> None:
    """Keys that are muted, masked by a vertex group, relative to another, out of 0 … 1."""
    obj.shape_key_add(name="Rest")
    group = obj.vertex_groups.new(name="Half")
    group.add([0, 1, 2], 0.5, "REPLACE")
    first, second = move_key(obj, "first", seed=1), move_key(obj, "second", seed=2)
    first.vertex_group, first.value, first.slider_max = "Half", 1.5, 2.0
    second.relative_key, second.mute, second.value = first, True, 0.25


def active_alone(obj: Any) -> None:
    """An active key, shown alone."""
    obj.shape_key_add(name="Basis")
    move_key(obj, "one", seed=1).value = 0.5
    move_key(obj, "two", seed=2)
    obj.active_shape_key_index = 2
    obj.show_only_shape_key = True


def driven(obj: Any) -> None:
    """A key with a driver, and animation data without an action."""
    obj.shape_key_add(name="Basis")
    move_key(obj, "driven", seed=1)
    driver = obj.data.shape_keys.key_blocks["driven"].driver_add("value").driver
    driver.expression = "frame / 10"


def animated(obj: Any) -> None:
    """An action of the user's, with a key in a group of the name that bakes use."""
    obj.shape_key_add(name="Basis")
    block = move_key(obj, "wave", seed=1)
    for frame, value in ((1, 0.0), (3, 0.7), (9, 0.2)):
        block.value = value
        block.keyframe_insert("value", frame=frame, group="Verlet")


def animated_with_object(obj: Any) -> None:
    """The object and its keys in one action, each with its own slot where there are slots."""
    obj.keyframe_insert("location", frame=1)
    animated(obj)


def strips(obj: Any) -> None:
    """The user's action pushed down to an NLA strip, so that no action is active."""
    animated(obj)
    animation = obj.data.shape_keys.animation_data
    action, slot = animation.action, getattr(animation, "action_slot", None)
    animation.action = None
    strip = animation.nla_tracks.new().strips.new("wave", 1, action)
    if slot is not None:
        strip.action_slot = slot


def strips_and_action(obj: Any) -> None:
    """An NLA strip below an active action."""
    strips(obj)
    obj.data.shape_keys.key_blocks["wave"].keyframe_insert("value", frame=5)


def empty_animation(obj: Any) -> None:
    """Animation data in which nothing is left."""
    obj.shape_key_add(name="Basis")
    obj.data.shape_keys.animation_data_create()


def empty_action(obj: Any) -> None:
    """An action of the user's in which nothing is yet."""
    empty_animation(obj)
    animation = obj.data.shape_keys.animation_data
    animation.action = bpy.data.actions.new("Mine")
    if hasattr(animation, "action_slot"):
        animation.action_slot = animation.action.slots.new(id_type="KEY", name="Mine")


def shared_action(obj: Any) -> None:
    """An action that plays the keys of another object as well."""
    animated(obj)
    other = obj.copy()
    other.name, other.data = "Other", obj.data.copy()
    bpy.context.scene.collection.objects.link(other)


def names_taken(obj: Any) -> None:
    """A key of the user's with the name of a bake's."""
    obj.shape_key_add(name="Basis")
    move_key(obj, "verlet_0002", seed=1).value = 0.3


USER_FILES = [
    no_keys,
    edited_basis,
    muted_and_masked,
    active_alone,
    driven,
    animated,
    animated_with_object,
    strips,
    strips_and_action,
    empty_animation,
    empty_action,
    shared_action,
    names_taken,
]


@pytest.fixture(params=USER_FILES, ids=lambda prepare: prepare.__name__)
def obj(request: pytest.FixtureRequest) -> Any:
    """A sheet in each of these files."""
    sheet_object = sheet()
    request.param(sheet_object)
    bpy.context.view_layer.update()
    return sheet_object


def everything() -> Any:
    """All that the file holds, and the names of what is stored on its actions."""
    return file_content(), [list(action.keys()) for action in bpy.data.actions]


# --- promises -----------------------------------------------------------------------------------


def test_a_removed_bake_leaves_no_trace(keys: ModuleType, obj: Any) -> None:
    before = everything()
    keys.write_bake(obj, FRAMES, shapes(obj))
    assert everything() != before
    keys.remove_bakes([obj])
    assert everything() == before


def test_a_second_bake_replaces_the_first_and_nothing_else(keys: ModuleType, obj: Any) -> None:
    before = everything()
    keys.write_bake(obj, range(-3, 30, 2), shapes(obj, 17, seed=1))
    keys.write_bake(obj, FRAMES, shapes(obj))
    twice = everything()
    keys.remove_bakes([obj])
    assert everything() == before
    keys.write_bake(obj, FRAMES, shapes(obj))
    assert everything() == twice


def test_a_bake_leaves_what_the_user_made(keys: ModuleType, obj: Any) -> None:
    def users_part() -> Any:
        now = file_content()
        key = now.get("shape_keys/Key", {"key_blocks": []})
        blocks = [b for b in key["key_blocks"] if b["name"] in names]
        own = {name: now["objects/Sheet"][name] for name in kept}
        return blocks, own, now["meshes/Sheet"]["vertices"]

    kept = ("active_shape_key_index", "show_only_shape_key", "location", "vertex_groups")
    names = [block.name for block in obj.data.shape_keys.key_blocks] if obj.data.shape_keys else []
    before = users_part()
    keys.write_bake(obj, FRAMES, shapes(obj))
    assert users_part() == before


def test_a_bake_shows_each_frame_beside_the_users_keys(keys: ModuleType, obj: Any) -> None:
    """Blender adds differences of keys in float32: 2e-6 of coordinates up to 4."""
    obj.show_only_shape_key = False
    basis, mix = None, {}
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        mix[frame] = shown(obj)
    if obj.data.shape_keys:
        basis = coordinates(obj.data.shape_keys.reference_key.points)
    baked = shapes(obj)
    keys.write_bake(obj, FRAMES, baked)
    for frame, shape in zip(FRAMES, baked, strict=True):
        bpy.context.scene.frame_set(frame)
        offset = 0 if basis is None else mix[frame] - basis
        np.testing.assert_allclose(shown(obj), shape + offset, atol=2e-6)


def test_the_current_frame_shows_at_once(keys: ModuleType) -> None:
    obj = sheet()
    bpy.context.scene.frame_set(3)
    baked = shapes(obj)
    keys.write_bake(obj, FRAMES, baked)
    assert [block.value for block in obj.data.shape_keys.key_blocks[1:]] == [0, 0, 1, 0]
    np.testing.assert_allclose(shown(obj), baked[2], atol=1e-6)


@pytest.mark.parametrize("frames", [range(3), range(-7, 5, 3), (1,), range(9998, 10003)])
def test_frames_may_start_anywhere(keys: ModuleType, frames: Any) -> None:
    obj = sheet()
    baked = shapes(obj, len(frames))
    keys.write_bake(obj, frames, baked)
    names = [block.name for block in obj.data.shape_keys.key_blocks]
    assert names == ["Basis", *(f"verlet_{frame:04d}" for frame in frames)]
    for frame, shape in [(frames[0] - 5, baked[0]), *zip(frames, baked, strict=True)]:
        bpy.context.scene.frame_set(frame)
        np.testing.assert_allclose(shown(obj), shape, atol=1e-6)
    bpy.context.scene.frame_set(frames[-1] + 50)
    np.testing.assert_allclose(shown(obj), baked[-1], atol=1e-6)


def test_between_baked_frames_the_mesh_moves_straight(keys: ModuleType) -> None:
    """A third of the way from frame 1 to frame 4, the mesh is a third from shape to shape."""
    obj = sheet()
    baked = shapes(obj, 2)
    keys.write_bake(obj, (1, 4), baked)
    bpy.context.scene.frame_set(2)
    np.testing.assert_allclose(shown(obj), baked[0] * 2 / 3 + baked[1] / 3, atol=2e-6)


def test_curves_stand_in_a_group_named_verlet(keys: ModuleType) -> None:
    obj = sheet()
    keys.write_bake(obj, FRAMES, shapes(obj))
    for curve in curves_of(obj.data.shape_keys):
        assert curve.group.name == "Verlet"
        assert {point.interpolation for point in curve.keyframe_points} == {"LINEAR"}


def test_curves_of_a_bake_are_out_of_the_way(keys: ModuleType) -> None:
    """Hundreds of them would cover the user's in the Graph Editor, and go where those are moved."""
    obj = sheet()
    keys.write_bake(obj, FRAMES, shapes(obj))
    for curve in curves_of(obj.data.shape_keys):
        assert curve.hide
        assert not curve.select
        for point in curve.keyframe_points:
            assert not point.select_control_point
            assert not point.select_left_handle
            assert not point.select_right_handle
            assert point.type == "GENERATED" or bpy.app.version < (4, 3, 0)


def test_curves_join_the_users_action(keys: ModuleType) -> None:
    obj = sheet()
    animated_with_object(obj)
    actions = len(bpy.data.actions)
    keys.write_bake(obj, FRAMES, shapes(obj))
    assert len(bpy.data.actions) == actions
    paths = [curve.data_path for curve in curves_of(obj.data.shape_keys)]
    assert 'key_blocks["wave"].value' in paths
    assert 'key_blocks["verlet_0003"].value' in paths


def test_a_bake_knows_whether_it_is_there(keys: ModuleType) -> None:
    obj = sheet()
    names_taken(obj)
    assert not has_bake(obj)
    keys.write_bake(obj, FRAMES, shapes(obj))
    assert has_bake(obj)
    keys.remove_bakes([obj])
    assert not has_bake(obj)


def test_removing_no_bake_changes_nothing(keys: ModuleType, obj: Any) -> None:
    before = everything()
    keys.remove_bakes([obj])
    assert everything() == before


def test_renamed_keys_are_still_of_the_bake(keys: ModuleType) -> None:
    obj = sheet()
    before = everything()
    keys.write_bake(obj, FRAMES, shapes(obj))
    obj.data.shape_keys.key_blocks["verlet_0003"].name = 'my "pose"'
    keys.remove_bakes([obj])
    assert everything() == before


def test_own_keys_are_listed_without_the_frames_of_the_bake_between_them(
    keys: ModuleType, addon: Addon
) -> None:
    """Those of the bake have a list of their own, until the user names one."""
    lists, obj = addon("blender.ui.shape_key_lists"), sheet()
    assert not lists.VERLET_PT_shape_keys.poll(bpy.context)
    move_key(obj, "Smile", seed=1)
    keys.write_bake(obj, FRAMES, shapes(obj))
    move_key(obj, "Frown", seed=2)
    blocks = obj.data.shape_keys.key_blocks
    blocks["verlet_0003"].name = "Pose"

    def listed(kind: Any, **typed: Any) -> list[str]:
        given = {"filter_name": "", "bitflag_filter_item": 1 << 30, "for_baked": kind.for_baked}
        found, _ = kind.filter_items(
            Mock(**given | typed), bpy.context, obj.data.shape_keys, "key_blocks"
        )
        return [block.name for block, shown in zip(blocks, found, strict=True) if shown]

    assert lists.VERLET_PT_shape_keys.poll(bpy.context)
    assert listed(lists.VERLET_UL_own_keys) == ["Smile", "Pose", "Frown"]
    assert listed(lists.VERLET_UL_own_keys, filter_name="rown") == ["Frown"]
    assert listed(lists.VERLET_UL_baked_keys) == ["verlet_0001", "verlet_0002", "verlet_0004"]
    keys.remove_bakes([obj])
    assert not lists.VERLET_PT_shape_keys.poll(bpy.context)


def test_a_new_key_with_the_name_of_a_renamed_one_is_the_users(keys: ModuleType) -> None:
    obj = sheet()
    keys.write_bake(obj, FRAMES, shapes(obj))
    obj.data.shape_keys.key_blocks["verlet_0003"].name = "pose"
    mine = shapes(obj, 1, seed=3)[0]
    move_key(obj, "verlet_0003", seed=3)
    keys.remove_bakes([obj])
    assert [block.name for block in obj.data.shape_keys.key_blocks] == ["Basis", "verlet_0003"]
    np.testing.assert_array_equal(
        coordinates(obj.data.shape_keys.key_blocks["verlet_0003"].points), mine
    )


def test_keys_added_after_a_bake_stay_with_their_basis(keys: ModuleType) -> None:
    obj = sheet()
    keys.write_bake(obj, FRAMES, shapes(obj))
    move_key(obj, "smile", seed=4).keyframe_insert("value", frame=2)
    obj.active_shape_key_index = obj.data.shape_keys.key_blocks.find("smile")
    keys.remove_bakes([obj])
    assert [block.name for block in obj.data.shape_keys.key_blocks] == ["Basis", "smile"]
    assert obj.active_shape_key.name == "smile"
    assert [c.data_path for c in curves_of(obj.data.shape_keys)] == ['key_blocks["smile"].value']
    keys.write_bake(obj, FRAMES, shapes(obj))
    keys.remove_bakes([obj])
    assert [block.name for block in obj.data.shape_keys.key_blocks] == ["Basis", "smile"]


def test_curves_added_after_a_bake_keep_its_action(keys: ModuleType) -> None:
    """From 4.4 on, Blender puts the object's own keyframes into the action of its shape keys."""
    obj = sheet()
    keys.write_bake(obj, FRAMES, shapes(obj))
    obj.keyframe_insert("location", frame=1)
    action = obj.animation_data.action.name
    keys.remove_bakes([obj])
    assert [item.name for item in bpy.data.actions] == [action]
    assert obj.data.shape_keys is None
    assert len(getattr(bpy.data.actions[action], "slots", [None])) == 1
    obj.location.x = 7
    bpy.context.scene.frame_set(2)
    assert obj.location.x == 0


def test_a_bake_without_its_curves_is_removed_too(keys: ModuleType) -> None:
    obj = sheet()
    before = everything()
    keys.write_bake(obj, FRAMES, shapes(obj))
    curves = curves_of(obj.data.shape_keys)
    for curve in list(curves):
        curves.remove(curve)
    keys.remove_bakes([obj])
    assert everything() == before


def test_a_bake_without_its_basis_is_removed_too(keys: ModuleType) -> None:
    obj = sheet()
    keys.write_bake(obj, FRAMES, shapes(obj))
    obj.shape_key_remove(obj.data.shape_keys.reference_key)
    keys.remove_bakes([obj])
    assert obj.data.shape_keys is None
    assert not bpy.data.actions


@pytest.mark.parametrize("users_basis", [False, True])
def test_the_rest_shape_survives_the_loss_of_the_basis(
    keys: ModuleType, addon: Addon, users_basis: bool
) -> None:
    """Blender gives the mesh the shape of the first baked key when the Basis is removed."""
    obj = sheet()
    if users_basis:
        edited_basis(obj)
    rest = shown(obj)
    keys.write_bake(obj, FRAMES, shapes(obj))
    obj.shape_key_remove(obj.data.shape_keys.reference_key)
    shown(obj)  # Blender 5.2 sets the texture space at the first look at the new shape
    lost = everything()
    with addon("blender.bake.former_bake").former_bakes_hidden([obj]):
        np.testing.assert_array_equal(shown(obj), rest)
    assert everything() == lost
    keys.remove_bakes([obj])
    np.testing.assert_array_equal(shown(obj), rest)
    np.testing.assert_array_equal(coordinates(obj.data.vertices), rest)
    assert (obj.data.shape_keys is not None) == users_basis
    assert not any(name.startswith(".verlet") for name, _ in obj.data.attributes.items())


def test_keys_added_after_a_bake_get_their_basis_back(keys: ModuleType) -> None:
    obj = sheet()
    rest = shown(obj)
    keys.write_bake(obj, FRAMES, shapes(obj))
    move_key(obj, "smile", seed=4)
    obj.shape_key_remove(obj.data.shape_keys.reference_key)
    keys.remove_bakes([obj])
    assert [block.name for block in obj.data.shape_keys.key_blocks] == ["Basis", "smile"]
    np.testing.assert_array_equal(shown(obj), rest)


def test_what_is_added_at_a_baked_key_has_its_place_at_rest_too(keys: ModuleType) -> None:
    """Blender itself leaves it there in the mesh, and shows that once the keys are gone."""
    obj = sheet()
    keys.write_bake(obj, FRAMES, shapes(obj) + np.array((0, 0, 5), np.float32))
    obj.active_shape_key_index = 2
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide()
    bpy.ops.object.mode_set(mode="OBJECT")
    keys.remove_bakes([obj])
    assert coordinates(obj.data.vertices)[:, 2].max() == 0


def test_keys_of_a_bake_may_be_sorted(keys: ModuleType) -> None:
    obj = sheet()
    keys.write_bake(obj, FRAMES, shapes(obj))
    move_key(obj, "smile", seed=4)
    obj.active_shape_key_index = len(FRAMES) + 1
    for _ in range(3):
        bpy.ops.object.shape_key_move(type="UP")
    keys.remove_bakes([obj])
    assert [block.name for block in obj.data.shape_keys.key_blocks] == ["Basis", "smile"]
    assert obj.active_shape_key.name == "smile"


def test_edits_of_a_shared_action_are_not_lost(keys: ModuleType) -> None:
    obj = sheet()
    shared_action(obj)
    keys.write_bake(obj, FRAMES, shapes(obj))
    obj.data.shape_keys.key_blocks["wave"].value = 0.9
    obj.data.shape_keys.key_blocks["wave"].keyframe_insert("value", frame=20)
    keys.remove_bakes([obj])
    (curve,) = curves_of(obj.data.shape_keys)
    assert curve.evaluate(20) == pytest.approx(0.9)
    (curve,) = curves_of(bpy.data.objects["Other"].data.shape_keys)
    assert curve.evaluate(20) == pytest.approx(0.2)


@pytest.mark.parametrize("prepare", [no_keys, animated, driven, strips], ids=lambda f: f.__name__)
@pytest.mark.parametrize("how", ["operator", "script"])
@pytest.mark.parametrize("rebake", [False, True])
def test_a_duplicate_has_a_bake_of_its_own(
    keys: ModuleType, prepare: Callable[[Any], None], how: str, rebake: bool
) -> None:
    """Whatever becomes of the duplicate's bake, the original plays as before."""
    obj = sheet()
    prepare(obj)
    keys.write_bake(obj, FRAMES, shapes(obj))
    if how == "operator":
        bpy.ops.object.duplicate()
        twin = bpy.context.object
    else:
        twin = obj.copy()
        twin.data = obj.data.copy()
        bpy.context.scene.collection.objects.link(twin)
    assert has_bake(twin)
    before = [(bpy.context.scene.frame_set(frame), shown(obj))[1] for frame in range(6)]
    curves = [str(curve) for curve in curves_of(obj.data.shape_keys)]
    if rebake:
        keys.write_bake(twin, (2, 3), shapes(twin, 2, seed=8))
    else:
        keys.remove_bakes([twin])
    for frame, shape in enumerate(before):
        bpy.context.scene.frame_set(frame)
        np.testing.assert_array_equal(shown(obj), shape)
    assert [str(curve) for curve in curves_of(obj.data.shape_keys)] == curves
    assert has_bake(twin) == rebake
    keys.remove_bakes([obj])
    assert not has_bake(obj)
    assert has_bake(twin) == rebake


def test_duplicates_without_their_curves_leave_no_trace(keys: ModuleType) -> None:
    obj = sheet()
    keys.write_bake(obj, FRAMES, shapes(obj))
    twin = obj.copy()
    twin.data = obj.data.copy()
    curves = curves_of(obj.data.shape_keys)
    for curve in list(curves):
        curves.remove(curve)
    keys.remove_bakes([twin])
    keys.remove_bakes([obj])
    assert not bpy.data.actions
    assert obj.data.shape_keys is None
    assert twin.data.shape_keys is None


def test_a_baked_curve_among_the_users_takes_none_of_them_along(keys: ModuleType) -> None:
    obj = sheet()
    animated(obj)
    (wave,) = curves_of(obj.data.shape_keys)
    wave.group.name = "Mine"
    keys.write_bake(obj, FRAMES, shapes(obj))
    curves = curves_of(obj.data.shape_keys)
    baked = next(c for c in curves if c.data_path == 'key_blocks["verlet_0002"].value')
    baked.group = next(c for c in curves if "wave" in c.data_path).group
    keys.remove_bakes([obj])
    assert [c.data_path for c in curves_of(obj.data.shape_keys)] == ['key_blocks["wave"].value']


def test_a_linked_duplicate_shares_the_bake(keys: ModuleType) -> None:
    obj = sheet()
    keys.write_bake(obj, FRAMES, shapes(obj))
    bpy.ops.object.duplicate(linked=True)
    twin = bpy.context.object
    keys.remove_bakes([obj])
    assert not has_bake(twin)
    assert obj.data.shape_keys is None
    keys.remove_bakes([twin])


def test_the_former_bake_is_hidden_while_sampling(keys: ModuleType, addon: Addon) -> None:
    """Keys that the user muted stay muted, and the user's own are not touched."""
    obj = sheet()
    muted_and_masked(obj)
    rest = shown(obj)
    keys.write_bake(obj, FRAMES, shapes(obj))
    obj.data.shape_keys.key_blocks["verlet_0002"].mute = True
    before = everything()
    former_bakes_hidden = addon("blender.bake.former_bake").former_bakes_hidden
    with former_bakes_hidden([obj]):
        np.testing.assert_array_equal(shown(obj), rest)
        # Blender evaluates curves of muted keys too: a frame would cost more with each of them.
        assert all(curve.mute for curve in curves_of(obj.data.shape_keys))
    assert everything() == before
    with pytest.raises(KeyError), former_bakes_hidden([obj]):
        raise KeyError
    assert everything() == before


def test_a_bake_is_not_removed_in_edit_mode(keys: ModuleType, addon: Addon) -> None:
    obj = sheet()
    keys.write_bake(obj, FRAMES, shapes(obj))
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(addon("core.errors").MeshError, match="Sheet is in Edit Mode"):
        keys.remove_bakes([obj])
    bpy.ops.object.mode_set(mode="OBJECT")
    assert has_bake(obj)


def test_a_linked_action_is_copied_for_the_time_of_the_bake(
    keys: ModuleType, tmp_path: Any
) -> None:
    """Nothing can be written into it; its animation goes on all the same."""
    obj = sheet()
    animated(obj)
    link_action(obj.data.shape_keys.animation_data, str(tmp_path / "library.blend"))
    bpy.context.scene.frame_set(1)
    before = everything()
    keys.write_bake(obj, FRAMES, shapes(obj))
    bpy.context.scene.frame_set(3)
    assert obj.data.shape_keys.key_blocks["wave"].value == pytest.approx(0.7)
    assert obj.data.shape_keys.key_blocks["verlet_0003"].value == 1
    bpy.context.scene.frame_set(1)
    keys.remove_bakes([obj])
    assert everything() == before


def link_action(animation: Any, library: str) -> None:
    """Puts the action into a library and plays it from there."""
    name = animation.action.name
    bpy.data.libraries.write(library, {animation.action})
    bpy.data.actions.remove(animation.action)
    bpy.ops.wm.link(filename=name, directory=f"{library}/Action/")
    animation.action = bpy.data.actions[name]
    if hasattr(animation, "action_slot"):
        animation.action_slot = animation.action.slots[0]


def test_bodies_that_share_an_action_share_it_again_once_cleared() -> None:
    """One of them got a copy, for the curves of its bake; the other kept the action itself."""
    obj = sheet()
    shared_action(obj)
    for each in bpy.data.objects:
        body(each)
        each.location.z = 3.0
    before = [each.shape_keys.animation_data.action for each in bpy.data.meshes]
    verlet.bake(frame_start=1, frame_end=2)
    verlet.clear_bake()
    assert [each.shape_keys.animation_data.action for each in bpy.data.meshes] == before
    assert len(bpy.data.actions) == 1


def reopen(path: str) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)


def test_a_saved_bake_can_be_removed_later(keys: ModuleType, tmp_path: Any) -> None:
    obj = sheet()
    shared_action(obj)
    path = str(tmp_path / "sheet.blend")
    reopen(path)
    before = everything()
    obj = bpy.data.objects["Sheet"]
    keys.write_bake(obj, FRAMES, shapes(obj))
    reopen(path)
    keys.remove_bakes([bpy.data.objects["Sheet"]])
    assert everything() == before


@pytest.mark.parametrize("prepare", [no_keys, shared_action], ids=lambda f: f.__name__)
def test_a_bake_of_a_blender_before_slots_can_be_removed(keys: ModuleType, prepare: Any) -> None:
    """What 4.2 and 4.3 noted of the action before says nothing of slots."""
    obj = sheet()
    prepare(obj)
    before = everything()
    keys.write_bake(obj, FRAMES, shapes(obj))
    noted: Any = obj.data.shape_keys
    old = ("made_animation_data", "former")
    noted["verlet"] = {name: noted["verlet"][name] for name in old if name in noted["verlet"]}
    keys.remove_bakes([obj])
    assert everything() == before


# --- meshes that a script has replaced ----------------------------------------------------------


@pytest.mark.parametrize("count", [0, 4, 30])
@pytest.mark.parametrize("basis", ["its own", "the bake's", "removed"])
def test_a_bake_of_a_mesh_that_was_replaced_can_be_cleared(
    keys: ModuleType, count: int, basis: str
) -> None:
    """Blender leaves keys of as many points as before; the new shape stays as it is."""
    obj = body(sheet())
    if basis == "its own":
        obj.shape_key_add(name="Basis")
    keys.write_bake(obj, FRAMES, shapes(obj))
    if basis == "removed":
        obj.shape_key_remove(obj.data.shape_keys.reference_key)
    places = np.random.default_rng(1).random((count, 3)).astype(np.float32)
    obj.data.clear_geometry()
    obj.data.from_pydata(places.tolist(), [], [])
    assert verlet.clear_bake() == {"FINISHED"}
    assert not has_bake(obj)
    left = obj.data.shape_keys.key_blocks if obj.data.shape_keys else []
    assert [block.name for block in left] == ["Basis"] * (basis == "its own")
    assert np.array_equal(coordinates(obj.data.vertices), places)


def test_vertices_that_a_script_adds_do_not_keep_a_bake_from_being_cleared(
    keys: ModuleType,
) -> None:
    """The mesh knows its shape without the bake, but the keys have no points for it."""
    obj = body(sheet())
    keys.write_bake(obj, FRAMES, shapes(obj))
    obj.shape_key_remove(obj.data.shape_keys.reference_key)
    obj.data.vertices.add(3)
    assert verlet.clear_bake() == {"FINISHED"}
    assert obj.data.shape_keys is None


def test_a_mesh_that_was_replaced_is_released_and_baked_anew() -> None:
    """A rope takes the place of the sheet once the former bake is cleared."""
    obj = body(sheet())
    verlet.bake(frame_start=1, frame_end=3)
    obj.data.clear_geometry()
    verlet.release()
    numbers = range(12)
    ends = [(number, number + 1) for number in numbers[:-1]]
    obj.data.from_pydata([(number, 0.0, 2.0) for number in numbers], ends, [])
    assert verlet.clear_bake() == {"FINISHED"}
    verlet.convert(use_material=False)
    verlet.bake(frame_start=1, frame_end=3)
    assert len(obj.data.shape_keys.key_blocks) == 4


@pytest.mark.skipif(bpy.app.version < (4, 4, 0), reason="without slots each has its own action")
def test_a_shared_action_is_found_without_a_look_at_all_keys(keys: ModuleType) -> None:
    """Or else removing two thousand bakes would be four million looks."""
    objects = [sheet(str(number)) for number in range(60)]
    for obj in objects:
        keys.write_bake(obj, FRAMES, shapes(obj))
    actions = import_module("verlet_addon.blender.bake.actions")
    shared = objects[0].data.copy().shape_keys
    assert [actions.is_shared(o.data.shape_keys) for o in objects] == [True] + [False] * 59
    assert actions.is_shared(shared)
    assert count_calls(lambda: actions.is_shared(objects[-1].data.shape_keys)) < 10
