"""The core gets the mesh as the user sees it, and the mesh shows what the core gives back."""

from collections.abc import Callable
from math import sin
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from tests.blender.scenes import put_away

Addon = Callable[[str], ModuleType]


@pytest.fixture
def io(addon: Addon) -> ModuleType:
    return addon("blender.scene.mesh_io")


@pytest.fixture
def points(addon: Addon) -> ModuleType:
    return addon("blender.scene.key_points")


@pytest.fixture
def keys(addon: Addon) -> ModuleType:
    return addon("blender.bake.shape_keys")


@pytest.fixture
def mesh_error(addon: Addon) -> Any:
    return addon("core.errors").MeshError


def sheet(name: str = "Sheet") -> Any:
    """A flat mesh of 36 vertices, 2 m wide, linked to the scene and active."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=5, y_subdivisions=5, size=2)
    obj = bpy.context.object
    obj.name = obj.data.name = name
    return obj


def depsgraph() -> Any:
    return bpy.context.evaluated_depsgraph_get()


def shown(obj: Any) -> Any:
    """World positions of the evaluated mesh, vertex by vertex as Blender transforms them."""
    evaluated = obj.evaluated_get(depsgraph())
    return np.array([evaluated.matrix_world @ v.co for v in evaluated.data.vertices])


def billowed(positions: Any) -> Any:
    """The same positions moved by up to a metre, each in another way."""
    x, y, z = positions.T
    return positions + np.stack(
        [0.3 * np.sin(3 * y), 0.2 * np.cos(2 * x), np.sin(4 * x + z) - 0.5], 1
    )


# --- where objects are --------------------------------------------------------------------------


def at_origin(obj: Any) -> None:
    """Where it was made."""


def moved(obj: Any) -> None:
    obj.location, obj.rotation_euler = (30, -20, 10), (0.3, 1.0, -2.0)


def stretched(obj: Any) -> None:
    obj.rotation_euler, obj.scale = (0.3, 1.0, -2.0), (0.1, 3.0, 20.0)


def mirrored(obj: Any) -> None:
    obj.scale = (1, -1, 1)


def sheared_by_parents(obj: Any) -> None:
    """A turned child of a turned and unevenly scaled parent, with an inverse as Blender sets it."""
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.rotation_euler, parent.scale, parent.location = (1, 2, 3), (1, -2, 0.5), (1, 2, 3)
    obj.parent, obj.rotation_euler, obj.delta_location = parent, (0.5, 0.6, 0.7), (0, 0, 1)
    obj.matrix_parent_inverse = Matrix.Translation((3, 1, 2)) @ Matrix.Scale(2, 4, (1, 1, 0))


def animated(obj: Any) -> None:
    for frame in (1, 11):
        obj.location, obj.rotation_euler = (frame, 0, 0), (0, frame / 7, 0)
        obj.scale = (frame, 1, 2)
        obj.keyframe_insert("location", frame=frame)
        obj.keyframe_insert("rotation_euler", frame=frame)
        obj.keyframe_insert("scale", frame=frame)


PLACES = [at_origin, moved, stretched, mirrored, sheared_by_parents, animated]


# --- what the user's keys are -------------------------------------------------------------------


def no_keys(obj: Any) -> None:
    """A mesh without shape keys."""


def mixed_keys(obj: Any) -> None:
    """A Basis unlike the mesh, keys that are muted, masked, relative to others, driven, keyed."""
    random = np.random.default_rng(3)
    obj.vertex_groups.new(name="Half").add(range(18), 0.5, "REPLACE")
    for name in ("Basis", "masked", "muted", "chained", "driven", "keyed"):
        block = obj.shape_key_add(name=name)
        block.value = 0.5
        block.points.foreach_set("co", random.normal(size=108).astype(np.float32))
    blocks = obj.data.shape_keys.key_blocks
    blocks["masked"].vertex_group = "Half"
    blocks["muted"].mute = True
    blocks["chained"].relative_key = blocks["keyed"]
    blocks["driven"].driver_add("value").driver.expression = "frame / 20"
    blocks["keyed"].keyframe_insert("value", frame=1)
    blocks["keyed"].value = 1.0
    blocks["keyed"].keyframe_insert("value", frame=9)
    obj.active_shape_key_index = 2
    bpy.context.scene.frame_set(1)


# --- what carries vertices along ----------------------------------------------------------------


def armature(obj: Any) -> Any:
    """Two bones, turned, moved and stretched, that share the sheet smoothly."""
    bpy.ops.object.armature_add()
    rig = bpy.context.object
    bpy.ops.object.mode_set(mode="EDIT")
    tip = rig.data.edit_bones.new("Tip")
    tip.head, tip.tail = (0, 0, 0.5), (1, 0, 0.5)
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.location = (1, 2, 3)
    for axis, bone in enumerate(rig.pose.bones):
        bone.rotation_mode, bone.location, bone.scale = "XYZ", (0.2, 0.1, 0.3), (1, 1.5, 0.8)
        bone.rotation_euler[axis] = 1.1
        bone.keyframe_insert("rotation_euler", frame=1)
        bone.rotation_euler[axis] = 2.2
        bone.keyframe_insert("rotation_euler", frame=21)
        group = obj.vertex_groups.new(name=bone.name)
        for vertex in obj.data.vertices:
            group.add([vertex.index], abs(axis - (vertex.co.x + 1) / 2), "REPLACE")
    obj.modifiers.new("Rig", "ARMATURE").object = rig
    return rig


def armature_that_keeps_volume(obj: Any) -> None:
    armature(obj)
    obj.modifiers["Rig"].use_deform_preserve_volume = True


def armature_as_parent(obj: Any) -> None:
    rig = armature(obj)
    obj.modifiers.clear()
    obj.parent, obj.parent_type = rig, "ARMATURE"


def armature_between_finishes(obj: Any) -> None:
    """On half the mesh, mirrored before and subdivided after, and smoothed."""
    obj.modifiers.new("Mirror", "MIRROR")
    armature(obj)
    obj.modifiers.new("Smooth", "SMOOTH")
    obj.modifiers.new("Subdivision", "SUBSURF")


def hook(obj: Any) -> None:
    """Vertices that follow an empty, some by half."""
    bpy.ops.object.add(type="EMPTY")
    empty = bpy.context.object
    group = obj.vertex_groups.new(name="Hooked")
    group.add(range(12), 1.0, "REPLACE")
    group.add(range(12, 24), 0.5, "REPLACE")
    modifier = obj.modifiers.new("Hook", "HOOK")
    modifier.object, modifier.vertex_group = empty, "Hooked"
    empty.location, empty.rotation_euler, empty.scale = (0, 1, 2), (0.5, 0.2, 0.3), (1, 2, 1)


def lattice(obj: Any) -> None:
    """A bent cage, which is no affine map anywhere."""
    bpy.ops.object.add(type="LATTICE")
    cage = bpy.context.object
    cage.data.points_u = cage.data.points_v = 3
    cage.scale = (3, 3, 3)
    for number, point in enumerate(cage.data.points):
        point.co_deform = [c + 0.1 * sin(7 * number + k) for k, c in enumerate(point.co_deform)]
    obj.modifiers.new("Lattice", "LATTICE").object = cage


CARRIERS = [
    armature,
    armature_that_keeps_volume,
    armature_as_parent,
    armature_between_finishes,
    hook,
    lattice,
]

# --- reading ------------------------------------------------------------------------------------


@pytest.mark.parametrize("carry", [no_keys, armature, hook, lattice], ids=lambda f: f.__name__)
@pytest.mark.parametrize("prepare", [no_keys, mixed_keys], ids=lambda f: f.__name__)
@pytest.mark.parametrize("place", PLACES, ids=lambda f: f.__name__)
def test_positions_are_those_the_user_sees(
    io: ModuleType, place: Any, prepare: Any, carry: Any
) -> None:
    """Blender multiplies in float32: 1e-6 of coordinates up to 40 m."""
    obj = sheet()
    for step in (prepare, carry, place):
        step(obj)
    for frame in (1, 6):
        bpy.context.scene.frame_set(frame)
        np.testing.assert_allclose(io.read_positions(obj, depsgraph()), shown(obj), atol=4e-5)


@pytest.mark.parametrize("kind", ["SUBSURF", "MIRROR", "SOLIDIFY", "SMOOTH", "DISPLACE", "ARRAY"])
def test_finishing_modifiers_are_left_out_and_left_on(io: ModuleType, kind: str) -> None:
    obj = sheet()
    armature(obj)
    mixed_keys(obj)
    plain = io.read_positions(obj, depsgraph())
    modifier = obj.modifiers.new("Finish", kind)
    finished = shown(obj)
    np.testing.assert_array_equal(io.read_positions(obj, depsgraph()), plain)
    assert modifier.show_viewport
    np.testing.assert_array_equal(shown(obj), finished)


def test_finishes_hidden_for_long_are_shown_again(addon: Addon) -> None:
    obj = sheet()
    on, off = obj.modifiers.new("On", "SUBSURF"), obj.modifiers.new("Off", "SOLIDIFY")
    off.show_viewport = False
    finish_hidden = addon("blender.scene.modifiers").finish_hidden
    with finish_hidden([obj]) as hidden:
        assert hidden
        assert len(shown(obj)) == 36
    with pytest.raises(KeyError), finish_hidden([obj]):
        raise KeyError
    assert on.show_viewport
    assert not off.show_viewport


def test_a_body_has_every_edge_face_and_pin(io: ModuleType) -> None:
    """A triangle, a quad beside it and a loose edge; the second vertex is pinned by half."""
    mesh = bpy.data.meshes.new("Mesh")
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0, 0), (5, 0, 0)]
    mesh.from_pydata(corners, [(4, 5)], [(0, 1, 2, 3), (1, 4, 2)])
    obj: Any = bpy.data.objects.new("Body", mesh)
    bpy.context.scene.collection.objects.link(obj)
    obj.vertex_groups.new(name="Other").add([0, 1], 1.0, "REPLACE")
    obj.vertex_groups.new(name="Pin").add([1], 0.5, "REPLACE")
    obj.vertex_groups["Pin"].add([4], 1.0, "REPLACE")
    obj.verlet.pin_group = "Pin"
    velocities = np.ones((6, 3))
    body = io.read_body(obj, depsgraph(), velocities=velocities)
    assert body.name == "Body"
    np.testing.assert_array_equal(body.positions, corners)
    assert {frozenset(edge) for edge in body.edges.tolist()} == {
        frozenset(edge) for edge in [(0, 1), (1, 2), (2, 3), (3, 0), (1, 4), (4, 2), (4, 5)]
    }
    np.testing.assert_array_equal(body.face_starts, [0, 4, 7])
    np.testing.assert_array_equal(body.face_vertices, [0, 1, 2, 3, 1, 4, 2])
    np.testing.assert_array_equal(body.pin_weights, [0, 0.5, 0, 0, 1, 0])
    assert body.velocities is velocities
    obj.verlet.pin_group = ""
    body = io.read_body(obj, depsgraph(), velocities=velocities)
    np.testing.assert_array_equal(body.pin_weights, np.zeros(6))


# --- writing ------------------------------------------------------------------------------------


def round_trip(
    io: ModuleType, points: ModuleType, keys: ModuleType, obj: Any, wanted: Callable[[Any], Any]
) -> Any:
    """What is wanted and what the mesh shows, at two frames of one bake."""
    coordinates, targets, found = [], [], []
    for frame in (1, 6):
        bpy.context.scene.frame_set(frame)
        targets.append(wanted(io.read_positions(obj, depsgraph())))
        coordinates.append(points.way_to_key(obj, depsgraph())(targets[-1]))
    keys.write_bake(obj, (1, 6), np.stack(coordinates))
    for frame in (1, 6):
        bpy.context.scene.frame_set(frame)
        found.append(io.read_positions(obj, depsgraph()))
    return np.array(targets), np.array(found)


@pytest.mark.parametrize("prepare", [no_keys, mixed_keys], ids=lambda f: f.__name__)
@pytest.mark.parametrize("place", PLACES, ids=lambda f: f.__name__)
def test_a_bake_shows_the_wanted_positions(
    io: ModuleType, points: ModuleType, keys: ModuleType, place: Any, prepare: Any
) -> None:
    """Coordinates up to 40 m, in float32 sums of seven keys, scaled up to 20 times."""
    obj = sheet()
    prepare(obj)
    place(obj)
    wanted, found = round_trip(io, points, keys, obj, billowed)
    np.testing.assert_allclose(found, wanted, atol=4e-5)


@pytest.mark.parametrize("prepare", [no_keys, mixed_keys], ids=lambda f: f.__name__)
@pytest.mark.parametrize("place", [at_origin, stretched, animated], ids=lambda f: f.__name__)
@pytest.mark.parametrize("carry", CARRIERS, ids=lambda f: f.__name__)
def test_a_bake_undoes_what_carries_the_mesh(
    io: ModuleType, points: ModuleType, keys: ModuleType, carry: Any, place: Any, prepare: Any
) -> None:
    """Up to 1e-6 of the mesh's size in its own space, scaled up to 20 times."""
    obj = sheet()
    for step in (prepare, carry, place):
        step(obj)
    wanted, found = round_trip(io, points, keys, obj, billowed)
    np.testing.assert_allclose(found, wanted, atol=2e-4)


