"""Every button does what it says to all that is selected, or to nothing, and can be undone."""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import Mock

import blf
import bpy
import numpy as np
import pytest

from tests.blender.scenes import (
    baked,
    ball,
    blender,
    body,
    coordinates,
    file_content,
    line,
    mesh_object,
    pin,
    select,
    sheet,
    verlet,
)

# A cube of quads: its vertices, no loose edges, its faces.
CUBE: Any = (
    list(product((0, 1), repeat=3)),
    [],
    [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)],
)


ROOT = Path(__file__).parents[2]


def undo() -> None:
    """Takes back the last operator, as Ctrl Z does."""
    bpy.ops.ed.undo()


def run(operator: str, **properties: Any) -> set[str]:
    """Runs an operator of ours as a click does: what it did can be undone."""
    return set(getattr(verlet, operator)("EXEC_DEFAULT", True, **properties))


@pytest.fixture
def small_bake() -> None:
    """Four frames are enough here."""
    bpy.context.scene.frame_end = 4


# --- convert and release ------------------------------------------------------------------------


def test_convert_sees_what_a_mesh_is() -> None:
    """No faces make a rope, a closed surface jelly, anything else cloth."""
    objects = {"ROPE": line(), "CLOTH": sheet(), "SOFT": ball()}
    select(*objects.values())
    assert verlet.convert() == {"FINISHED"}
    for body_type, obj in objects.items():
        assert obj.verlet.enabled
        assert obj.verlet.body_type == body_type


def test_a_closed_surface_with_a_loose_edge_is_no_jelly() -> None:
    obj = ball()
    obj.data.vertices.add(1)
    obj.data.edges.add(1)
    obj.data.edges[-1].vertices = (0, len(obj.data.vertices) - 1)
    verlet.convert()
    assert obj.verlet.body_type == "CLOTH"


def test_convert_takes_the_type_it_is_told() -> None:
    obj = sheet()
    verlet.convert(body_type="SOFT")
    assert obj.verlet.body_type == "SOFT"


def test_a_type_that_does_not_suit_a_mesh_is_told_with_what_to_do(
    addon: Callable[[str], ModuleType],
) -> None:
    """Faces as ropes take a hundred times as long; open, it has no inside; one face has no folds.

    A Subdivision only finishes what is simulated, unlike one above Blender's Cloth.
    """
    hint = addon("blender.scene.body_creation").type_hint
    cube = mesh_object("Cube", *CUBE)
    open_cube = mesh_object("Open", CUBE[0], [], CUBE[2][:-1])
    assert "choose Cloth" in hint(cube, "ROPE")
    assert "close it" in hint(open_cube, "SOFT")
    assert "close it" in hint(line(), "SOFT")
    assert "subdivide it" in hint(cube, "CLOTH")
    cube.modifiers.new("Subdivision", "SUBSURF")
    assert "apply Subdivision" in hint(cube, "CLOTH")
    for obj, body_type in ((cube, "SOFT"), (sheet(), "CLOTH"), (line(), "ROPE"), (line(), "CLOTH")):
        assert not hint(obj, body_type)
    open_cube.modifiers.new("Mirror", "MIRROR")
    assert not hint(open_cube, "SOFT")


def test_a_hint_fits_the_sidebar_as_wide_as_it_opens(addon: Callable[[str], ModuleType]) -> None:
    """Beside its icon, in Blender's font of 11 points; Blender cuts off what is longer."""
    hint = addon("blender.scene.body_creation").type_hint
    cube = mesh_object("Cube", *CUBE)
    said = [hint(cube, "ROPE"), hint(sheet(), "SOFT"), hint(cube, "CLOTH"), hint(line(), "WATER")]
    blf.size(0, 11)
    for text in said:
        assert 0 < blf.dimensions(0, text)[0] <= 190, text


def grid(name: str, *, edge: float, scale: float = 1.0) -> Any:
    """A sheet of 10 × 10 quads with edges of this length, by its mesh and its object's scale."""
    side = 10 * edge / scale
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=10, y_subdivisions=10, size=side)
    obj: Any = bpy.context.object
    obj.name, obj.scale = name, (scale, scale, scale)
    bpy.context.view_layer.update()
    return obj


