"""The overlay marks what a simulation takes: pins, attachments, colliders, and strain."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import bmesh
import bpy
import numpy as np
import pytest

from tests.blender.scenes import ball, blender, body, line, pin, select, sheet, shown, verlet

Addon = Callable[[str], ModuleType]

# Linear RGB as people see it who lack one kind of cones: G. Machado, M. Oliveira and L. Fernandes,
# A Physiologically-based Model for Simulation of Color Vision Deficiency, 2009, severity 1.
COLOR_BLIND = {
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


@pytest.fixture
def marks(addon: Addon) -> ModuleType:
    """What is marked."""
    return addon("blender.ui.overlay.marks")


def evaluated() -> Any:
    """The scene evaluated now, as a viewport draws it."""
    bpy.context.view_layer.update()
    return bpy.context.view_layer.depsgraph


# --- pins -----------------------------------------------------------------------------------------


def test_pins_are_marked_with_their_weights(marks: ModuleType) -> None:
    """In world space: the cloth is moved, turned and scaled."""
    cloth = body(sheet())
    pin(cloth, [0, 4])
    cloth.vertex_groups["Pin"].add([2], 0.25, "REPLACE")
    cloth.location, cloth.rotation_euler, cloth.scale = (1, 2, 3), (0, 0, np.pi / 2), (2, 2, 2)
    found = marks.pin_marks(cloth, evaluated())
    assert np.allclose(found.points, [(1, 2, 3), (1, 3, 3), (1, 4, 3)], atol=1e-6)
    assert np.allclose(found.weights, [1.0, 0.25, 1.0])


def test_pins_follow_weights_groups_and_a_bake(marks: ModuleType) -> None:
    """What was kept for the last redraw is not shown any longer."""
    cloth = body(sheet(height=3.0))
    pin(cloth, [0])
    assert len(marks.pin_marks(cloth, evaluated()).points) == 1
    cloth.vertex_groups["Pin"].add([1, 2], 1.0, "REPLACE")
    assert len(marks.pin_marks(cloth, evaluated()).points) == 3
    cloth.vertex_groups.new(name="Soft").add([24], 0.5, "REPLACE")
    cloth.verlet.pin_group = "Soft"
    assert marks.pin_marks(cloth, evaluated()).weights.tolist() == [0.5]
    bpy.context.scene.frame_end = 8
    verlet.bake()
    last = shown(cloth, 8)[24]
    assert last[2] < 2.99
    assert np.allclose(marks.pin_marks(cloth, evaluated()).points[0], last, atol=1e-6)
    cloth.verlet.pin_group = ""
    assert not len(marks.pin_marks(cloth, evaluated()).points)


def test_pins_are_marked_as_firmly_as_pin_weight_has_them_hold(marks: ModuleType) -> None:
    """Rings where it is below 1, at the frame that is shown, and none where it lets go."""
    cloth = body(sheet())
    pin(cloth, [0, 4])
    for frame, weight in ((1, 1.0), (11, 0.0)):
        cloth.verlet.pin_weight = weight
        cloth.keyframe_insert("verlet.pin_weight", frame=frame)
    bpy.context.scene.frame_set(6)
    weights = marks.pin_marks(cloth, evaluated()).weights
    assert np.allclose(weights, [0.5, 0.5])
    bpy.context.scene.frame_set(11)
    assert not len(marks.pin_marks(cloth, evaluated()).points)


@pytest.mark.parametrize(
    "kind", ["SUBSURF", "SOLIDIFY", "ARRAY", "MIRROR", "BEVEL", "WIREFRAME", "BUILD", "REMESH"]
)
def test_pins_stand_on_the_mesh_under_modifiers_that_add_or_remove_vertices(
    marks: ModuleType, kind: str
) -> None:
    """Those of Subdivision are on the smooth surface, nearer to the middle of a ball."""
    stone = body(ball())
    pin(stone, [0, 4])
    modifier: Any = stone.modifiers.new("Modifier", kind)
    if kind == "BEVEL":
        modifier.limit_method = "NONE"
    shown = evaluated()
    assert len(stone.evaluated_get(shown).data.vertices) != 6
    points = marks.pin_marks(stone, shown).points
    if kind == "SUBSURF":
        points = points / np.linalg.norm(points, axis=1, keepdims=True)
    assert np.allclose(points, [(1, 0, 0), (0, 0, 1)], atol=1e-5)


def test_pins_whose_places_are_not_known_are_not_marked(marks: ModuleType) -> None:
    """Vertices that one modifier moves, and the next puts into another order."""
    stone = body(ball())
    pin(stone, [0, 4])
    stone.modifiers.new("Twist", "SIMPLE_DEFORM")
    bevel: Any = stone.modifiers.new("Bevel", "BEVEL")
    bevel.limit_method = "NONE"
    assert not len(marks.pin_marks(stone, evaluated()).points)
    bevel.show_viewport = False
    assert len(marks.pin_marks(stone, evaluated()).points) == 2


def test_pins_of_a_rope_with_a_tube_follow_its_bake(marks: ModuleType) -> None:
    rope = body(line())
    pin(rope, [1, 4])
    verlet.show_tube()
    stretched(rope, 2.0)
    shown = evaluated()
    assert len(rope.evaluated_get(shown).data.vertices) > 5
    assert np.allclose(marks.pin_marks(rope, shown).points, [(0.5, 0, 0), (2, 0, 0)])


def test_pins_are_marked_in_edit_mode_as_they_are_set(marks: ModuleType) -> None:
    cloth = body(sheet())
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    edited = bmesh.from_edit_mesh(cloth.data)
    edited.verts.ensure_lookup_table()
    edited.verts[3].select_set(True)
    edited.verts[3].co.z = 0.5
    bmesh.update_edit_mesh(cloth.data)
    assert not len(marks.pin_marks(cloth, evaluated()).points)
    verlet.pin_selected()
    assert np.allclose(marks.pin_marks(cloth, evaluated()).points, [(0.75, 0.0, 0.5)])
    bpy.ops.mesh.delete(type="VERT")
    assert not len(marks.pin_marks(cloth, evaluated()).points)
    bpy.ops.object.mode_set(mode="OBJECT")


def test_a_cloth_of_the_add_menu_has_marks_along_its_edge(marks: ModuleType) -> None:
    """So that it is seen to hang before the first bake."""
    verlet.add_cloth(resolution=10)
    found = marks.pin_marks(bpy.context.object, evaluated())
    assert len(found.points) == 11
    assert np.ptp(found.points[:, 1]) < 1e-6
    assert (found.weights == 1.0).all()


# --- attachments ----------------------------------------------------------------------------------


def attach(cloth: Any, target: Any, vertices: list[int], **settings: Any) -> Any:
    """Attaches vertices of a body to an object."""
    group = cloth.vertex_groups.new(name="Held")
    group.add(vertices, 1.0, "REPLACE")
    item = cloth.verlet.attachments.add()
    item.target, item.vertex_group = target, group.name
    for name, value in settings.items():
        setattr(item, name, value)
    return item


def test_attached_vertices_have_lines_to_the_origin_of_an_empty(marks: ModuleType) -> None:
    cloth = body(sheet())
    empty: Any = blender.data.objects.new("Empty", None)
    bpy.context.scene.collection.objects.link(empty)
    item = attach(cloth, empty, [0, 4])
    for place in ((1.0, 1.0, 1.0), (2.0, 0.0, 0.0)):
        empty.location = place
        found = marks.attachment_marks(cloth, evaluated())
        assert np.allclose(found.points, [(0, 0, 0), (1, 0, 0)])
        assert np.allclose(found.lines, [(0, 0, 0), place, (1, 0, 0), place])
    item.weight = 0.5
    assert marks.attachment_marks(cloth, evaluated()).weights.tolist() == [0.5, 0.5]
    item.target = None
    assert not len(marks.attachment_marks(cloth, evaluated()).points)


def test_lines_lead_to_the_nearest_places_on_a_mesh_and_move_with_it(marks: ModuleType) -> None:
    """From frame to frame a place stays where it is on the mesh, however that deforms."""
    cloth, table = body(sheet("Cloth", height=1.0)), sheet("Table", size=2.0)
    table.shape_key_add(name="Basis")
    key: Any = table.shape_key_add(name="Lifted")
    for point in key.data:
        point.co += type(point.co)((0.5, 0.0, 0.25))
    for frame, value in ((1, 0.0), (2, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    attach(cloth, table, [0, 24])
    bpy.context.scene.frame_set(1)
    select(cloth)
    found = marks.attachment_marks(cloth, evaluated())
    assert np.allclose(found.lines[1::2], [(0, 0, 0), (1, 1, 0)], atol=1e-5)
    bpy.context.scene.frame_set(2)
    found = marks.attachment_marks(cloth, bpy.context.view_layer.depsgraph)
    assert np.allclose(found.lines[1::2], [(0.5, 0, 0.25), (1.5, 1, 0.25)], atol=1e-5)


def test_lines_lead_to_a_bone_and_to_the_origin_of_a_mesh_in_edit_mode(marks: ModuleType) -> None:
    cloth = body(sheet())
    armature: Any = blender.data.armatures.new("Rig")
    rig: Any = blender.data.objects.new("Rig", armature)
    bpy.context.scene.collection.objects.link(rig)
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    bone: Any = armature.edit_bones.new("Arm")
    bone.head, bone.tail = (0.0, 0.0, 1.0), (2.0, 0.0, 1.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    attach(cloth, rig, [4], bone="Arm")
    found = marks.attachment_marks(cloth, evaluated())
    assert np.allclose(found.lines, [(1, 0, 0), (1, 0, 1)], atol=1e-6)
    cloth.verlet.attachments.clear()
    table = sheet("Table", height=-1.0)
    attach(cloth, table, [4])
    select(table)
    bpy.ops.object.mode_set(mode="EDIT")
    found = marks.attachment_marks(cloth, evaluated())
    bpy.ops.object.mode_set(mode="OBJECT")
    assert np.allclose(found.lines, [(1, 0, 0), (0, 0, -1)], atol=1e-6)


def test_many_attached_vertices_have_few_lines(marks: ModuleType) -> None:
    cloth, table = body(sheet("Cloth", resolution=20)), sheet("Table", height=-1.0)
    attach(cloth, table, list(range(441)))
    found = marks.attachment_marks(cloth, evaluated())
    assert len(found.points) == 441
    assert 50 <= len(found.lines) / 2 <= marks.MOST_LINES


# --- colliders ------------------------------------------------------------------------------------


def test_colliders_that_take_part_are_marked_at_the_corners_of_their_box(
    marks: ModuleType,
) -> None:
    cloth, stone = body(sheet("Cloth", height=2.0)), ball("Stone")
    stone.location, stone.scale = (1.0, 0.0, 0.0), (2.0, 1.0, 1.0)
    select(stone)
    verlet.make_collider()
    scene, view_layer = bpy.context.scene, bpy.context.view_layer
    depsgraph = evaluated()
    assert marks.colliders_of(cloth, scene, view_layer) == [stone]
    lines = marks.corner_lines(stone, depsgraph)
    assert np.allclose(lines.min(axis=0), (-1, -1, -1), atol=1e-6)
    assert np.allclose(lines.max(axis=0), (3, 1, 1), atol=1e-6)
    assert np.allclose(np.linalg.norm(lines[1::2] - lines[::2], axis=1).max(), 0.8, atol=1e-6)
    stone.collision.use = False
    evaluated()
    assert marks.colliders_of(cloth, scene, view_layer) == []


# --- strain ---------------------------------------------------------------------------------------


def stretched(obj: Any, factor: float) -> Any:
    """The object with a shape key, as a bake makes it, in which it is longer along X."""
    obj.shape_key_add(name="Basis")
    key: Any = obj.shape_key_add(name="verlet_0001")
    for point in key.data:
        point.co.x *= factor
    key.value = 1.0
    obj.verlet.baked_keys.add().name = key.name
    return key


def test_strain_is_the_share_by_which_edges_are_longer_than_at_rest(addon: Addon) -> None:
    """Whatever the object's rotation and scale; a compressed one has a negative strain."""
    strained = addon("blender.ui.overlay.body_strain").strained
    rope = body(line())
    rope.rotation_euler, rope.scale, rope.location = (1, 2, 3), (2, 2, 2), (100, 0, 0)
    key = stretched(rope, 1.1)
    found = strained(rope, evaluated(), 0.1)
    assert found.highest == pytest.approx(0.1, abs=1e-5)
    assert found.lowest == 0.0
    for point, basis in zip(key.data, rope.data.vertices, strict=True):
        point.co.x = basis.co.x * 0.95
    found = strained(rope, evaluated(), 0.1)
    assert found.lowest == pytest.approx(-0.05, abs=1e-5)
    assert np.allclose(found.positions, shown(rope, 1), atol=1e-4)


