"""Ropes that are curve objects: read, held, baked to the curve's own keys, or made meshes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import bpy
import numpy as np
import pytest

from .command_line import run
from .scenes import body, coordinates, file_content, line, select, verlet

KINDS = ("POLY", "BEZIER", "NURBS")
SAME = 1e-6
"""Distance up to which a curve and its rope are the same [m]."""


def curve(kind: str = "POLY", *, points: int = 6, bevel: float = 0.0, cyclic: bool = False) -> Any:
    """A curve object with one spline, moved, turned and scaled, selected alone."""
    data = bpy.data.curves.new("Rope", "CURVE")
    data.dimensions, data.resolution_u, data.bevel_depth = "3D", 5, bevel
    obj = bpy.data.objects.new("Rope", data)
    obj.location, obj.rotation_euler, obj.scale = (0.2, 0.1, 2.5), (0.1, 0.0, 0.4), (1.2, 0.9, 1.0)
    bpy.context.scene.collection.objects.link(obj)
    add_spline(obj, kind, points=points, cyclic=cyclic)
    select(obj)
    bpy.context.view_layer.update()
    return obj


def add_spline(obj: Any, kind: str, *, points: int = 6, cyclic: bool = False, y: float = 0) -> None:
    """Adds a spline of this type, a bent row of points along X, or a ring."""
    spline = obj.data.splines.new(kind)
    items = spline.bezier_points if kind == "BEZIER" else spline.points
    items.add(points - 1)
    for number, item in enumerate(items):
        angle = 2 * np.pi * number / points
        place = (0.2 * number, y + 0.05 * (number % 2), 0.0)
        if cyclic:
            place = (0.4 * np.cos(angle), y + 0.4 * np.sin(angle), 0.0)
        item.co = place if kind == "BEZIER" else (*place, 1.0)
        item.tilt, item.radius = 0.1 * number, 1.0 + 0.1 * number
        if kind == "BEZIER":
            item.handle_left_type = item.handle_right_type = "AUTO"
    spline.use_cyclic_u = cyclic
    if kind == "NURBS":
        spline.order_u, spline.use_endpoint_u = 4, not cyclic


def drawn(obj: Any, frame: int | None = None) -> Any:
    """World positions (n, 3) of what a curve without a bevel, or a mesh, shows."""
    if frame is not None:
        bpy.context.scene.frame_set(frame)
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = np.array(evaluated.matrix_world)
    points = coordinates(evaluated.to_mesh().vertices)
    evaluated.to_mesh_clear()
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def as_mesh(obj: Any) -> Any:
    """The same rope as Blender converts it to a mesh, a body too."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = bpy.data.meshes.new_from_object(evaluated)
    twin: Any = bpy.data.objects.new("Twin", mesh)
    for name in ("location", "rotation_euler", "scale"):  # a matrix would be rounded
        setattr(twin, name, getattr(obj, name))
    bpy.context.scene.collection.objects.link(twin)
    bpy.context.view_layer.update()
    return body(twin)


def apart(first: Any, second: Any, frames: int) -> float:
    """The largest distance between what two objects show at any frame [m]."""
    pairs = [(drawn(first, frame), drawn(second, frame)) for frame in range(1, frames + 1)]
    return max(float(np.abs(one - other).max()) for one, other in pairs)