def test_a_bake_undoes_a_strong_bend(io: ModuleType, points: ModuleType, keys: ModuleType) -> None:
    """A tenth of the way around: slopes at the start point elsewhere than those at the end."""
    obj = sheet()
    bpy.ops.curve.primitive_bezier_circle_add(radius=4)
    obj.modifiers.new("Curve", "CURVE").object = bpy.context.object
    turn = np.array(Matrix.Rotation(0.6, 3, "Z"))
    wanted, found = round_trip(io, points, keys, obj, lambda positions: positions @ turn.T)
    np.testing.assert_allclose(found, wanted, atol=2e-5)


def test_an_unmoved_mesh_gives_the_basis_itself(io: ModuleType, points: ModuleType) -> None:
    """Bit for bit: what stands still must not jitter."""
    obj = sheet()
    sheared_by_parents(obj)
    obj.shape_key_add(name="Basis")
    basis = np.array([point.co for point in obj.data.shape_keys.reference_key.points])
    bpy.context.scene.frame_set(3)
    positions = io.read_positions(obj, depsgraph())
    np.testing.assert_array_equal(points.way_to_key(obj, depsgraph())(positions), basis)


@pytest.mark.parametrize("prepare", [no_keys, mixed_keys], ids=lambda f: f.__name__)
def test_the_way_back_through_modifiers_leaves_no_trace(
    io: ModuleType, points: ModuleType, prepare: Any
) -> None:
    obj = sheet()
    prepare(obj)
    armature_between_finishes(obj)
    before, picture = state(obj), shown(obj)
    points.way_to_key(obj, depsgraph())(billowed(io.read_positions(obj, depsgraph())))
    assert state(obj) == before
    np.testing.assert_array_equal(shown(obj), picture)


