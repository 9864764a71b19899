"""Objects with Blender's own Collision modifier are what bodies collide with."""

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import Mock

import bpy
import numpy as np
import pytest

from tests.blender.scenes import (
    baked,
    ball,
    blender,
    body,
    line,
    mesh_object,
    pin,
    select,
    sheet,
    shown as places,
    verlet,
)

Addon = Callable[[str], ModuleType]


def collider(obj: Any, **settings: Any) -> Any:
    """The object, with a Collision modifier of Blender's own defaults but for these settings."""
    obj.modifiers.new("Collision", "COLLISION")
    for name, value in settings.items():
        setattr(obj.collision, name, value)
    return obj


def collection(name: str, *objects: Any) -> Any:
    """A collection of the scene into which these objects are moved."""
    found = bpy.data.collections.new(name)
    bpy.context.scene.collection.children.link(found)
    for obj in objects:
        found.objects.link(obj)
        bpy.context.scene.collection.objects.unlink(obj)
    return found


@pytest.fixture
def met(addon: Addon) -> Callable[[Any], list[str]]:
    """The names of the colliders that a body meets."""

    def names(obj: Any) -> list[str]:
        bodies = addon("blender.bake.bake").bodies(bpy.context.scene)
        found = addon("blender.scene.colliders").met_colliders(obj, bodies, bpy.context.view_layer)
        return [each.name for each in found]

    return names


@pytest.fixture
def read(addon: Addon) -> Callable[..., Any]:
    """What the core gets of a collider: what never changes, and where it is."""

    def both(obj: Any) -> Any:
        depsgraph = bpy.context.evaluated_depsgraph_get()
        colliders = addon("blender.scene.colliders")
        surface = colliders.read_surface(obj, depsgraph)
        return colliders.read_collider(obj, depsgraph), surface.points

    return both


# --- which ---------------------------------------------------------------------------------------


def shown(_obj: Any) -> None:
    """As it is."""


def with_its_eye_shut(obj: Any) -> None:
    obj.hide_set(True)


def disabled(obj: Any) -> None:
    obj.hide_viewport = True


def in_a_disabled_collection(obj: Any) -> None:
    collection("Away", obj).hide_viewport = True


def left_out(obj: Any) -> None:
    collection("Away", obj)
    bpy.context.view_layer.layer_collection.children["Away"].exclude = True


def with_its_collision_off(obj: Any) -> None:
    obj.collision.use = False


def with_its_modifier_off(obj: Any) -> None:
    obj.modifiers["Collision"].show_viewport = False


HOW = {
    shown: True,
    with_its_eye_shut: True,
    disabled: False,
    in_a_disabled_collection: False,
    left_out: False,
    with_its_collision_off: False,
    with_its_modifier_off: False,
}