def test_normals_are_those_of_the_surface_in_the_world(addon: Addon) -> None:
    """Also of an object that is turned and scaled unevenly."""
    stone = body(ball())
    stone.rotation_euler, stone.scale = (1, 2, 3), (1.0, 2.0, 0.5)
    depsgraph = evaluated()
    mesh = addon("blender.scene.shown_mesh")
    found = mesh.shown_normals(stone, depsgraph)
    triangles = addon("blender.ui.overlay.body_strain").read_surface(stone.data).triangles
    points = shown(stone, 1)[triangles]
    across = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    outside = np.einsum("tx,tcx->tc", across, found[triangles])
    assert (outside > 0.0).all()
    lit = addon("blender.ui.drawing").brightness(np.array([(0.3, -0.5, 0.8), (0, 0, 0)]))
    assert np.allclose(lit, 1.0)


def test_rest_lengths_are_those_of_a_bake(addon: Addon) -> None:
    """With a rest shape, with shrinking and with shape keys of the user's own."""
    strained = addon("blender.ui.overlay.body_strain").strained
    rope = body(line())
    stretched(rope, 1.1)
    own: Any = rope.shape_key_add(name="Longer", from_mix=False)
    for point in own.data:
        point.co.x *= 1.1
    own.value = 0.0
    assert strained(rope, evaluated(), 0.1).highest == pytest.approx(0.1, abs=1e-5)
    rope.verlet.rest_key = "Longer"
    assert strained(rope, evaluated(), 0.1).highest == pytest.approx(0.0, abs=1e-5)
    assert strained(rope, evaluated(), 0.1).lowest == pytest.approx(0.0, abs=1e-5)
    rope.verlet.rest_key, rope.verlet.shrinking = "", 0.1
    assert strained(rope, evaluated(), 0.1).highest == pytest.approx(1.1 / 0.9 - 1, abs=1e-5)
    rope.verlet.shrinking, own.value = 0.0, 1.0
    assert strained(rope, evaluated(), 0.1).highest == pytest.approx(1.2 / 1.1 - 1, abs=1e-5)