def state(obj: Any) -> Any:
    """What the way back might leave changed."""
    key = obj.data.shape_keys
    blocks = key.key_blocks if key else ()
    return (
        [(b.name, b.value, b.mute, [tuple(p.co) for p in b.points]) for b in blocks],
        [(m.name, m.show_viewport) for m in obj.modifiers],
        [tuple(v.co) for v in obj.data.vertices],
        (obj.active_shape_key_index, obj.show_only_shape_key, len(bpy.data.shape_keys)),
    )


def test_modifiers_without_a_way_back_are_an_error(
    io: ModuleType, points: ModuleType, mesh_error: Any
) -> None:
    """Bones of size 0 take every vertex to one of their two heads."""
    obj = sheet()
    for bone in armature(obj).pose.bones:
        bone.scale = (0, 0, 0)
    before = state(obj)
    positions = io.read_positions(obj, depsgraph())
    with pytest.raises(mesh_error, match="The modifiers of Sheet flatten or project it, so"):
        points.way_to_key(obj, depsgraph())(positions + 1)
    assert state(obj) == before


def test_a_key_shown_alone_does_not_spoil_a_bake(
    io: ModuleType, points: ModuleType, keys: ModuleType, addon: Addon
) -> None:
    """The bake is right once all keys are shown again, which is the only way to see it."""
    obj = sheet()
    mixed_keys(obj)
    obj.show_only_shape_key = True
    with addon("blender.bake.former_bake").former_bakes_hidden([obj]):
        wanted = billowed(io.read_positions(obj, depsgraph()))
        coordinates = points.way_to_key(obj, depsgraph())(wanted)
    assert obj.show_only_shape_key
    keys.write_bake(obj, (1,), coordinates[None])
    obj.show_only_shape_key = False
    np.testing.assert_allclose(shown(obj), wanted, atol=4e-6)


