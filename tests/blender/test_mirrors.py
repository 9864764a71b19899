"""Half a body with a Mirror moves as the whole one does, and never parts at the seam."""

from math import radians
from typing import Any

import bmesh
import bpy
import numpy as np
import pytest

from tests.blender.scenes import (
    bake_each,
    blender,
    body,
    line,
    mesh_object,
    pin,
    sheet,
    shown,
)

CELLS = 6
# A shape key's float32 at coordinates of some metres.
FLOAT32 = 2e-5


@pytest.fixture
def scene() -> Any:
    """The scene, of two seconds' worth of swinging, without ground."""
    scene: Any = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 24
    scene.verlet.use_ground = False
    return scene


def whole_sheet() -> Any:
    """A sheet about its object's origin that hangs on the two corners behind."""
    obj = firm(sheet("Whole", resolution=2 * CELLS, size=2.0))
    positions = np.array([vertex.co for vertex in obj.data.vertices])
    obj.data.vertices.foreach_set("co", (positions - (1.0, 1.0, 0.0)).astype(np.float32).ravel())
    pin(obj, [0, 2 * CELLS])
    obj.location.z = 3.0
    return obj


def firm(obj: Any) -> Any:
    """As a body that is stiff enough for a whole sheet to stay symmetric by itself, to 1 mm."""
    return body(obj, bend_compliance=0.01)


def remnant(whole: Any, *signs: int) -> tuple[Any, Any]:
    """What is left of a mesh on the positive side of each axis with a sign, and which vertices."""
    obj = whole.copy()
    obj.data, obj.name = whole.data.copy(), "Half"
    bpy.context.scene.collection.objects.link(obj)
    coordinates = np.array([vertex.co for vertex in obj.data.vertices])[:, : len(signs)]
    away = (coordinates * signs < -1e-6).any(axis=1)
    mesh = bmesh.new()
    mesh.from_mesh(obj.data)
    mesh.verts.ensure_lookup_table()
    gone = [mesh.verts[int(index)] for index in np.flatnonzero(away)]
    bmesh.ops.delete(mesh, geom=gone, context="VERTS")
    mesh.to_mesh(obj.data)
    mesh.free()
    modifier = obj.modifiers.new("Mirror", "MIRROR")
    modifier.use_axis = [*map(bool, signs), False, False][:3]
    return obj, np.flatnonzero(~away)


def own(obj: Any, frame: int) -> Any:
    """World positions at a frame without the Mirror."""
    obj.modifiers["Mirror"].show_viewport = False
    positions = shown(obj, frame)
    obj.modifiers["Mirror"].show_viewport = True
    return positions


def assert_moves_as(whole: Any, half: Any, kept: Any, *, far: float = 0.5) -> None:
    """At every frame, to half of what the whole one is unsymmetric by itself; and it moves far."""
    for frame in range(1, 25):
        assert own(half, frame) == pytest.approx(shown(whole, frame)[kept], abs=2e-3)
    assert np.abs(own(half, 24) - own(half, 1)).max() > far


@pytest.mark.usefixtures("scene")
@pytest.mark.parametrize("sign", [1, -1])
def test_half_a_sheet_moves_as_the_whole(sign: int) -> None:
    whole = whole_sheet()
    half, kept = remnant(whole, sign)
    bake_each()
    assert_moves_as(whole, half, kept)


@pytest.mark.usefixtures("scene")
def test_the_wind_blows_at_half_a_sheet_as_at_the_whole() -> None:
    """Along the plane of the mirror, for across it the halves could only move alike."""
    whole = whole_sheet()
    half, kept = remnant(whole, 1)
    bpy.ops.object.effector_add(type="WIND", rotation=(radians(60), 0.0, 0.0))
    bpy.context.object.field.strength = 6.0
    bake_each()
    assert_moves_as(whole, half, kept)


def test_a_quarter_of_a_sheet_moves_as_the_whole(scene: Any) -> None:
    """Held by a patch in the middle; oblong, for a square may droop one way or the other."""
    whole = whole_sheet()
    whole.vertex_groups.clear()
    pin(whole, [2 * CELLS * (CELLS + 1) + y + x for x in (-1, 0, 1) for y in (-13, 0, 13)])
    whole.scale.y = 0.4
    whole.verlet.bend_compliance = 0.3
    # What the order of vertices does to the order of sweeps goes with finer steps.
    scene.verlet.substeps = 30
    quarter, kept = remnant(whole, 1, 1)
    bake_each()
    assert_moves_as(whole, quarter, kept, far=0.03)


@pytest.mark.parametrize("change", [{}, {"use_clip": True, "use_mirror_merge": False}], ids=str)
def test_the_seam_stays_on_the_plane_and_closed(scene: Any, change: dict[str, Any]) -> None:
    """Exactly; limp cloth, of which a whole sheet is not symmetric for long."""
    whole = whole_sheet()
    whole.verlet.bend_compliance = 100.0
    half, _ = remnant(whole, 1)
    whole.verlet.enabled = False
    for name, value in change.items():
        setattr(half.modifiers["Mirror"], name, value)
    count = len(shown(half, 1))
    bake_each(frame_end=48)
    for frame in range(1, 49):
        positions = own(half, frame)
        seam = np.abs(own(half, 1)[:, 0]) < 1e-6
        assert np.abs(positions[seam, 0]).max() < 1e-6
        assert len(shown(half, frame)) == count
    assert scene.frame_current == 48