def test_strain_while_live_and_after_a_bake_is_what_the_bake_reports(addon: Addon) -> None:
    """A soft rope that hangs by one end; the live simulation knows its rest lengths itself."""
    strained = addon("blender.ui.overlay.body_strain").strained
    rope = body(line(height=3.0), stretch_compliance=0.01)
    pin(rope, [0])
    scene = bpy.context.scene
    scene.frame_end = 12
    scene.verlet.use_live = True
    for frame in range(1, 13):
        scene.frame_set(frame)
    live = strained(rope, bpy.context.view_layer.depsgraph, 0.1)
    verlet.bake()
    scene.frame_set(12)
    after = strained(rope, bpy.context.view_layer.depsgraph, 0.1)
    assert live.highest > 0.005
    assert after.highest == pytest.approx(live.highest, abs=2e-5)
    run = addon("blender.bake.bake").bake
    steps = run(scene, bpy.context.view_layer, [rope], frame_start=1, frame_end=12)
    last = list(steps)[-1]
    lengths = np.linalg.norm(np.diff(last.positions[0], axis=0), axis=1)
    assert (lengths / last.rest_lengths[0]).max() - 1 == pytest.approx(live.highest, abs=2e-5)


def test_frames_of_a_live_simulation_are_no_edits(addon: Addon) -> None:
    """Vertex groups are not read anew at each frame, which takes longer than all the rest."""
    changes = addon("blender.ui.overlay.drawing_cache")
    cloth = body(sheet(height=3.0))
    pin(cloth, [0])
    scene = bpy.context.scene
    scene.verlet.use_live = True
    scene.frame_set(1)
    before, frames = changes.mesh_changes(cloth), changes.Changes.frames
    for frame in range(2, 6):
        scene.frame_set(frame)
    assert changes.mesh_changes(cloth) == before
    assert changes.Changes.frames >= frames + 4
    cloth.vertex_groups["Pin"].add([1], 1.0, "REPLACE")
    evaluated()
    assert changes.mesh_changes(cloth) != before