def test_a_scale_animated_to_zero_is_named_with_its_frame(
    points: ModuleType, mesh_error: Any
) -> None:
    obj = sheet()
    obj.scale = (1, 0, 1)
    obj.keyframe_insert("scale", frame=4)
    bpy.context.scene.frame_set(4)
    with pytest.raises(mesh_error, match="Sheet has scale 0 at frame 4"):
        points.way_to_key(obj, depsgraph())(np.zeros((36, 3)))


def test_a_modifier_that_cannot_be_hidden_is_an_error(io: ModuleType, mesh_error: Any) -> None:
    obj = sheet()
    obj.modifiers.new("Subdivision", "SUBSURF")
    obj.modifiers["Subdivision"].driver_add("show_viewport").driver.expression = "1"
    with pytest.raises(mesh_error, match="Sheet has 36 vertices but a modifier makes 121"):
        io.read_positions(obj, depsgraph())


# --- checking -----------------------------------------------------------------------------------


def hostile(change: Callable[[Any], None], sentence: str) -> Any:
    return pytest.param(change, sentence, id=change.__name__)


def an_empty(obj: Any) -> None:
    bpy.data.objects.remove(obj)
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Sheet", None))


def shared_mesh(obj: Any) -> None:
    bpy.data.objects.new("Twin", obj.data)


def edit_mode(obj: Any) -> None:
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")