def test_a_view_layer_is_looked_through_once_for_all_bodies(
    addon: Addon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once for each of 300, beside 2,000 props, it took half a second."""
    bodies = [body(sheet(f"Sheet {number}")) for number in range(4)]
    sheet("Floor").modifiers.new("Collision", "COLLISION")
    colliders = addon("blender.scene.colliders")
    look = Mock(wraps=colliders.enabled_objects)
    monkeypatch.setattr(colliders, "enabled_objects", look)
    met, numbers = colliders.all_met(bodies, bpy.context.view_layer)
    assert [obj.name for obj in met] == ["Floor"]
    assert numbers == [(0,)] * 4
    look.assert_called_once()


@pytest.mark.parametrize("how", HOW, ids=lambda f: f.__name__)
def test_what_is_enabled_collides(
    met: Callable[[Any], list[str]],
    said: Callable[[], list[str]],
    how: Callable[[Any], None],
) -> None:
    """As in Blender's own physics; what is away, but not what is turned off, is said."""
    cloth = body(sheet("Cloth"))
    table = collider(sheet("Table"))
    sheet("No Collider")
    how(table)
    bpy.context.view_layer.update()
    assert met(cloth) == ["Table"] * HOW[how]
    away = how in (disabled, in_a_disabled_collection, left_out)
    assert [sentence.split(",")[0] for sentence in said()] == away * [
        "Table is disabled in viewports or left out of the view layer"
    ]


def test_a_collection_chooses_among_colliders(met: Callable[[Any], list[str]]) -> None:
    """Those of the collections within it too; meshes without the modifier are none."""
    cloth, rope = body(sheet("Cloth")), body(line("Rope"))
    inner = collection("Inner", collider(sheet("Chair")))
    outer = collection("Outer", collider(sheet("Table")), sheet("Lamp"))
    outer.children.link(inner)
    bpy.context.scene.collection.children.unlink(inner)
    collider(sheet("Wall"))
    cloth.verlet.collision_collection = outer
    assert sorted(met(cloth)) == ["Chair", "Table"]
    assert sorted(met(rope)) == ["Chair", "Table", "Wall"]


def test_a_body_is_no_collider_besides(met: Callable[[Any], list[str]]) -> None:
    """Neither of itself nor of another body of the same bake; switched off, it is."""
    cloth, jelly = collider(body(sheet("Cloth"))), collider(body(sheet("Jelly")))
    assert met(cloth) == met(jelly) == []
    jelly.verlet.enabled = False
    assert met(cloth) == ["Jelly"]


# --- what they are like --------------------------------------------------------------------------


def test_settings_are_blenders_own(read: Callable[..., Any]) -> None:
    """Friction 20 is that of an incline of 0.2, as measured on Blender's Cloth."""
    settings = {"thickness_outer": 0.03, "thickness_inner": 0.1, "cloth_friction": 20.0}
    table = collider(sheet(), damping=0.3, use_culling=False, **settings)
    found, _ = read(table)
    assert (found.name, found.single_sided) == ("Sheet", False)
    assert (found.outer, found.friction, found.restitution) == pytest.approx((0.03, 0.2, 0.7))
    for name in ("use_culling", "use_normal"):
        table.collision.use_culling = table.collision.use_normal = False
        setattr(table.collision, name, True)
        assert read(table)[0].single_sided


def test_faces_point_outwards_at_any_scale(read: Callable[..., Any]) -> None:
    """Of a cube the volume under its triangles is that of the cube, mirrored too."""
    blender.ops.mesh.primitive_cube_add(size=1.0, location=(1, 2, 3), rotation=(0.3, 0.2, 0.1))
    cube = collider(bpy.context.object)
    for scale in ((1, 1, 1), (-1, 2, 1), (-1, -1, -3)):
        cube.scale = scale
        found, points = read(cube)
        corners = points[found.triangles]
        volume = np.linalg.det(corners - points.mean(axis=0)).sum() / 6
        assert volume == pytest.approx(abs(np.prod(scale)), rel=1e-6)


def test_a_collider_is_what_is_shown(read: Callable[..., Any]) -> None:
    """With its shape keys and its modifiers, wherever the Collision stands among them."""
    table = collider(sheet(resolution=1))
    table.shape_key_add(name="Basis")
    raised = table.shape_key_add(name="Raised")
    for point in raised.data:
        point.co.z = 1.0
    raised.value = 1.0
    table.modifiers.new("Subdivision", "SUBSURF").levels = 2
    found, points = read(table)
    assert len(points) == 25
    assert len(found.triangles) == 32
    assert points[:, 2] == pytest.approx(1.0)


def test_what_stands_still_is_known_by_it(addon: Addon) -> None:
    """It need not be searched anew: between its moves it is the very same array."""
    surface = addon("blender.scene.colliders").read_surface
    table = collider(sheet())
    table.location.x = 0.0
    for frame, place in ((5, 0.0), (8, 1.0)):
        table.location.x = place
        table.keyframe_insert("location", frame=frame)
    places, former = [], None
    for frame in range(1, 11):
        bpy.context.scene.frame_set(frame)
        former = surface(table, bpy.context.view_layer.depsgraph, former)
        places.append(former.points)
    assert all(place is places[0] for place in places[:5])
    assert all(place is places[7] for place in places[7:])
    assert len({id(place) for place in places}) == 4


# --- what cannot be -------------------------------------------------------------------------------


def growing(table: Any) -> str:
    build: Any = table.modifiers.new("Build", "BUILD")
    build.frame_start, build.frame_duration = -5, 12
    return r"The collider Table has \d+ vertices at frame 2 and had \d+ before, so its surface"


def at_no_place(table: Any) -> str:
    table.location.x = np.nan
    return "The collider Table has vertices at invalid coordinates, or farther than"


def far_away(table: Any) -> str:
    """As a vertex of a broken scan may be."""
    table.data.vertices[0].co.x = 1e30
    return "The collider Table .* farther than 1000 km from the origin; clear its"


def on_the_simulated_mesh(table: Any) -> str:
    table.parent, table.parent_type = bpy.data.objects["Cloth"], "VERTEX"
    return "The collider Table follows the mesh of Cloth, which is simulated now; turn off its Col"


def wrapped_to_the_simulated_mesh(table: Any) -> str:
    table.modifiers.new("Wrap", "SHRINKWRAP").target = bpy.data.objects["Cloth"]
    return "The collider Table follows the mesh of Cloth, which is simulated now; turn off its Col"


@pytest.mark.parametrize(
    "spoil", [growing, at_no_place, far_away, on_the_simulated_mesh, wrapped_to_the_simulated_mesh]
)
def test_what_cannot_be_met_is_named(spoil: Callable[[Any], str]) -> None:
    cloth = body(sheet("Cloth", height=2.0))
    told = spoil(collider(sheet("Table")))
    with pytest.raises(RuntimeError, match=told):
        verlet.bake(frame_start=1, frame_end=4)
    assert cloth.data.shape_keys is None


def test_what_has_no_surface_is_said(said: Callable[[], list[str]]) -> None:
    body(sheet("Cloth"))
    collider(mesh_object("Bar", [(0, 0, 0), (1, 0, 0)], [(0, 1)], []))
    collider(sheet("Point")).scale = (0, 0, 0)
    collider(sheet("Flattened")).scale = (1, 1, 0)  # still a surface
    first, second = said()
    assert first.startswith("The collider Bar has no faces, so bodies pass through it; add some")
    assert second.startswith("The collider Point has a scale of zero now, so bodies pass")


def test_a_collider_that_is_inside_out_is_said(said: Callable[[], list[str]]) -> None:
    """Blender's own Collision is single-sided; so is a room, for those in it."""
    cloth, box = body(sheet("Cloth", size=0.5, height=2.0)), collider(ball("Box"))  # looks inwards
    box.collision.use_culling = True
    (sentence,) = said()
    assert sentence.startswith("The normals of the collider Box point inwards, so bodies outside")
    cloth.location = (-0.1, -0.1, 0.0)
    assert not said()
    cloth.location.z = 2.0
    box.collision.use_culling = False
    assert not said()
    box.collision.use_culling = True
    box.data.flip_normals()
    assert not said()


def test_instances_are_said_to_be_passed_through(said: Callable[[], list[str]]) -> None:
    body(sheet("Cloth"))
    forest = collider(sheet("Forest"))
    forest.instance_type = "VERTS"
    sheet("Tree").parent = forest
    assert said() == [
        "The collider Forest shows instances, which bodies pass through; add a Realize Instances "
        "node to its geometry nodes, or make the instances real"
    ]


# --- the interface --------------------------------------------------------------------------------


def test_a_click_makes_colliders_of_meshes() -> None:
    """Thin, rough and solid from both sides; of bodies and of what collides already nothing."""
    cloth, table, wall = body(sheet("Cloth")), sheet("Table"), collider(sheet("Wall"))
    wall.collision.cloth_friction = 7.0
    lamp = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "POINT"))
    bpy.context.scene.collection.objects.link(lamp)
    select(cloth, lamp, wall, table)
    verlet.make_collider()
    assert [item.type for item in table.modifiers] == ["COLLISION"]
    assert table.collision.cloth_friction == 50.0
    assert not table.collision.use_culling
    assert wall.collision.cloth_friction == 7.0
    assert not cloth.modifiers
    assert not verlet.make_collider.poll()