def test_a_vertex_has_the_strain_of_largest_amount_around_it(addon: Addon) -> None:
    """Of a star with more edges at its middle than a table of edges has columns."""
    strain = addon("blender.ui.overlay.strain")
    edges = np.array([(0, end) for end in range(1, 21)])
    mesh = strain.edge_set(edges, 22)
    strains = np.linspace(-0.03, 0.02, 20).astype(np.float32)
    found = strain.vertex_strains(mesh, strains)
    assert found[0] == np.float32(-0.03)
    assert np.allclose(found[1:21], strains)
    assert found[21] == 0.0
    assert len(strain.vertex_strains(strain.edge_set(edges[:0], 3), strains[:0])) == 3


def test_edges_without_a_length_at_rest_have_no_strain(addon: Addon) -> None:
    """Cuts that may tear; nothing is divided by zero."""
    strain = addon("blender.ui.overlay.strain")
    mesh = strain.edge_set(np.array([(0, 1), (1, 2)]), 3)
    positions = np.array([(0, 0, 0), (1, 0, 0), (3, 0, 0)], np.float32)
    found = strain.edge_strains(positions, mesh, strain.inverse_lengths(np.array([0.0, 1.0])))
    assert found.tolist() == [0.0, 1.0]


def test_colors_go_from_blue_over_grey_to_red_and_no_farther(addon: Addon) -> None:
    strain = addon("blender.ui.overlay.strain")
    colors = strain.strain_colors(np.array([-9.0, -0.05, 0.0, 0.05, 9.0], np.float32), 0.05)
    assert np.allclose(colors[:2, :3], strain.COLORS[0], atol=1e-6)
    assert np.allclose(colors[2, :3], strain.COLORS[4], atol=1e-6)
    assert np.allclose(colors[3:, :3], strain.COLORS[-1], atol=1e-6)
    assert (colors[:, 3] == 1.0).all()


