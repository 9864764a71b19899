"""What cannot be baked is said in one clear sentence, and the file stays as it was."""

import re
from collections.abc import Callable
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
    pin,
    select,
    sheet,
    verlet,
)


def no_vertices() -> None:
    mesh_object("Bad", [], [], [])


def no_vertices_below_others() -> None:
    """The good one hangs on it, so that a bake asks whether it follows."""
    no_vertices()
    blender.data.objects["Good"].parent = blender.data.objects["Bad"]


def no_vertices_to_attach_to() -> None:
    no_vertices()
    good = blender.data.objects["Good"]
    pin(good, [0])
    held = good.verlet.attachments.add()
    held.target, held.vertex_group = blender.data.objects["Bad"], "Pin"


def no_vertices_beside_a_finished_collider() -> None:
    no_vertices()
    wall = sheet("Wall")
    wall.modifiers.new("Thickness", "SOLIDIFY")
    wall.modifiers.new("Collision", "COLLISION")


def no_vertices_beside_ground_that_hangs_on_something() -> None:
    no_vertices()
    ground = sheet("Ground")
    ground.parent = blender.data.objects["Good"]
    scene: Any = bpy.context.scene
    scene.verlet.ground_object = ground


def no_vertices_beside_its_keys() -> None:
    """As a script leaves a mesh that it has emptied."""
    obj = sheet("Bad")
    obj.shape_key_add(name="Basis")
    obj.shape_key_add(name="Mine")
    obj.data.clear_geometry()


def other_vertices_than_its_keys(count: int) -> None:
    """As a script leaves a mesh that it has filled anew."""
    no_vertices_beside_its_keys()
    blender.data.objects["Bad"].data.from_pydata(*chain(count))


def chain(count: int) -> Any:
    """Vertices, edges and faces of a straight rope."""
    numbers = range(count)
    ends = [(number, number + 1) for number in numbers[:-1]]
    return [(number, 0.0, 1.0) for number in numbers], ends, []


def fewer_vertices_than_its_keys() -> None:
    other_vertices_than_its_keys(9)


def more_vertices_than_its_keys() -> None:
    other_vertices_than_its_keys(49)


def no_edges() -> None:
    mesh_object("Bad", [(0, 0, 0), (1, 0, 0)], [], [])


def all_vertices_pinned() -> None:
    obj = sheet("Bad")
    pin(obj, range(len(obj.data.vertices)))


def missing_pin_group() -> None:
    sheet("Bad").verlet.pin_group = "Nowhere"


def not_a_number() -> None:
    sheet("Bad").data.vertices[3].co.x = np.nan


def infinite() -> None:
    """Blender makes it the largest float32."""
    sheet("Bad").data.vertices[3].co.x = np.inf


def far_away() -> None:
    sheet("Bad").data.vertices[3].co.x = 1e30


def zero_length_edge() -> None:
    mesh_object("Bad", [(0, 0, 0), (0, 0, 0), (1, 0, 0)], [(0, 1), (1, 2)], [])


def zero_scale() -> None:
    sheet("Bad").scale.y = 0.0


def shared_mesh() -> None:
    bpy.context.scene.collection.objects.link(sheet("Bad").copy())


def edit_mode() -> None:
    sheet("Bad").verlet.enabled = True
    bpy.ops.object.mode_set(mode="EDIT")


def edit_mode_of_another() -> None:
    """Not the active object, as after a change of the view layer."""
    select(sheet("Bad"))
    bpy.ops.object.mode_set(mode="EDIT")
    other = bpy.data.objects.new("Other", None)
    bpy.context.scene.collection.objects.link(other)
    bpy.context.view_layer.objects.active = other


def negative_mass() -> None:
    sheet("Bad").verlet.mass = -1.0


def not_a_mesh() -> None:
    """Only a script can call a curve a body."""
    data: Any = bpy.data.curves.new("Bad", "FONT")
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Bad", data))


HOSTILE = [
    (no_vertices, "no vertices"),
    (no_vertices_below_others, "no vertices"),
    (no_vertices_to_attach_to, "no vertices"),
    (no_vertices_beside_a_finished_collider, "no vertices"),
    (no_vertices_beside_ground_that_hangs_on_something, "no vertices"),
    (no_vertices_beside_its_keys, "has 0 vertices and shape keys of 25"),
    (fewer_vertices_than_its_keys, "has 9 vertices and shape keys of 25"),
    (more_vertices_than_its_keys, "has 49 vertices and shape keys of 25"),
    (no_edges, "no edges"),
    (all_vertices_pinned, "every vertex pinned"),
    (missing_pin_group, "no vertex group Nowhere"),
    (not_a_number, "nan"),
    (infinite, "3.40282e+38"),
    (far_away, "1e+30"),
    (zero_length_edge, "edges of length 0"),
    (zero_scale, "scale"),
    (shared_mesh, "mesh"),
    (edit_mode, "Edit Mode"),
    (edit_mode_of_another, "Edit Mode"),
    (negative_mass, "mass is -1"),
    (not_a_mesh, "not a mesh"),
]