def test_another_collection_changes_the_settings_of_a_bake(addon: Addon) -> None:
    rope = body(line(height=3.0))
    pin(rope, [0])
    verlet.bake(frame_start=1, frame_end=3)
    changed = addon("blender.bake.record").changed_since_bake
    assert changed(bpy.context.scene, bpy.context.view_layer) == []
    rope.verlet.collision_collection = collection("Chosen")
    assert changed(bpy.context.scene, bpy.context.view_layer) == ["Line"]


def test_friction_of_a_collider_has_the_range_and_sense_of_bodies() -> None:
    table = sheet("Table")
    verlet.make_collider()
    assert table.verlet_collider_friction == pytest.approx(0.5)
    table.verlet_collider_friction = 0.25
    assert table.collision.cloth_friction == pytest.approx(25.0)
    assert sheet("Bare").verlet_collider_friction == 0.0


def test_the_panel_says_what_a_body_collides_with(addon: Addon) -> None:
    """Before the first bake, so that nobody bakes for minutes to see it fall through."""
    scene: Any = bpy.context.scene
    colliding = addon("blender.ui.colliding").colliding

    def said(obj: Any) -> str:
        return str(colliding(obj, scene, bpy.context.view_layer))

    obj = body(sheet("Flag", height=1.0))
    assert said(obj) == "Collides with the ground only"
    scene.verlet.use_ground = False
    assert said(obj) == "Nothing collides"
    obj.verlet.use_self_collision = True
    assert said(obj) == "Collides with no colliders"
    for count in (1, 2):
        sheet(f"Table {count}")
        verlet.make_collider()
    assert said(obj) == "Collides with 2 colliders"


