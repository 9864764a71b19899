"""A bake that may surprise says so in one sentence that names the object and the remedy."""

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
    blender,
    body,
    file_content,
    line,
    mesh_object,
    open_apart,
    put_away,
    select,
    sheet,
    verlet,
)

Addon = Callable[[str], ModuleType]


# --- vertex groups ------------------------------------------------------------------------------


def test_groups_that_were_never_given_vertices_are_named(said: Callable[[], list[str]]) -> None:
    """Making and choosing one does not assign anything to it, as many a beginner finds out."""
    obj, target = body(sheet()), sheet("Mast")
    for name in ("Top", "Buttons", "Corner"):
        obj.vertex_groups.new(name=name)
    obj.verlet.pin_group, obj.verlet.rigid_group = "Top", "Buttons"
    item = obj.verlet.attachments.add()
    item.target, item.vertex_group = target, "Corner"
    assert [re.findall(r"(?<=, )\w+(?=;)", sentence) for sentence in said()] == [
        ["Top"],
        ["Buttons"],
        ["Corner"],
    ]
    for group in obj.vertex_groups:
        group.add([0], 0.1, "REPLACE")
    assert not said()


def test_pins_that_hold_an_attachment_back_are_named(said: Callable[[], list[str]]) -> None:
    """A cape whose attached edge is pinned as well would stay behind its figure."""
    obj, target = body(sheet()), sheet("Figure")
    group = obj.vertex_groups.new(name="Shoulders")
    group.add([0, 1], 1.0, "REPLACE")
    item = obj.verlet.attachments.add()
    item.target, item.vertex_group = target, "Shoulders"
    assert not said()
    obj.verlet.pin_group = "Shoulders"
    (sentence,) = said()
    assert "attached to Figure" in sentence
    assert "clear its pin group, Shoulders" in sentence
    group.add([0, 1], 0.5, "REPLACE")
    assert not said()  # drawn to both, as soft pins are meant to be


def test_what_can_neither_be_sewn_nor_tear_is_said(said: Callable[[], list[str]]) -> None:
    """Switched on alone, neither does anything."""
    obj = body(sheet(), use_sewing=True, use_tearing=True)
    assert [sentence.split(",")[0] for sentence in said()] == [
        "Sewing of Sheet is on",
        "Tearing of Sheet is on",
    ]
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    verlet.split_for_tearing()
    bpy.ops.object.mode_set(mode="OBJECT")
    assert not said()
    obj.verlet.body_type = "ROPE"
    assert not said()


SAMPLES = sorted((Path(__file__).parents[2] / "sample_blends").glob("*.blend"))


@pytest.mark.skipif(not SAMPLES, reason="the samples are not beside these tests")
def test_of_samples_there_is_nothing_to_be_said() -> None:
    """At their first frame; each is a model of how a scene is set up."""
    for path in SAMPLES:
        open_apart(path)
        verlet.bake(frame_start=1, frame_end=1)
        assert not bpy.context.scene.verlet.baked_remarks, path.name


# --- bakes that will not be seen ----------------------------------------------------------------


def test_a_shape_key_shown_alone_is_named(said: Callable[[], list[str]]) -> None:
    """It would hide the bake; without keys the switch does nothing."""
    obj = body(sheet())
    obj.show_only_shape_key = True
    assert not said()
    obj.shape_key_add(name="Mine")
    (sentence,) = said()
    assert "Mine alone" in sentence


# --- hidden bodies ------------------------------------------------------------------------------


def hidden(obj: Any) -> None:
    obj.hide_set(True)


def hidden_in_viewports(obj: Any) -> None:
    obj.hide_viewport = True


def excluded(obj: Any) -> None:
    put_away(obj, exclude=True)


HIDES = [hidden, hidden_in_viewports, excluded]


def linked_body(name: str, folder: Path, *, with_bake: bool) -> Any:
    """A body of another file, that the scene shows."""
    obj = body(line(name, height=3.0))
    if with_bake:
        verlet.bake(frame_start=1, frame_end=3)
    library = str(folder / f"{name}.blend")
    bpy.data.libraries.write(library, {obj})
    bpy.data.objects.remove(obj)
    with blender.data.libraries.load(library, link=True) as (_, linked):
        linked.objects = [name]
    bpy.context.scene.collection.objects.link(linked.objects[0])
    return linked.objects[0]