def error_of(**properties: Any) -> str:
    """What a bake says instead of baking."""
    with pytest.raises(RuntimeError) as caught:
        verlet.bake(frame_start=1, frame_end=3, **properties)
    return str(caught.value).strip().removeprefix("Error: ")


@pytest.fixture(autouse=True)
def _a_good_body() -> None:
    """Beside the hostile one there is a body that could be baked, and has been."""
    good = body(line("Good"))
    good.location.z = 3.0
    verlet.bake(frame_start=1, frame_end=2)
    bpy.context.scene.frame_set(2)


@pytest.mark.parametrize(
    ("prepare", "what"), HOSTILE, ids=lambda item: getattr(item, "__name__", "")
)
def test_one_sentence_and_an_unchanged_file(prepare: Callable[[], None], what: str) -> None:
    prepare()
    blender.data.objects["Bad"].verlet.enabled = True
    bpy.context.view_layer.update()
    before = repr(file_content())
    said = error_of()
    assert what in said
    assert "Bad" in said
    assert_is_one_sentence(said)
    assert repr(file_content()) == before


def assert_is_one_sentence(said: str) -> None:
    """One line, no full stop within, and a remedy after what is wrong."""
    assert "\n" not in said
    assert not re.search(r"\. [A-Z]", said)
    assert re.search(r"[;,:] ", said)
    assert "Traceback" not in said


def test_a_frame_range_that_runs_backwards() -> None:
    before = file_content()
    with pytest.raises(
        RuntimeError, match="100 to 1 ends before it starts; set its end to 100 or later"
    ):
        verlet.bake(frame_start=100, frame_end=1)
    assert file_content() == before


def test_a_step_of_nothing() -> None:
    assert "step is 0" in error_of(step=0)


def test_no_substeps_set_by_a_script() -> None:
    scene: Any = bpy.context.scene
    scene.verlet.substeps = 0
    before = file_content()
    assert "substeps is 0; set it to" in error_of()
    assert file_content() == before


def test_a_body_that_is_its_own_ground() -> None:
    scene: Any = bpy.context.scene
    scene.verlet.ground_object = next(obj for obj in scene.objects if obj.verlet.enabled)
    before = file_content()
    said = error_of()
    assert "cannot be its own ground" in said
    assert_is_one_sentence(said)
    assert file_content() == before


def test_a_ground_object_without_extent() -> None:
    plane = bpy.data.objects.new("Plane", None)
    bpy.context.scene.collection.objects.link(plane)
    plane.scale.x = 0.0
    scene: Any = bpy.context.scene
    scene.verlet.ground_object = plane
    bpy.context.view_layer.update()
    before = file_content()
    said = error_of()
    assert "Plane" in said
    assert_is_one_sentence(said)
    assert file_content() == before


def test_linked_objects_alone(tmp_path: Any) -> None:
    others: Any = bpy.context.scene.objects
    for obj in others:
        obj.verlet.enabled = False
    library = str(tmp_path / "library.blend")
    bpy.data.libraries.write(library, {body(sheet("Bad"))})
    bpy.data.objects.remove(bpy.data.objects["Bad"])
    with blender.data.libraries.load(library, link=True) as (_, linked):
        linked.objects = ["Bad"]
    bpy.context.scene.collection.objects.link(linked.objects[0])
    bpy.context.view_layer.update()
    said = error_of()
    assert "Bad" in said
    assert "linked" in said
    assert_is_one_sentence(said)


@pytest.mark.parametrize("kind", ["FONT", None])
def test_a_selection_without_any_mesh(kind: Any) -> None:
    data = bpy.data.curves.new("Other", kind) if kind else None
    other = bpy.data.objects.new("Other", data)
    bpy.context.scene.collection.objects.link(other)
    sheet("Unselected")
    select(other)
    before = file_content()
    with pytest.raises(RuntimeError, match="Select a mesh, a curve or hair first"):
        verlet.convert()
    assert file_content() == before


def test_faces_that_a_scan_has_twice_count_once() -> None:
    """It moves as the mesh without them does, to the last bit, along its threads too."""
    plain = sheet().data
    corners = [tuple(vertex.co) for vertex in plain.vertices]
    faces = [tuple(face.vertices) for face in plain.polygons]
    faces[3:3] = [faces[2], faces[5][::-1], faces[2][1:] + faces[2][:1]]
    obj = body(mesh_object("Scan", corners, [], faces, height=1.0))
    layer = obj.data.uv_layers.new(name="Threads")
    for loop in obj.data.loops:
        layer.data[loop.index].uv = obj.data.vertices[loop.vertex_index].co.xy
    obj.verlet.thread_map = "Threads"
    pin(obj, [0, 4])
    bakes = []
    for _ in range(2):
        assert verlet.bake(frame_start=1, frame_end=6) == {"FINISHED"}
        bakes.append(baked(obj))
        verlet.clear_bake()
        obj.data.validate()  # takes out what is there twice
    assert len(obj.data.polygons) == len(plain.polygons)
    assert all(np.array_equal(bakes[0][name], bakes[1][name]) for name in bakes[1])
