"""A body that follows the mesh of another needs that one's bake first."""

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.scenes import (
    blender,
    body,
    file_content,
    line,
    pin,
    select,
    sheet,
    shown,
    verlet,
)

CORNER = 24
# A shape key's float32 at coordinates of some metres.
FLOAT32 = 2e-5


@pytest.fixture
def bodies() -> tuple[Any, Any]:
    """A flag that hangs on one corner, and a rope that hangs on one end."""
    scene: Any = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 12
    scene.verlet.use_ground = False
    flag, rope = body(sheet("Flag", height=2.0)), body(line("Rope", height=2.0))
    pin(flag, [0])
    pin(rope, [0])
    flag.vertex_groups.new(name="Corner").add([CORNER], 1.0, "REPLACE")
    return flag, rope


def child_of_a_vertex(flag: Any, rope: Any) -> None:
    rope.parent, rope.parent_type, rope.parent_vertices = flag, "VERTEX", (CORNER, 0, 0)
    rope.location = (0, 0, 0)


def child_of_three_vertices(flag: Any, rope: Any) -> None:
    rope.parent, rope.parent_type, rope.parent_vertices = flag, "VERTEX_3", (24, 23, 19)


def at_a_vertex_group(flag: Any, rope: Any) -> None:
    constraint = rope.constraints.new("COPY_LOCATION")
    constraint.target, constraint.subtarget = flag, "Corner"


def at_a_vertex_group_later(flag: Any, rope: Any) -> None:
    """Nothing shows at the current frame."""
    at_a_vertex_group(flag, rope)
    constraint = rope.constraints[0]
    for frame, influence in ((1, 0.0), (12, 1.0)):
        constraint.influence = influence
        constraint.keyframe_insert("influence", frame=frame)


def hooked_to_what_follows(flag: Any, rope: Any) -> None:
    """Through an empty that is the child of a vertex."""
    empty = bpy.data.objects.new("Empty", None)
    bpy.context.scene.collection.objects.link(empty)
    child_of_a_vertex(flag, empty)
    hook = rope.modifiers.new("Hook", "HOOK")
    hook.object = empty
    hook.vertex_indices_set([0])


def deformed_with_the_surface(flag: Any, rope: Any) -> None:
    """Bound to the mesh as it is finished; a bake hides that."""
    flag.modifiers.new("Triangulate", "TRIANGULATE")
    rope.location = (0.9, 0.9, 2.01)
    modifier = rope.modifiers.new("Deform", "SURFACE_DEFORM")
    modifier.target, modifier.vertex_group = flag, "Pin"
    bpy.context.view_layer.update()
    select(rope)
    bpy.ops.object.surfacedeform_bind(modifier="Deform")
    assert modifier.is_bound


def driven_by_a_constrained_empty(flag: Any, rope: Any) -> None:
    empty = bpy.data.objects.new("Empty", None)
    bpy.context.scene.collection.objects.link(empty)
    at_a_vertex_group(flag, empty)
    driver = rope.driver_add("location", 0).driver
    variable = driver.variables.new()
    variable.type, variable.targets[0].id = "TRANSFORMS", empty
    driver.expression = variable.name


WAYS = [
    child_of_a_vertex,
    child_of_three_vertices,
    at_a_vertex_group,
    at_a_vertex_group_later,
    hooked_to_what_follows,
    deformed_with_the_surface,
    driven_by_a_constrained_empty,
]


@pytest.mark.parametrize("follow", WAYS, ids=lambda f: f.__name__)
def test_together_they_are_refused_and_told_how(
    bodies: tuple[Any, Any], follow: Callable[[Any, Any], None]
) -> None:
    follow(*bodies)
    bpy.context.scene.frame_set(1)
    before = file_content()
    with pytest.raises(RuntimeError, match=r"Rope follows the mesh of Flag, .*; bake Flag first"):
        verlet.bake()
    assert file_content() == before


@pytest.mark.parametrize("place", range(7))
def test_among_many_bodies_the_right_two_are_named(bodies: tuple[Any, Any], place: int) -> None:
    """Seven more, one of which the rope follows; all hang on one object, which is fine."""
    others = [body(sheet(f"Other{number}", height=2.0)) for number in range(7)]
    for obj in (bodies[0], *others):
        obj.parent = bpy.data.objects.new("Rig", None)
    child_of_a_vertex(others[place], bodies[1])
    with pytest.raises(RuntimeError, match=f"Rope follows the mesh of Other{place}, "):
        verlet.bake()


@pytest.mark.parametrize("follow", WAYS, ids=lambda f: f.__name__)
def test_one_after_the_other_they_are_right(
    bodies: tuple[Any, Any], follow: Callable[[Any, Any], None]
) -> None:
    """The rope moves as it does where its carrier has the flag's motion from keys of its own."""
    flag, rope = bodies
    follow(flag, rope)
    rope.verlet.enabled = False
    verlet.bake()
    rope.verlet.enabled, flag.verlet.enabled = True, False
    held = [shown(rope, frame)[0] for frame in range(-1, 13)]
    rest = shown(rope, 1)
    verlet.bake()
    twin = body(line("Twin"))
    pin(twin, [0])
    twin.data.vertices.foreach_set("co", (rest - rest[0]).ravel())
    for frame, position in enumerate(held, start=-1):
        twin.location = position
        twin.keyframe_insert("location", frame=frame)
    rope.verlet.enabled = False
    verlet.bake()
    for frame in (1, 6, 12):
        assert shown(rope, frame)[0] == pytest.approx(held[frame + 1], abs=FLOAT32)
        assert shown(rope, frame) == pytest.approx(shown(twin, frame), abs=5e-4)
    assert np.abs(held[-1] - held[2]).max() > 0.3


def test_to_follow_the_object_alone_is_fine(bodies: tuple[Any, Any]) -> None:
    flag, rope = bodies
    rope.parent = flag
    rope.constraints.new("COPY_ROTATION").target = flag
    verlet.bake()
    assert len(rope.data.shape_keys.key_blocks) == 13


def test_ground_that_follows_a_body_is_refused(bodies: tuple[Any, Any]) -> None:
    """It would stand where the body is animated to be, and not where it is."""
    leader, _ = bodies
    blender.ops.mesh.primitive_plane_add(size=5.0)
    ground = bpy.context.object
    ground.name = "Floor"
    ground.parent, ground.parent_type, ground.parent_vertices = leader, "VERTEX", (0, 0, 0)
    bpy.context.scene.verlet.ground_object = ground
    with pytest.raises(
        RuntimeError, match=f"ground object Floor follows the mesh of {leader.name}"
    ):
        verlet.bake(frame_start=1, frame_end=3)