def test_a_linked_body_is_left_out_and_named_unless_it_is_baked(
    said: Callable[[], list[str]], tmp_path: Path
) -> None:
    """The set that a shot links brings its own baked curtains; the shot bakes what is its own."""
    curtain = linked_body("Curtain", tmp_path, with_bake=True)
    linked_body("Rope", tmp_path, with_bake=False)
    own = body(line("Own", height=3.0))
    before = baked(curtain)
    assert len(before) == 3
    assert said() == [
        "Rope is linked from another file and left out; override it, or make it local, to bake it "
        "too"
    ]
    verlet.bake(frame_start=1, frame_end=5)
    assert len(baked(own)) == 5
    assert list(baked(curtain)) == list(before)


@pytest.mark.parametrize("hide", HIDES, ids=lambda f: f.__name__)
def test_a_hidden_body_is_left_out_and_named(
    said: Callable[[], list[str]], capfd: Any, hide: Callable[[Any], None]
) -> None:
    shown, away = body(line("Shown", height=3.0)), body(line("Away", height=3.0))
    verlet.bake(frame_start=1, frame_end=3)
    hide(away)
    assert said() == ["Away is hidden and left out; show it to bake it too"]
    verlet.bake(frame_start=1, frame_end=5)
    assert "Away is hidden and left out" in capfd.readouterr().out
    assert len(baked(shown)) == 5
    assert len(baked(away)) == 3


@pytest.mark.parametrize("hide", HIDES, ids=lambda f: f.__name__)
def test_hidden_bodies_alone_cannot_be_baked(hide: Callable[[Any], None]) -> None:
    away = body(line("Away", height=3.0))
    hide(away)
    with pytest.raises(RuntimeError, match=r"Away is (hidden|not in the view layer)"):
        verlet.bake(frame_start=1, frame_end=3)


def test_several_hidden_bodies_share_a_sentence(said: Callable[[], list[str]]) -> None:
    body(line("Shown"))
    for name in ("First", "Second"):
        hidden(body(line(name)))
    assert said() == ["First, Second are hidden and left out; show them to bake them too"]


def test_the_command_line_leaves_hidden_bodies_out_unless_they_are_named(
    addon: Addon, tmp_path: Path, capfd: Any
) -> None:
    main = addon("blender.cli.command").main
    body(line("Shown", height=3.0))
    hidden(body(line("Away", height=3.0)))
    bpy.context.scene.frame_end = 3
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "in.blend"), copy=True)
    command = ["bake", str(tmp_path / "in.blend"), "--output", str(tmp_path / "out.blend")]
    assert main([*command, "--json"]) == 0
    printed = capfd.readouterr()
    assert "verlet: warning: Away is hidden and left out" in printed.err
    assert '"bodies": ["Shown"]' in printed.out
    assert main([*command, "--object", "Shown"]) == 0
    assert capfd.readouterr().err == ""
    assert main([*command, "--object", "Away"]) == 1
    assert capfd.readouterr().err == "verlet: Away is hidden; show it in the viewport\n"


# --- units --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scale", "gravity", "warned"),
    [(1.0, -9.81, False), (0.01, -9.81, True), (0.01, -981.0, False), (1000.0, -9.81, True)],
)
def test_gravity_of_the_earth_in_other_units_is_doubted(
    said: Callable[[], list[str]], scale: float, gravity: float, warned: bool
) -> None:
    body(line(height=3.0))
    scene: Any = bpy.context.scene
    scene.unit_settings.scale_length, scene.gravity[2] = scale, gravity
    assert bool(said()) == warned
    if warned:
        assert f"unit scale of Scene is {scale:g}" in said()[0]
        assert f"-9.81 m/s² ({-9.81 / scale:g} in a script)" in said()[0]
        scene.use_gravity = False
        assert said() == []
        scene.use_gravity, scene.unit_settings.system = True, "NONE"
        assert said() == []


# --- bodies in collections that are instanced ---------------------------------------------------


def instance_of(collection: Any) -> Any:
    """An empty that shows a collection."""
    obj: Any = bpy.data.objects.new("Figure", None)
    obj.instance_type, obj.instance_collection = "COLLECTION", collection
    bpy.context.scene.collection.objects.link(obj)
    return obj