# --- a bake ---------------------------------------------------------------------------------------


def drop(scene: Any, cloth: Any, frames: int = 24) -> Any:
    """(frames, n, 3) the motion of a cloth in world space, without the ground."""
    scene.verlet.use_ground = False
    verlet.bake(frame_start=1, frame_end=frames)
    return np.array([places(cloth, frame) for frame in range(1, frames + 1)])


def test_a_cloth_comes_to_rest_on_a_table_at_their_distance(addon: Addon) -> None:
    """Both thicknesses apart, and a tenth of that at most is lost; without the table it falls."""
    cloth = body(sheet("Cloth", height=0.1), thickness=0.004)
    table = collider(sheet("Table", resolution=1, size=3.0), thickness_outer=0.006)
    table.location = (-1.0, -1.0, 0.0)
    scene: Any = bpy.context.scene
    heights = drop(scene, cloth)[-1, :, 2]
    assert heights == pytest.approx(0.01, abs=0.001)
    *_, last = addon("blender.bake.bake").bake(
        scene, bpy.context.view_layer, [cloth], frame_start=1, frame_end=24
    )
    assert last.colliders == 1
    assert last.worst_penetration < 0.001
    cloth.verlet.collision_collection = collection("Nothing")
    assert drop(scene, cloth)[-1, :, 2].max() < -2.0


def test_a_lift_carries_what_stands_on_it() -> None:
    """A table that rises by 1.2 m in a second takes the cloth along at its distance."""
    cloth = body(sheet("Cloth", height=0.011), thickness=0.005)
    table = collider(sheet("Table", resolution=1, size=3.0), thickness_outer=0.005)
    for frame, height in ((1, 0.0), (25, 1.2)):
        table.location = (-1.0, -1.0, height)
        table.keyframe_insert("location", frame=frame)
    track = drop(bpy.context.scene, cloth, 25)
    assert track[-1, :, 2] == pytest.approx(1.21, abs=0.002)