def test_a_script_makes_the_same_bodies_as_the_button() -> None:
    """With a material; without one, all settings are the plain defaults."""
    obj = sheet()
    verlet.convert()
    assert obj.verlet.material == "COTTON"
    plain = grid("Plain", edge=0.005)
    verlet.convert(use_material=False)
    assert plain.verlet.material == "NONE"
    assert not plain.verlet.is_property_set("thickness")


def test_the_thickness_of_a_new_body_suits_its_mesh() -> None:
    """A fifth of its edges, in the world's units; never more than the default or one set."""
    made = [grid("Fine", edge=0.01), grid("Scaled", edge=0.01, scale=0.1)]
    made += [grid("Coarse", edge=0.2), grid("Set", edge=0.01)]
    made[-1].verlet.thickness = 0.004
    select(*made)
    verlet.convert()
    assert [obj.verlet.thickness for obj in made] == pytest.approx([0.002, 0.002, 0.005, 0.004])
    verlet.release()
    assert made[0].verlet.thickness == pytest.approx(0.005)


def test_convert_keeps_settings_made_before() -> None:
    obj = sheet()
    obj.verlet.mass = 3.0
    verlet.convert()
    assert obj.verlet.mass == 3.0


@pytest.mark.parametrize("kind", ["FONT", None])
def test_what_is_no_mesh_is_left_out_and_named(
    kind: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    """A light that was selected along with the meshes is no reason to convert none."""
    obj = sheet()
    data = bpy.data.curves.new("Other", kind) if kind else None
    other: Any = bpy.data.objects.new("Other", data)
    bpy.context.scene.collection.objects.link(other)
    select(obj, other)
    assert verlet.convert() == {"FINISHED"}
    assert obj.verlet.enabled
    assert not other.verlet.enabled
    told = capfd.readouterr()
    assert (
        "1 of 2 objects left out, since they are no meshes, curves or hair: Other"
        in told.out + told.err
    )


def test_without_any_mesh_nothing_is_converted() -> None:
    other = bpy.data.objects.new("Other", None)
    bpy.context.scene.collection.objects.link(other)
    select(other)
    with pytest.raises(RuntimeError, match="Select a mesh, a curve or hair first"):
        verlet.convert()


def test_a_body_that_is_switched_off_keeps_its_settings_until_it_is_released(
    addon: Callable[[str], ModuleType],
) -> None:
    is_body = addon("blender.settings.properties").is_body
    obj = body(sheet(), mass=7.0)
    obj.verlet.enabled = False
    assert is_body(obj)
    assert obj.verlet.mass == 7.0
    assert not verlet.bake.poll()
    with pytest.raises(RuntimeError, match="All soft bodies of Scene are switched off"):
        verlet.bake()
    verlet.release()
    assert not is_body(obj)
    assert obj.verlet.mass != 7.0


def test_convert_can_be_undone() -> None:
    sheet("Sheet")
    bpy.ops.ed.undo_push(message="before")
    run("convert")
    assert blender.data.objects["Sheet"].verlet.enabled
    undo()
    assert not blender.data.objects["Sheet"].verlet.enabled


def test_release_makes_all_selected_bodies_ordinary_again() -> None:
    first, second = sheet("First"), line("Second")
    untouched = file_content()["objects/First"]["verlet"]
    body(first, mass=7.0)
    body(second, damping=3.0)
    pin(first, [0])
    select(first, second)
    assert verlet.release() == {"FINISHED"}
    content = file_content()
    assert content["objects/First"]["verlet"] == untouched
    assert content["objects/Second"]["verlet"] == untouched


@pytest.mark.usefixtures("small_bake")
def test_release_keeps_a_bake_that_clear_bake_can_still_remove() -> None:
    obj = body(sheet())
    verlet.bake()
    verlet.release()
    assert len(baked(obj)) == 4
    assert verlet.clear_bake() == {"FINISHED"}
    assert obj.data.shape_keys is None


# --- add ----------------------------------------------------------------------------------------


def added(operator: str, **properties: Any) -> Any:
    assert getattr(verlet, operator)(**properties) == {"FINISHED"}
    return bpy.context.object


def weights(obj: Any) -> Any:
    """Weights of the pin group."""
    group = obj.vertex_groups[obj.verlet.pin_group].index
    vertices = obj.data.vertices
    return np.array([sum(g.weight for g in v.groups if g.group == group) for v in vertices])


def test_a_new_cloth_is_pinned_at_one_edge_and_ready() -> None:
    other = sheet()
    obj = added("add_cloth", size=3.0, resolution=6)
    assert (obj.verlet.enabled, obj.verlet.body_type) == (True, "CLOTH")
    assert obj.select_get()
    assert not other.select_get()
    points = coordinates(obj.data.vertices)
    assert len(points) == 49
    assert np.ptp(points, axis=0) == pytest.approx((3.0, 3.0, 0.0))
    assert np.all((weights(obj) == 1.0) == (points[:, 1] == points[:, 1].max()))
    assert len(obj.data.uv_layers) == 1


@pytest.mark.usefixtures("small_bake")
def test_a_new_balloon_is_round_blown_up_and_drops() -> None:
    obj = added("add_balloon", size=2.0, resolution=3)
    assert (obj.verlet.enabled, obj.verlet.body_type) == (True, "CLOTH")
    assert obj.verlet.material == "BALLOON"
    assert obj.verlet.pressure > 0.0
    assert np.linalg.norm(coordinates(obj.data.vertices), axis=1) == pytest.approx(1.0)
    height = obj.location.z
    assert height > 1.0
    verlet.bake()
    last = list(baked(obj).values())[-1]
    assert last[:, 2].mean() < -0.01
    assert np.ptp(last, axis=0) == pytest.approx(2.0, rel=0.12)


def test_a_closed_mesh_becomes_a_balloon_on_request() -> None:
    obj = ball()
    select(obj)
    verlet.convert(body_type="BALLOON")
    assert (obj.verlet.body_type, obj.verlet.material) == ("CLOTH", "BALLOON")


def test_a_new_rope_is_pinned_at_one_end_and_ready() -> None:
    obj = added("add_rope", length=5.0, segments=10)
    assert (obj.verlet.enabled, obj.verlet.body_type) == (True, "ROPE")
    points = coordinates(obj.data.vertices)
    assert (len(points), len(obj.data.edges)) == (11, 10)
    assert np.ptp(points, axis=0) == pytest.approx((5.0, 0.0, 0.0))
    assert weights(obj).tolist() == [1.0] + [0.0] * 10


def test_a_new_rope_is_a_tube_where_renders_are_to_see_it() -> None:
    """Of the first material that the rope gets; the mesh that is baked stays edges alone."""
    obj = added("add_rope", length=2.0, segments=10)
    obj.data.materials.append(bpy.data.materials.new("Hemp"))
    assert not obj.data.polygons
    shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    assert len(shown.polygons) >= 100
    assert {shown.materials[face.material_index].name for face in shown.polygons} == {"Hemp"}
    places = coordinates(shown.vertices)
    assert np.ptp(places, axis=0)[1:] == pytest.approx((0.01, 0.01), abs=6e-4)


def test_a_rope_that_no_render_sees_becomes_a_tube() -> None:
    """Once: then, and with a modifier of one's own that gives it faces, there is no need."""
    obj = added("add_rope", segments=4, use_tube=False)
    assert verlet.show_tube() == {"FINISHED"}
    assert not verlet.show_tube.poll()
    obj.modifiers.clear()
    obj.modifiers.new("Skin", "SKIN")
    assert not verlet.show_tube.poll()
    assert not added("add_cloth").modifiers
    assert not verlet.show_tube.poll()


@pytest.mark.usefixtures("small_bake")
def test_a_tube_moves_with_the_bake(capfd: pytest.CaptureFixture[str]) -> None:
    """And nothing is said against it."""
    obj = added("add_rope", segments=4)
    verlet.bake()
    assert "Warning" not in capfd.readouterr().out
    heights = []
    for frame in (1, 4):
        bpy.context.scene.frame_set(frame)
        shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        heights.append(coordinates(shown.vertices)[:, 2].min())
    assert heights[1] < heights[0] - 0.01


@pytest.mark.parametrize(("operator", "reach"), [("add_cloth", 2.0), ("add_rope", 2.0)])
def test_new_bodies_hang_clear_of_the_ground_at_the_cursor(operator: str, reach: float) -> None:
    bpy.context.scene.cursor.location = (4.0, 5.0, 1.0)
    obj = added(operator)
    assert obj.location[:2] == (4.0, 5.0)
    assert obj.location.z > reach
    bpy.context.scene.cursor.location = (4.0, 5.0, 10.0)
    assert added(operator).location[:] == (4.0, 5.0, 10.0)


def test_without_ground_new_bodies_stay_at_the_cursor() -> None:
    scene: Any = bpy.context.scene
    scene.verlet.use_ground = False
    assert added("add_rope").location[:] == (0.0, 0.0, 0.0)


def test_a_location_that_is_given_is_taken_as_it_is() -> None:
    obj = added("add_cloth", location=(1.0, 2.0, 0.5), rotation=(0.0, 0.0, 1.0))
    assert obj.location[:] == (1.0, 2.0, 0.5)
    assert obj.rotation_euler[:] == (0.0, 0.0, 1.0)


@pytest.mark.parametrize("angle", [-1.5, 0.0, 0.4, 1.5, 3.0])
def test_a_turned_cloth_clears_the_ground_by_as_much(angle: float) -> None:
    """Its lowest pin is a length and a tenth above the ground, however it is turned."""
    obj = added("add_cloth", rotation=(angle, 0.0, 0.3))
    bpy.context.view_layer.update()
    pins = [obj.matrix_world @ obj.data.vertices[i].co for i in np.flatnonzero(weights(obj))]
    assert min(pin.z for pin in pins) == pytest.approx(2.2, abs=1e-5)


def test_the_height_follows_the_size_until_a_location_is_given() -> None:
    """As Adjust Last Operation runs it anew, with all that the first run chose."""
    chosen = added("add_cloth").location.copy()
    assert chosen.z == pytest.approx(2.2)
    again = {"location": chosen, "chosen_location": chosen}
    assert added("add_cloth", size=4.0, **again).location.z == pytest.approx(4.4)
    again["location"] = (0.0, 0.0, 7.0)
    assert added("add_cloth", size=4.0, **again).location.z == 7.0


def test_new_bodies_align_to_the_cursor_and_without_a_view_to_the_world() -> None:
    bpy.context.scene.cursor.rotation_euler = (0.0, 0.0, 0.5)
    assert added("add_rope", align="CURSOR").rotation_euler.z == pytest.approx(0.5)
    assert added("add_rope", align="VIEW").rotation_euler[:] == (0.0, 0.0, 0.0)
    assert added("add_rope").rotation_euler[:] == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("operator", ["add_cloth", "add_rope"])
def test_adding_can_be_undone(operator: str) -> None:
    bpy.ops.ed.undo_push(message="before")
    run(operator)
    assert len(bpy.data.objects) == 1
    undo()
    assert not bpy.data.objects


# --- bake and clear -----------------------------------------------------------------------------


@pytest.mark.usefixtures("small_bake")
def test_a_bake_can_be_undone_and_leaves_no_trace() -> None:
    obj = body(sheet())
    obj.shape_key_add(name="Basis")
    smile = obj.shape_key_add(name="smile")
    smile.mute = True
    smile.keyframe_insert("value", frame=3)
    obj.shape_key_add(name="driven").driver_add("value").driver.expression = "frame / 10"
    bpy.context.scene.frame_set(2)
    before = file_content()
    bpy.ops.ed.undo_push(message="before")
    run("bake")
    assert file_content() != before
    undo()
    assert file_content() == before
    run("bake")
    verlet.clear_bake()
    assert file_content() == before


@pytest.mark.usefixtures("small_bake")
def test_clearing_a_bake_can_be_undone() -> None:
    body(sheet("Sheet"))
    bpy.ops.ed.undo_push(message="before")
    run("bake")
    with_bake = file_content()
    run("clear_bake")
    assert not baked(bpy.data.objects["Sheet"])
    undo()
    assert file_content() == with_bake


@pytest.mark.usefixtures("small_bake")
def test_bake_and_clear_bake_take_all_bodies_that_are_switched_on() -> None:
    """Whatever is selected; one that is switched off keeps the bake it has."""
    first, second, third = (body(line(name)) for name in ("First", "Second", "Third"))
    select(first)
    verlet.bake()
    assert [len(baked(obj)) for obj in (first, second, third)] == [4, 4, 4]
    second.verlet.enabled = False
    verlet.bake(frame_end=2)
    assert [len(baked(obj)) for obj in (first, second, third)] == [2, 4, 2]
    verlet.clear_bake()
    assert [len(baked(obj)) for obj in (first, second, third)] == [0, 4, 0]
    assert not verlet.clear_bake.poll()
    second.verlet.enabled = True
    verlet.clear_bake()
    assert not baked(second)


# --- why a button is grey -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operator", "reason"),
    [
        ("convert", "Select a mesh, a curve or hair first"),
        ("release", "None of the selected objects is a soft body"),
        ("bake", "There is no soft body in Scene; select a mesh and press Make Soft Body"),
        ("clear_bake", "No soft body that is switched on has a bake"),
    ],
)
def test_a_grey_button_says_why(operator: str, reason: str) -> None:
    sheet()
    select()
    assert not getattr(verlet, operator).poll()
    with pytest.raises(RuntimeError, match=reason):
        getattr(verlet, operator)()