def test_bodies_that_are_only_instanced_are_named(said: Callable[[], list[str]]) -> None:
    """A character that is linked comes so; it would stand still without a word."""
    cape, tie = body(sheet("Cape")), body(sheet("Tie"))
    wardrobe = bpy.data.collections.new("Wardrobe")
    for obj in (cape, tie):
        wardrobe.objects.link(obj)
    instance_of(wardrobe)
    assert said() == []
    for obj in (cape, tie):
        bpy.context.scene.collection.objects.unlink(obj)
    with pytest.raises(RuntimeError, match="Figure is an instance of Wardrobe, so Cape, Tie in"):
        verlet.bake()
    flag = body(sheet("Flag"))
    assert [sentence.split(";")[0] for sentence in said()] == [
        "Figure is an instance of Wardrobe, so Cape, Tie in there will not move"
    ]
    body(sheet("Pole", height=2.0))
    select(flag)
    verlet.bake(selected=True, frame_start=1, frame_end=2)
    assert not bpy.context.scene.verlet.baked_remarks


def test_colliders_that_are_only_instanced_are_named(said: Callable[[], list[str]]) -> None:
    """The set of a shot comes so, and what falls on its floor would fall through it."""
    floor, house = sheet("Floor"), bpy.data.collections.new("House")
    floor.modifiers.new("Collision", "COLLISION")
    house.objects.link(floor)
    instance = instance_of(house)
    body(sheet("Flag", height=2.0))
    assert said() == []
    bpy.context.scene.collection.objects.unlink(floor)
    assert [sentence.split(";")[0] for sentence in said()] == [
        "Figure is an instance of House, so bodies pass through Floor in there"
    ]
    instance.hide_set(True)
    assert said() == []


def test_instanced_bodies_that_are_baked_are_as_they_should_be(
    said: Callable[[], list[str]],
) -> None:
    cape = body(sheet("Cape"))
    verlet.bake(frame_start=1, frame_end=2)
    wardrobe = bpy.data.collections.new("Wardrobe")
    wardrobe.objects.link(cape)
    bpy.context.scene.collection.objects.unlink(cape)
    instance_of(wardrobe)
    body(sheet("Flag"))
    assert said() == []


# --- geometry nodes -----------------------------------------------------------------------------


def input_itself(_tree: Any, given: Any) -> Any:
    return given


def another_mesh(tree: Any, _given: Any) -> Any:
    return tree.nodes.new("GeometryNodeMeshCube").outputs[0]


def nothing(_tree: Any, _given: Any) -> None:
    return None


def cubes_on_vertices(tree: Any, given: Any) -> Any:
    node = tree.nodes.new("GeometryNodeInstanceOnPoints")
    tree.links.new(given, node.inputs["Points"])
    tree.links.new(another_mesh(tree, given), node.inputs["Instance"])
    return node.outputs[0]


def curves(tree: Any, given: Any) -> Any:
    node = tree.nodes.new("GeometryNodeMeshToCurve")
    tree.links.new(given, node.inputs[0])
    return node.outputs[0]