def test_the_plane_may_be_another_object_s_and_move(scene: Any) -> None:
    """A quarter turn off, on a swing to and fro within the plane."""
    whole = whole_sheet()
    half, kept = remnant(whole, 1)
    plane = bpy.data.objects.new("Plane", None)
    scene.collection.objects.link(plane)
    plane.parent, plane.rotation_euler.z = half, radians(90)
    half.modifiers["Mirror"].use_axis = (False, True, False)
    half.modifiers["Mirror"].mirror_object = plane
    for obj in (whole, half):
        obj.driver_add("location", 1).driver.expression = "0.05 * frame"
        obj.driver_add("rotation_euler", 0).driver.expression = "0.02 * frame"
    bake_each()
    assert_moves_as(whole, half, kept)


@pytest.mark.usefixtures("scene")
def test_what_carries_the_half_comes_before_its_image() -> None:
    """A hook draws the corner of the half up; the corner follows, and the seam stays closed."""
    whole = whole_sheet()
    half, _ = remnant(whole, 1)
    whole.verlet.enabled = False
    empty = bpy.data.objects.new("Empty", None)
    bpy.context.scene.collection.objects.link(empty)
    empty.driver_add("location", 2).driver.expression = "0.02 * frame"
    hook = half.modifiers.new("Hook", "HOOK")
    hook.object = empty
    hook.vertex_indices_set([CELLS])
    half.modifiers.move(half.modifiers.find("Hook"), 0)
    animated = own(half, 24)[CELLS]
    seam = np.abs(own(half, 1)[:, 0]) < 1e-6
    bake_each()
    assert own(half, 24)[CELLS] == pytest.approx(animated, abs=FLOAT32)
    assert np.abs(own(half, 24)[seam, 0]).max() < FLOAT32


def test_what_flies_along_with_its_object_does_not_notice_the_mirror(scene: Any) -> None:
    """Without gravity it keeps its shape, whichever way the plane goes with it."""
    scene.use_gravity = False
    whole = whole_sheet()
    whole.vertex_groups.clear()
    whole.verlet.pin_group, whole.verlet.damping = "", 0.0
    half, _ = remnant(whole, 1)
    whole.verlet.enabled = False
    for axis in range(3):
        half.driver_add("location", axis).driver.expression = "0.1 * frame"
    start = own(half, 1)
    bake_each()
    assert own(half, 24) == pytest.approx(start + 0.1 * 23, abs=FLOAT32)


def test_a_falling_half_falls_by_the_law(scene: Any) -> None:
    scene.frame_end = 25
    whole = whole_sheet()
    whole.verlet.pin_group, whole.verlet.damping = "", 0.0
    half, _ = remnant(whole, 1, 1)
    bake_each()
    assert own(half, 25)[:, 2] == pytest.approx(3.0 - 9.81 / 2, abs=FLOAT32)


def test_half_a_jelly_ball_is_filled(scene: Any) -> None:
    """On the ground it keeps its volume, as the whole does; an open bowl would collapse."""
    scene.verlet.use_ground = True
    bpy.ops.mesh.primitive_uv_sphere_add(segments=12, ring_count=8, radius=0.5)
    whole = body(bpy.context.object, stretch_compliance=1e-3, body_type="SOFT")
    whole.location.z = 0.6
    half, kept = remnant(whole, 1)
    bake_each()
    assert own(half, 24) == pytest.approx(shown(whole, 24)[kept], abs=0.02)
    assert own(half, 24)[:, 2].max() > 0.8


@pytest.mark.usefixtures("scene")
def test_half_a_rope_hangs_as_the_whole() -> None:
    whole = body(line("Whole", segments=8, height=2.0), damping=0.0)
    whole.data.vertices.foreach_set(
        "co", [x for number in range(9) for x in (number / 4 - 1, 0.0, abs(number / 4 - 1))]
    )
    pin(whole, [0, 8])
    half, kept = remnant(whole, 1)
    bake_each()
    for frame in (6, 12, 24):
        assert own(half, frame) == pytest.approx(shown(whole, frame)[kept], abs=2e-3)


@pytest.mark.usefixtures("scene")
def test_a_wall_within_the_plane_is_one_wall() -> None:
    """The half of a box that is closed at the plane bakes; its wall stays where it is."""
    corners = [(x, y, z + 1.0) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    obj = body(mesh_object("Half", corners, [], sides))
    obj.modifiers.new("Mirror", "MIRROR")
    bake_each()
    assert np.abs(own(obj, 24)[:4, 0]).max() == 0.0


@pytest.mark.usefixtures("scene")
@pytest.mark.parametrize(
    "change", [{"use_mirror_merge": False}, {"use_axis": (False,) * 3}], ids=str
)
def test_what_a_mirror_does_not_join_moves_as_without(change: dict[str, Any]) -> None:
    half, _ = remnant(whole_sheet(), 1)
    blender.data.objects["Whole"].verlet.enabled = False
    for name, value in change.items():
        setattr(half.modifiers["Mirror"], name, value)
    bake_each()
    joined = own(half, 24)
    half.modifiers["Mirror"].show_render = half.modifiers["Mirror"].show_viewport = False
    bake_each()
    assert np.array_equal(own(half, 24), joined)


@pytest.mark.usefixtures("scene")
def test_a_whole_mesh_that_is_cut_at_the_plane_moves_as_without() -> None:
    """Bisect closes what it leaves, wherever that is."""
    whole = whole_sheet()
    modifier = whole.modifiers.new("Mirror", "MIRROR")
    modifier.use_bisect_axis = (True, False, False)
    bake_each()
    cut = own(whole, 24)
    modifier.show_render = modifier.show_viewport = False
    bake_each()
    assert np.array_equal(own(whole, 24), cut)