@pytest.mark.parametrize("operator", ["convert", "release", "bake", "add_cloth", "add_rope"])
def test_in_edit_mode_buttons_are_grey_and_say_so(operator: str) -> None:
    """Undo in Edit Mode would not bring back what they change."""
    body(sheet("Sheet"))
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(RuntimeError, match="Sheet is in Edit Mode; switch to Object Mode first"):
        getattr(verlet, operator)()


@pytest.mark.usefixtures("small_bake")
def test_the_bakes_of_selected_bodies_are_cleared_alone() -> None:
    """Where none of them is baked, a message says so."""
    first, second = body(sheet("First")), body(sheet("Second"))
    verlet.bake()
    select(second)
    assert verlet.clear_bake(selected=True) == {"FINISHED"}
    assert (len(baked(first)), len(baked(second))) == (4, 0)
    with pytest.raises(RuntimeError, match="No selected object is baked"):
        verlet.clear_bake(selected=True)
    verlet.clear_bake()
    assert not baked(first)


@pytest.mark.parametrize("operator", ["bake", "clear_bake"])
def test_buttons_for_selected_bodies_say_so_and_leave_no_trace(
    addon: Callable[[str], Any], operator: str
) -> None:
    """Blender presses a button with what the last press had, unless it is told to forget that."""
    kind = getattr(
        addon(f"blender.ui.{'bake_operator' if operator == 'bake' else 'operators'}"),
        f"VERLET_OT_{operator}",
    )
    given = getattr(verlet, operator).get_rna_type()
    selected = given.properties["selected"]
    assert selected.is_skip_save
    tooltip = kind.description(bpy.context, Mock(bl_rna=given, selected=True))
    assert tooltip == selected.description
    assert not kind.description(bpy.context, Mock(bl_rna=given, selected=False))