def tube_radius(obj: Any) -> float:
    """The greatest distance of a tube's points from the rope within it, before its matrix [m]."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    places = coordinates(evaluated.data.vertices)
    center = coordinates(obj.data.vertices)
    nearest = np.linalg.norm(places[:, None] - center, axis=2).min(axis=1)
    return float(nearest.max())


def bake_alone(obj: Any, frames: int = 20) -> None:
    """Bakes one body without the others."""
    others = [each for each in bpy.context.scene.objects if each != obj and each.verlet.enabled]
    for other in others:
        other.verlet.enabled = False
    verlet.bake(frame_start=1, frame_end=frames)
    for other in others:
        other.verlet.enabled = True


def hook(obj: Any, controls: list[int], *, frames: int = 20) -> Any:
    """An empty that moves over the frames, to which these control points are hooked."""
    empty = bpy.data.objects.new("Empty", None)
    bpy.context.scene.collection.objects.link(empty)
    modifier = obj.modifiers.new("Hook", "HOOK")
    modifier.object = empty
    modifier.vertex_indices_set(controls)
    bpy.context.view_layer.update()
    modifier.matrix_inverse = empty.matrix_world.inverted() @ obj.matrix_world
    empty.keyframe_insert("location", frame=1)
    empty.location = (0.3, 0.2, 0.4)
    empty.keyframe_insert("location", frame=frames)
    return empty


def test_polylines_move_as_the_same_ropes_of_meshes() -> None:
    """With an end that is held and one that is hooked, over several splines, one of them closed."""
    rope = curve("POLY")
    add_spline(rope, "POLY", cyclic=True, points=8, y=1.0)
    twin = as_mesh(rope)
    for obj in (rope, twin):
        hook(obj, [5, 8])
    twin.vertex_groups.new(name="Pin").add([0, 5, 8], 1.0, "REPLACE")
    twin.verlet.pin_group = "Pin"
    body(rope, hold_start=True)
    assert rope.verlet.body_type == "ROPE"
    bake_alone(rope)
    bake_alone(twin)
    assert apart(rope, twin, 20) <= SAME
    assert np.ptp(drawn(rope, 20) - drawn(rope, 1)) > 0.1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cyclic", [False, True])
def test_a_mesh_made_from_a_curve_starts_where_it_is_and_moves_as_the_same_rope(
    kind: str, cyclic: bool
) -> None:
    rope = curve(kind, cyclic=cyclic)
    if not cyclic:
        rope.verlet.hold_start = True
        rope.verlet.pinned_points = "3"
    twin = as_mesh(rope)
    before = drawn(rope)
    select(rope)
    verlet.curve_to_mesh()
    made: Any = bpy.context.object
    assert (made.type, made.verlet.body_type, made.verlet.enabled) == ("MESH", "ROPE", True)
    assert np.abs(drawn(made) - before).max() == 0.0
    if not cyclic:
        twin.vertex_groups.new(name="Pin").add(
            [v.index for v in made.data.vertices if v.groups], 1.0, "REPLACE"
        )
        twin.verlet.pin_group = "Pin"
    for obj in (made, twin):
        obj.verlet.mass = 0.5
    for name in ("material", "bend_compliance", "damping", "thickness", "use_density", "friction"):
        setattr(twin.verlet, name, getattr(made.verlet, name))
    for name in ("density", "stretch_compliance", "restitution", "use_self_collision"):
        setattr(twin.verlet, name, getattr(made.verlet, name))
    bake_alone(made)
    bake_alone(twin)
    assert apart(made, twin, 20) <= SAME


@pytest.mark.parametrize("kind", KINDS)
def test_its_own_keys_show_the_rope_and_how_near_is_told(kind: str) -> None:
    rope = curve(kind, points=9)
    twin = as_mesh(rope)
    twin.vertex_groups.new(name="Pin").add([0], 1.0, "REPLACE")
    twin.verlet.pin_group = "Pin"
    body(rope, hold_start=True)
    bake_alone(twin)
    bake_alone(rope)
    remarks = bpy.context.scene.verlet.baked_remarks
    gap = apart(rope, twin, 20)
    if kind == "POLY":
        assert gap <= SAME
        assert not remarks
    else:
        assert SAME < gap < 0.04
        assert "Rope shows its rope within" in remarks


@pytest.mark.parametrize("kind", KINDS)
def test_hooked_ends_are_where_their_hooks_are(kind: str) -> None:
    rope = curve(kind)
    empty = hook(rope, [0, 1, 2] if kind == "BEZIER" else [0])
    body(rope)
    start = drawn(rope, 1)[0]
    verlet.bake(frame_start=1, frame_end=20)
    moved = drawn(rope, 20)[0] - start
    assert np.abs(moved - np.array(empty.location)).max() < 1e-5
    assert np.abs(drawn(rope, 20)[-1] - drawn(rope, 1)[-1]).max() > 0.2


@pytest.mark.parametrize("kind", KINDS)
def test_clear_bake_leaves_the_curve_as_it_was(kind: str) -> None:
    """Its own shape keys, its bevel, its handles, tilts and radii, and its animation too."""
    rope = body(curve(kind, bevel=0.02), hold_start=True)
    rope.shape_key_add(name="Basis")
    own = rope.shape_key_add(name="Own")
    own.value = 0.5
    for item in own.data:
        item.co[2] += 0.1
    own.keyframe_insert("value", frame=1)
    bpy.context.view_layer.update()
    before = file_content()
    verlet.bake(frame_start=1, frame_end=6)
    names = [block.name for block in rope.data.shape_keys.key_blocks]
    assert names == ["Basis", "Own", *(f"verlet_{frame:04d}" for frame in range(1, 7))]
    assert rope.data.bevel_depth == pytest.approx(0.02)
    baked = rope.data.shape_keys.key_blocks["verlet_0006"].data
    for item, base in zip(baked, rope.data.shape_keys.reference_key.data, strict=True):
        assert (item.tilt, item.radius) == (base.tilt, base.radius)
    verlet.bake(frame_start=1, frame_end=4)
    verlet.clear_bake()
    assert file_content() == before


def test_clear_bake_restores_a_basis_that_was_deleted() -> None:
    rope = body(curve("BEZIER"))
    before = drawn(rope, 1)
    verlet.bake(frame_start=1, frame_end=6)
    rope.shape_key_remove(rope.data.shape_keys.key_blocks["Basis"])
    verlet.clear_bake()
    assert rope.data.shape_keys is None or len(rope.data.shape_keys.key_blocks) == 1
    assert np.abs(drawn(rope, 1) - before).max() <= SAME


def test_a_curve_of_another_shape_key_starts_there() -> None:
    rope = curve("POLY")
    rope.shape_key_add(name="Basis")
    raised = rope.shape_key_add(name="Raised")
    raised.value = 1.0
    for item in raised.data:
        item.co[2] += 0.3
    body(rope)
    before = drawn(rope, 1)
    verlet.bake(frame_start=1, frame_end=4)
    assert np.abs(drawn(rope, 1) - before).max() <= SAME


def test_points_are_pinned_in_edit_mode_and_hold() -> None:
    rope = body(curve("BEZIER"))
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.curve.select_all(action="DESELECT")
    for number in (0, 3):
        rope.data.splines[0].bezier_points[number].select_control_point = True
    verlet.pin_selected()
    assert rope.verlet.pinned_points == "0 3"
    rope.data.splines[0].bezier_points[0].select_control_point = False
    verlet.unpin_selected()
    assert rope.verlet.pinned_points == "0"
    bpy.ops.object.mode_set(mode="OBJECT")
    before = drawn(rope, 1)
    verlet.bake(frame_start=1, frame_end=10)
    moves = np.linalg.norm(drawn(rope, 10) - before, axis=1)
    assert moves[0] < 1e-5
    assert moves[-1] > 0.1


def test_undo_brings_the_curve_back() -> None:
    body(curve("POLY"))
    bpy.ops.ed.undo_push(message="Before")
    verlet.bake(frame_start=1, frame_end=4)
    bpy.ops.ed.undo_push(message="Bake")
    bpy.ops.ed.undo()
    rope: Any = bpy.data.objects["Rope"]
    assert rope.data.shape_keys is None
    assert rope.verlet.enabled


def test_a_mesh_from_a_curve_has_its_tube_hooks_keys_and_materials() -> None:
    rope = curve("BEZIER", bevel=0.03)
    rope.data.materials.append(bpy.data.materials.new("Hemp"))
    rope.shape_key_add(name="Basis")
    rope.shape_key_add(name="Own").value = 0.25
    hook(rope, [0, 1, 2])
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    rope.parent = parent
    select(rope)
    verlet.curve_to_mesh()
    made: Any = bpy.context.object
    assert made.parent == parent
    assert [key.name for key in made.data.shape_keys.key_blocks] == ["Basis", "Own"]
    assert made.data.shape_keys.key_blocks["Own"].value == 0.25
    assert [slot.material.name for slot in made.material_slots] == ["Hemp"]
    hooks = [item for item in made.modifiers if item.type == "HOOK"]
    assert [list(item.vertex_indices) for item in hooks] == [[0]]
    tubes = [item for item in made.modifiers if item.type == "NODES"]
    assert len(tubes) == 1
    made.modifiers.remove(hooks[0])
    assert tube_radius(made) == pytest.approx(0.03, abs=1e-4)
    assert rope.hide_render
    assert not rope.verlet.enabled


REFUSED = {
    "flat": "is a 2D curve; set its Shape to 3D",
    "empty": "has no points; add some",
    "points": 'its Pinned Points are "9"; give numbers from 0 to 5',
    "type": "can be a rope alone; set its type to Rope",
    "shared": "shares its curve",
}


@pytest.mark.parametrize("fault", REFUSED)
def test_what_cannot_be_baked_is_said_in_one_sentence(fault: str) -> None:
    rope = body(curve("POLY"))
    if fault == "flat":
        rope.data.dimensions = "2D"
    elif fault == "empty":
        rope.data.splines.clear()
    elif fault == "points":
        rope.verlet.pinned_points = "9"
    elif fault == "type":
        rope.verlet.body_type = "CLOTH"
    else:
        other = bpy.data.objects.new("Other", rope.data)
        bpy.context.scene.collection.objects.link(other)
    bpy.context.view_layer.update()
    before = repr(file_content())
    with pytest.raises(RuntimeError, match=REFUSED[fault]):
        verlet.bake(frame_start=1, frame_end=3)
    assert repr(file_content()) == before


@pytest.mark.parametrize("body_type", ["CLOTH", "SOFT", "WATER", "BALLOON"])
def test_a_curve_becomes_nothing_but_a_rope(body_type: str) -> None:
    rope = curve()
    with pytest.raises(RuntimeError, match="Rope is a curve, which can be a rope alone"):
        verlet.convert(body_type=body_type)
    assert not rope.verlet.enabled


def test_its_panel_shows_the_weight_of_its_pins_and_no_maximum_distance(
    addon: Callable[[str], Any],
) -> None:
    """A bake refuses a curve with one; its pins are no vertex group."""
    rope = body(curve(), hold_start=True)
    panel, column = addon("blender.ui.direction_panel").VERLET_PT_direction, MagicMock()
    panel.fill_for(panel, column, rope.verlet)
    assert column.column().active
    shown = [call.args[1] for call in column.prop.mock_calls + column.column().prop.mock_calls]
    assert shown == ["inertia_share", "use_dynamic_mesh", "pin_weight"]
    rope.verlet.use_maximum_distance = True
    panel.fill_for(panel, column, rope.verlet)
    column.prop.assert_any_call(rope.verlet, "use_maximum_distance")


def test_caches_live_simulation_and_drapes_are_refused(tmp_path: Path) -> None:
    body(curve())
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rope.blend"))
    for operator, options in (("bake", {"mode": "CACHE"}), ("live", {}), ("drape", {})):
        before = repr(file_content())
        with pytest.raises(RuntimeError, match="Rope is a curve, on which"):
            getattr(verlet, operator)(**options)
        assert repr(file_content()) == before


def test_a_linked_curve_is_told(tmp_path: Path) -> None:
    library = str(tmp_path / "library.blend")
    bpy.data.libraries.write(library, {body(curve())})
    bpy.data.objects.remove(bpy.data.objects["Rope"])
    loader: Any = bpy.data.libraries
    with loader.load(library, link=True) as (_, linked):
        linked.objects = ["Rope"]
    bpy.context.scene.collection.objects.link(linked.objects[0])
    with pytest.raises(RuntimeError, match="Rope is linked from another file"):
        verlet.bake(frame_start=1, frame_end=3)
    override = linked.objects[0].override_create(remap_local_usages=True)
    override.data.override_create(remap_local_usages=True)
    with pytest.raises(RuntimeError, match="The curve of Rope belongs to another file, so that"):
        verlet.bake(frame_start=1, frame_end=3)


def test_curves_and_meshes_are_baked_together_and_collide() -> None:
    """A rope falls across a rod that is a curve too, held at both ends."""
    rod = body(curve(), hold_start=True, hold_end=True)
    other = body(line("Line", height=3.2))
    other.rotation_euler.z = np.pi / 2
    other.location.x, other.location.y = 0.7, -0.3
    verlet.bake(frame_start=1, frame_end=30)
    assert rod.data.shape_keys is not None
    assert other.data.shape_keys is not None
    assert drawn(other, 30)[:, 2].max() > 1.5


def test_a_changed_curve_is_told() -> None:
    rope = body(curve())
    verlet.bake(frame_start=1, frame_end=3)
    rope.data.shape_keys.reference_key.data[0].co[2] += 0.2
    from_bake: Any = rope.verlet.baked_inputs
    verlet.bake(frame_start=1, frame_end=3)
    assert rope.verlet.baked_inputs != from_bake


def test_a_spline_of_fewer_points_than_its_order_is_a_rope() -> None:
    rope = body(curve("NURBS", points=2))
    rope.data.splines[0].order_u = 4
    verlet.bake(frame_start=1, frame_end=3)
    assert len(rope.data.shape_keys.key_blocks) == 4


def test_the_command_line_bakes_curves(tmp_path: Path) -> None:
    body(curve("BEZIER", bevel=0.02), hold_start=True)
    source, output = tmp_path / "rope.blend", tmp_path / "out.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(source))
    done = run("bake", source, "--output", output, "--frames", "1", "5")
    assert done.returncode == 0, done.stderr
    assert "Rope shows its rope within" in done.stderr
    bpy.ops.wm.open_mainfile(filepath=str(output))
    rope: Any = bpy.data.objects["Rope"]
    assert len(rope.data.shape_keys.key_blocks) == 6
    done = run("bake", source, "--output", output, "--frames", "1", "5", "--mode", "cache")
    assert done.returncode == 1
    assert "Rope is a curve, on which a cache cannot be shown; bake shape keys" in done.stderr