def lightness_and_hue(colors: Any) -> Any:
    """(n, 3) CIELAB of linear RGB colors (n, 3), whose distances are those that people see."""
    to_xyz = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    white = np.array((0.9505, 1.0, 1.089))
    x, y, z = np.cbrt(np.clip(colors, 0, 1) @ np.array(to_xyz).T / white).T
    return np.stack((116 * y - 16, 500 * (x - y), 200 * (y - z)), axis=1)


@pytest.mark.parametrize("sight", [None, *COLOR_BLIND])
def test_color_blind_people_can_read_the_colors(addon: Addon, sight: str | None) -> None:
    """Both ends differ from each other and from the middle by far more than the eye needs (2)."""
    colors = np.asarray(addon("blender.ui.overlay.strain").COLORS, np.float64)
    linear = np.where(colors > 0.04045, ((colors + 0.055) / 1.055) ** 2.4, colors / 12.92)
    seen = lightness_and_hue(linear @ np.array(COLOR_BLIND[sight]).T if sight else linear)
    differences = np.linalg.norm(seen[:, None] - seen[None], axis=2)
    assert differences[0, -1] > 40
    assert min(differences[0, 4], differences[4, -1]) > 40
    assert differences[~np.eye(len(seen), dtype=bool)].min() > 5


# --- switches and texts ---------------------------------------------------------------------------


def test_the_switches_are_in_the_popover_of_overlays() -> None:
    """Pins, attachments and colliders are on from the start; strain is switched on."""
    panel: Any = blender.types.VERLET_PT_overlay
    assert panel.bl_parent_id == "VIEW3D_PT_overlay"
    overlay = blender.context.workspace.verlet_overlay
    assert (overlay.show_pins, overlay.show_attachments, overlay.show_colliders) == (True,) * 3
    assert not overlay.show_strain


def test_the_legend_tells_strain_in_percent(addon: Addon) -> None:
    legend = addon("blender.ui.overlay.legend")
    assert legend.title(None) == "Strain"
    assert legend.title((-0.0123, 0.5)) == "Strain −1.2 % to +50 %"
    assert legend.title((0.0, 0.0)) == "Strain 0 % to 0 %"