def test_a_deforming_collider_is_met_where_it_is_shown() -> None:
    """A shape key lifts half of the table: the cloth is lifted there, and lies elsewhere."""
    cloth = body(sheet("Cloth", resolution=8, height=0.03), thickness=0.005)
    table = collider(sheet("Table", resolution=2, size=3.0), thickness_outer=0.005)
    table.location = (-1.0, -1.0, 0.0)
    table.shape_key_add(name="Basis")
    lifted = table.shape_key_add(name="Lifted")
    for number in (2, 5, 8):
        lifted.data[number].co.z = 1.0
    for frame, value in ((1, 0.0), (24, 1.0)):
        lifted.value = value
        lifted.keyframe_insert("value", frame=frame)
    end = drop(bpy.context.scene, cloth)[-1]
    slope = np.maximum(end[:, 0] - 0.5, 0.0) / 1.5
    assert (end[:, 2] - slope > 0.009).all()
    assert end[:, 2].max() > 0.1


def test_a_collider_may_follow_a_bake() -> None:
    """A body that is switched off, with its bake and a Collision modifier, catches another."""
    net = collider(body(sheet("Net", height=0.5)), thickness_outer=0.005)
    pin(net, [0, 4, 20, 24])
    scene: Any = bpy.context.scene
    drop(scene, net)
    net.verlet.enabled = False
    ball = body(sheet("Ball", resolution=2, size=0.2, height=0.6))
    ball.location.x = ball.location.y = 0.4
    caught = drop(scene, ball, 36)[-1]
    assert caught[:, 2].min() > 0.2
    net.hide_viewport = True
    assert drop(scene, ball, 36)[-1, :, 2].max() < -2.0


def test_the_command_line_tells_what_was_touched(
    addon: Addon, tmp_path: Any, printed: Callable[[], Any]
) -> None:
    body(sheet("Cloth", height=0.02))
    collider(sheet("Table", resolution=1, size=3.0)).location = (-1.0, -1.0, 0.0)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "in.blend"), copy=True)
    printed()
    command = ["bake", str(tmp_path / "in.blend"), "--output", str(tmp_path / "out.blend")]
    assert addon("blender.cli.command").main([*command, "--frames", "1", "8", "--json"]) == 0
    result = json.loads(printed().out)
    assert result["colliders"] == 1
    assert 0.0 <= result["worst_penetration"] < 0.025


@pytest.mark.slow
def test_bunting_that_swings_beside_a_bridge_calms_down() -> None:
    """The sample: what touches something now and then gains no speed.

    From the drop at the start it is 4.8 m/s, and after that it falls to one.
    """
    samples = Path(__file__).parents[2] / "sample_blends"
    blender.ops.wm.open_mainfile(filepath=str(samples / "rope_bridge.blend"))
    blender.ops.verlet.bake(frame_end=60)
    bunting, fps = blender.data.objects["Bunting"], blender.context.scene.render.fps
    last = np.array([places(bunting, frame) for frame in range(40, 61)])
    assert np.linalg.norm(np.diff(last, axis=0), axis=2).max() * fps < 3.0


def test_a_collider_without_vertices_is_met_by_nothing() -> None:
    cloth = body(sheet("Cloth", height=2.0))
    mesh_object("Nothing", [], [], []).modifiers.new("Collision", "COLLISION")
    verlet.bake(frame_start=1, frame_end=4)
    met = baked(cloth)
    bpy.data.objects.remove(bpy.data.objects["Nothing"])
    verlet.bake(frame_start=1, frame_end=4)
    assert all(np.array_equal(met[name], points) for name, points in baked(cloth).items())