def sculpt_mode(obj: Any) -> None:
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="SCULPT")


def hidden(obj: Any) -> None:
    obj.hide_set(True)


def hidden_in_viewports(obj: Any) -> None:
    obj.hide_viewport = True


def excluded(obj: Any) -> None:
    put_away(obj, exclude=True)


def zero_scale(obj: Any) -> None:
    obj.scale = (1, 0, 2)


def flattened_by_parent(obj: Any) -> None:
    sheared_by_parents(obj)
    obj.parent.scale.x = 0


def missing_group(obj: Any) -> None:
    obj.vertex_groups.new(name="pin")
    obj.verlet.pin_group = "Pin"


def absolute_keys(obj: Any) -> None:
    obj.shape_key_add(name="Basis")
    obj.data.shape_keys.use_relative = False


def cloth(obj: Any) -> None:
    obj.modifiers.new("Cloth", "CLOTH")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        hostile(an_empty, "Sheet is not a mesh; convert it to a mesh or deselect it"),
        hostile(
            shared_mesh,
            "Sheet shares its mesh Sheet with Twin; make the mesh single-user by Object ▸",
        ),
        hostile(edit_mode, "Sheet is in Edit Mode; switch to Object Mode"),
        hostile(sculpt_mode, "Sheet is in Sculpt Mode; switch to Object Mode"),
        hostile(hidden, "Sheet is hidden; show it in the viewport"),
        hostile(hidden_in_viewports, "Sheet is hidden; show it in the viewport"),
        hostile(excluded, "Sheet is not in the view layer ViewLayer; include its collection"),
        hostile(zero_scale, r"Sheet has scale (1, 0, 2); no part of it may be 0"),
        hostile(flattened_by_parent, "no part of it may be 0"),
        hostile(missing_group, "Sheet has no vertex group Pin; choose another pin group or none"),
        hostile(absolute_keys, "Sheet has absolute shape keys; turn on Relative for them"),
        hostile(cloth, "The modifier Cloth of Sheet replaces the positions of its vertices"),
    ],
)
def test_what_cannot_be_baked_is_said_in_one_sentence(
    io: ModuleType, mesh_error: Any, change: Callable[[Any], None], sentence: str
) -> None:
    sheet()
    change(bpy.data.objects["Sheet"])
    with pytest.raises(mesh_error) as caught:
        io.check_body(bpy.data.objects["Sheet"], bpy.context.view_layer)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_linked_object_has_to_be_overridden_or_made_local(
    io: ModuleType, mesh_error: Any, tmp_path: Any
) -> None:
    """An object whose mesh alone is linked is welcome, and so is a library override."""
    sheet()
    library = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=library)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.wm.link(filename="Sheet", directory=f"{library}/Object/")
    linked = bpy.data.objects["Sheet"]
    half = bpy.data.objects.new("Half", linked.data)
    bpy.context.scene.collection.objects.link(half)
    view_layer = bpy.context.view_layer
    with pytest.raises(mesh_error, match="Sheet is linked from another file; make it an override"):
        io.check_body(linked, view_layer)
    io.check_body(half, view_layer)
    override = linked.override_create(remap_local_usages=True)
    io.check_body(override, view_layer)
    override.data.override_create(remap_local_usages=True)
    io.check_body(override, view_layer)


def test_what_a_linked_collection_holds_is_made_local_by_the_menu_that_is_named(
    io: ModuleType, mesh_error: Any, tmp_path: Any
) -> None:
    """Selected objects in a linked collection stay linked, without a word of Blender's."""
    held = bpy.data.collections.new("Held")
    held.objects.link(sheet())
    library = str(tmp_path / "library.blend")
    bpy.data.libraries.write(library, {held})
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    libraries: Any = bpy.data.libraries
    with libraries.load(library, link=True) as (_, linked):
        linked.collections = ["Held"]
    bpy.context.scene.collection.children.link(linked.collections[0])
    (obj,) = bpy.context.scene.objects
    with pytest.raises(mesh_error, match="Relations ▸ Make Local ▸ All"):
        io.check_body(obj, bpy.context.view_layer)
    obj.select_set(True)
    bpy.ops.object.make_local(type="ALL")
    io.check_body(bpy.data.objects["Sheet"], bpy.context.view_layer)


@pytest.mark.parametrize("place", PLACES, ids=lambda f: f.__name__)
def test_any_other_mesh_is_welcome(io: ModuleType, place: Any) -> None:
    obj = sheet()
    mixed_keys(obj)
    armature_between_finishes(obj)
    place(obj)
    obj.verlet.pin_group = "Half"
    io.check_body(obj, bpy.context.view_layer)