@pytest.mark.usefixtures("small_bake")
def test_painting_pins_does_not_stand_in_the_way_of_a_bake() -> None:
    obj = body(sheet())
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    assert verlet.bake() == {"FINISHED"}
    assert len(baked(obj)) == 4


def test_bake_stands_above_all_panels_with_a_body_and_without(addon: Callable[[str], Any]) -> None:
    """Below others it left the sidebar; come and gone, it pushed buttons from under the mouse."""
    panels = [each for each in addon("blender.registration").CLASSES if "_PT_" in each.__name__]
    roots = [each for each in panels if getattr(each, "bl_category", "") == "Verlet"]
    bake = next(each for each in roots if not hasattr(each, "bl_parent_id"))
    assert bake.bl_label == "Bake"
    assert not hasattr(bake, "poll")
    assert not any(operator.poll() for operator in (verlet.bake, verlet.live, verlet.clear_bake))
    verlet.add_cloth()
    assert verlet.bake.poll()


def panels_of(addon: Callable[[str], Any], space: str) -> list[Any]:
    """The panels of the sidebar tab (VIEW_3D) or of the Physics tab (PROPERTIES), in order."""
    return [
        each
        for each in addon("blender.registration").CLASSES
        if "_PT_" in each.__name__
        and each.bl_space_type == space
        and getattr(each, "bl_category", "") == "Verlet"
    ]