def give_nodes(obj: Any, made: Callable[[Any, Any], Any]) -> Any:
    """A modifier of geometry nodes whose output is what `made` makes of its input."""
    tree: Any = bpy.data.node_groups.new("Tree", "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    given = tree.nodes.new("NodeGroupInput").outputs[0]
    if (shown := made(tree, given)) is not None:
        tree.links.new(shown, tree.nodes.new("NodeGroupOutput").inputs[0])
    modifier = obj.modifiers.new("Nodes", "NODES")
    modifier.node_group = tree
    return modifier


@pytest.mark.parametrize(
    ("made", "warned"),
    [
        (input_itself, False),
        (another_mesh, True),
        (nothing, True),
        (cubes_on_vertices, False),
        (curves, False),
    ],
)
def test_geometry_nodes_that_hide_a_bake_are_named(
    said: Callable[[], list[str]], made: Callable[[Any, Any], Any], warned: bool
) -> None:
    """Before a bake and beside a former one, which such nodes hide as well."""
    obj = body(sheet())
    modifier = give_nodes(obj, made)
    for _ in range(2):
        before = file_content()
        assert len(said()) == warned
        assert file_content() == before
        verlet.bake(frame_start=1, frame_end=2)
        remarks = bpy.context.scene.verlet.baked_remarks
        assert ("The modifiers of Sheet (Nodes) show" in remarks) == warned
    modifier.show_viewport = False
    assert not said()


def test_an_ocean_in_the_place_of_a_body_is_named(said: Callable[[], list[str]]) -> None:
    ocean = body(sheet()).modifiers.new("Ocean", "OCEAN")
    (only,) = said()
    assert only.startswith("The modifiers of Sheet (Ocean) show something else than its mesh")
    ocean.geometry_mode = "DISPLACE"
    assert not said()


def simulation(tree: Any, given: Any) -> Any:
    """A zone, within a group, that lets its input pass at the first frame and keeps it then."""
    inner: Any = bpy.data.node_groups.new("Zone", "GeometryNodeTree")
    start, end = (inner.nodes.new(f"GeometryNodeSimulation{way}put") for way in ("In", "Out"))
    start.pair_with_output(end)
    tree.nodes.new("GeometryNodeGroup").node_tree = inner
    return given


def test_geometry_nodes_that_simulate_are_named(said: Callable[[], list[str]]) -> None:
    """Blender's own Cloth Dynamics shows its own motion in the place of a bake."""
    give_nodes(body(sheet()), simulation)
    (only,) = said()
    assert only.startswith("The geometry nodes of Sheet (Nodes) simulate too")


# --- modifiers ----------------------------------------------------------------------------------


def mirror(obj: Any) -> Any:
    return obj.modifiers.new("Mirror", "MIRROR")


def joined(obj: Any) -> None:
    mirror(obj)


def joined_without_distance(obj: Any) -> None:
    mirror(obj).merge_threshold = 0.0


def unjoined(obj: Any) -> None:
    mirror(obj).use_mirror_merge = False


def clipped(obj: Any) -> None:
    mirror(obj).use_mirror_merge = False
    obj.modifiers["Mirror"].use_clip = True


def unjoined_and_apart(obj: Any) -> None:
    unjoined(obj)
    obj.modifiers["Mirror"].mirror_object = bpy.data.objects.new("Plane", None)
    bpy.context.scene.collection.objects.link(obj.modifiers["Mirror"].mirror_object)
    obj.location.x = 1.0


def carried_before(obj: Any) -> None:
    obj.modifiers.new("Wave", "WAVE")
    joined(obj)


def carried_after(obj: Any) -> None:
    joined(obj)
    obj.modifiers.new("Wave", "WAVE")


def across_gravity(obj: Any) -> None:
    joined(obj)
    obj.rotation_euler.y = 1.0


def array(obj: Any) -> None:
    obj.modifiers.new("Array", "ARRAY")


def merging_array(obj: Any) -> None:
    array(obj)
    obj.modifiers["Array"].use_merge_vertices = True


def weld_of_nothing(obj: Any) -> None:
    """Its distance is longer than an edge, but not than two."""
    obj.modifiers.new("Weld", "WELD").merge_threshold = 0.26


def weld(obj: Any) -> None:
    """A second sheet that only touches the first."""
    corners = np.array([vertex.co for vertex in obj.data.vertices])
    faces = [tuple(face.vertices) for face in obj.data.polygons]
    both = np.concatenate([corners, corners + np.eye(3)[0]]).tolist()
    count = len(corners)
    more = [tuple(corner + count for corner in face) for face in faces]
    blender.data.objects.remove(obj)
    body(mesh_object("Sheet", both, [], [*faces, *more])).modifiers.new("Weld", "WELD")


def boolean(obj: Any) -> None:
    ball = mesh_object("Cutter", [(0, 0, -1), (1, 0, 1), (0, 1, 1)], [], [(0, 1, 2)])
    obj.modifiers.new("Boolean", "BOOLEAN").object = ball
    select(obj)


@pytest.mark.parametrize(
    ("finish", "sentence"),
    [
        (joined, ""),
        (joined_without_distance, ""),
        (clipped, ""),
        (unjoined, "The modifier Mirror of Sheet does not join its halves"),
        (unjoined_and_apart, ""),
        (carried_before, ""),
        (carried_after, "The modifier Wave of Sheet deforms the halves of Mirror"),
        (across_gravity, "Gravity pulls Sheet across the plane of its modifier Mirror"),
        (array, ""),
        (merging_array, "The modifier Array of Sheet merges copies"),
        (weld_of_nothing, ""),
        (weld, "The modifier Weld of Sheet merges vertices that are simulated separately"),
        (boolean, ""),
    ],
    ids=lambda item: getattr(item, "__name__", ""),
)
def test_what_modifiers_would_tear_is_said(
    said: Callable[[], list[str]], finish: Callable[[Any], None], sentence: str
) -> None:
    finish(body(sheet()))
    if not sentence:
        assert said() == []
    else:
        (only,) = said()
        assert only.startswith(sentence)
    blender.data.objects["Sheet"].modifiers[0].show_viewport = False
    blender.data.objects["Sheet"].modifiers[0].show_render = False
    if len(blender.data.objects["Sheet"].modifiers) == 1:
        assert said() == []