def within(panels: list[Any], parent: str) -> list[str]:
    """The labels of the panels within another one, in order."""
    return [each.bl_label for each in panels if getattr(each, "bl_parent_id", "") == parent]


def test_the_first_look_shows_type_material_pins_and_bake(addon: Callable[[str], Any]) -> None:
    """All other panels are closed, and the first within Soft Body has the material's numbers."""
    tab = panels_of(addon, "VIEW_3D")
    closed = [each for each in tab if "DEFAULT_CLOSED" in getattr(each, "bl_options", ())]
    assert [each.bl_label for each in tab if each not in closed] == [
        *("Bake", "Soft Bones", "Soft Body")  # of armatures, and of all other objects
    ]
    assert within(tab, "VERLET_PT_body")[0] == "Physical Properties"


def test_the_physics_tab_has_all_panels_of_the_sidebar(addon: Callable[[str], Any]) -> None:
    """Each within the copy of its parent, in the same order; Properties ▸ Bone has Soft Bones."""
    tab, copies = panels_of(addon, "VIEW_3D"), panels_of(addon, "PROPERTIES")
    assert len(copies) == len([each for each in tab if each.__name__ != "VERLET_PT_soft_bones"])
    for name in ("bake", "forces", "simulation"):
        parts = within(tab, f"VERLET_PT_{name}")
        assert parts == within(copies, f"VERLET_PT_physics_{name}") != []
    parts = within(tab, "VERLET_PT_body")
    assert [each for each in within(copies, "VERLET_PT_physics_body") if each in parts] == parts


# --- thickness ----------------------------------------------------------------------------------


def test_the_cost_of_a_thickness_is_the_one_measured(addon: Callable[[str], Any]) -> None:
    """Within 15 % of the times in docs/reference/collisions.md, which are of one run each."""
    page = (ROOT / "docs" / "reference" / "collisions.md").read_text(encoding="utf-8")
    table = page.split("| thickness / edge |")[1].split("\n\n")[0].splitlines()[2:]
    rows = [[float(cell) for cell in line.strip("|").split("|")] for line in table]
    duration = addon("blender.ui.thickness_cost").duration
    first = duration(rows[0][0]) / rows[0][-1]
    assert len(rows) == 5
    for ratio, *_, time in rows:
        assert duration(ratio) / first == pytest.approx(time, rel=0.15)


def test_the_panel_tells_what_a_thickness_costs(addon: Callable[[str], Any]) -> None:
    """Only where another one would make a bake noticeably faster."""
    told = addon("blender.ui.thickness_cost").thickness_cost
    cloth = grid("Cloth", edge=0.01)
    verlet.convert()
    assert told(cloth) == ""
    cloth.verlet.thickness = 0.012
    assert told(cloth) == ("Thickness is 1.2 of the edge length: up to 4 times as slow as at 0.2")
    cloth.scale = (10.0, 10.0, 10.0)
    bpy.context.view_layer.update()
    assert told(cloth) == ""
