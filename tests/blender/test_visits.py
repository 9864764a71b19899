"""A bake visits the frames where time changes what it reads, and spares everyone that elsewhere."""

from collections.abc import Callable, Iterator
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.scenes import baked, blender, body, pin, sheet, shown, verlet

FRAMES = {"frame_start": 1, "frame_end": 4}


@pytest.fixture
def curtain() -> Any:
    """A sheet that hangs by one side, over a table, in a wind, mirrored at an empty, on a hook."""
    cloth = body(sheet("Curtain", resolution=3, height=0.5), thickness=0.01)
    pin(cloth, [0, 1, 2, 3])
    cloth.vertex_groups.new(name="Corner").add([12], 1.0, "REPLACE")
    held = cloth.verlet.attachments.add()
    held.target, held.vertex_group = empty("Hook"), "Corner"
    cloth.parent = empty("Rail")
    cloth.parent.parent = empty("House")
    table = sheet("Table", resolution=1, size=4.0, height=0.45)
    table.modifiers.new("Collision", "COLLISION")
    wind = empty("Wind")
    bpy.context.view_layer.objects.active = wind
    bpy.ops.object.forcefield_toggle()
    wind.field.type, wind.field.strength = "WIND", 1.0
    scene: Any = bpy.context.scene
    scene.verlet.use_ground, scene.verlet.ground_object = True, empty("Floor")
    scene.verlet.ground_height = 0.4
    return cloth


FIRST: list[Any] = []
"""The curtain's bake as it is without any change, once it is known."""


@pytest.fixture
def unchanged(curtain: Any) -> Any:
    """The coordinates of all keys of that bake, which is the same for every test."""
    if not FIRST:
        FIRST.append(bake(curtain))
    return FIRST[0]


@pytest.fixture
def seen() -> Iterator[list[int]]:
    """The frames at which a figure was posed that has nothing to do with any body."""
    frames: list[int] = []

    def pose(frame: int) -> float:
        frames.append(frame)
        return 0.0

    bpy.app.driver_namespace["pose"] = pose
    _drive(empty("Figure"), "location", 0, "pose(frame)")
    yield frames
    del bpy.app.driver_namespace["pose"]


def empty(name: str) -> Any:
    """An empty at the origin."""
    obj = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def found(name: str) -> Any:
    """An object of the scene."""
    return blender.data.objects[name]


def bake(obj: Any) -> Any:
    """The coordinates of all baked keys of a body."""
    verlet.bake(**FRAMES)
    return np.stack(list(baked(obj).values()))


def bake_visiting(obj: Any) -> Any:
    """The same with every frame visited, which a script that acts on frames calls for."""
    handlers: Any = bpy.app.handlers.frame_change_post
    handlers.append(_nothing)
    try:
        return bake(obj)
    finally:
        handlers.remove(_nothing)


def _nothing(*_given: Any) -> None:
    """What a script does that only looks on."""


def _keyed(owner: Any, path: str, *values: Any) -> None:
    """Animates a property from the second frame to the fourth."""
    for frame, value in zip((2, 4), values, strict=True):
        setattr(owner, path, value)
        owner.keyframe_insert(path, frame=frame)


def _drive(owner: Any, path: str, index: int, expression: str) -> None:
    """Drives one component of a property by an expression."""
    owner.driver_add(path, index).driver.expression = expression


def _shape_key(name: str) -> None:
    """An animated shape key lifts an object."""
    found(name).shape_key_add(name="Basis")
    key = found(name).shape_key_add(name="Lifted")
    for point in key.points:
        point.co.z += 0.03
    _keyed(key, "value", 0.0, 1.0)


def _constrained(name: str) -> None:
    """A constraint lets an object follow one that a constraint lets follow a third."""
    for follower, leader in ((name, "Middle"), ("Middle", "Leader")):
        target = bpy.data.objects.get(leader) or empty(leader)
        found(follower).constraints.new("COPY_LOCATION").target = target
    _keyed(found("Leader"), "location", (0, 0, 0), (0.03, 0, 0))


def _nla() -> None:
    """The NLA moves the rail."""
    _keyed(found("Rail"), "location", (0, 0, 0), (0.03, 0, 0))
    animation = found("Rail").animation_data
    action, animation.action = animation.action, None
    animation.nla_tracks.new().strips.new("Moves", 1, action)


def _rig() -> None:
    """A bone carries the curtain's vertices."""
    armature = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    blender.data.armatures["Rig"].edit_bones.new("Pin").tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    found("Curtain").modifiers.new("Armature", "ARMATURE").object = armature
    _keyed(armature.pose.bones["Pin"], "location", (0, 0, 0), (0.03, 0, 0))


def _waves(name: str) -> None:
    """A modifier moves vertices by the time alone."""
    wave = found(name).modifiers.new("Wave", "WAVE")
    wave.height, wave.width, wave.time_offset = 0.05, 2.0, -20.0


def _nodes() -> None:
    """Geometry nodes lift the table as time goes on."""
    tree: Any = bpy.data.node_groups.new("Lift", "GeometryNodeTree")
    for direction in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
    names = ("NodeGroupInput", "GeometryNodeInputSceneTime", "GeometryNodeSetPosition")
    start, time, place = map(tree.nodes.new, names)
    scale = tree.nodes.new("ShaderNodeVectorMath")
    scale.operation, scale.inputs[1].default_value = "MULTIPLY", (0.0, 0.0, 0.3)
    tree.links.new(start.outputs[0], place.inputs["Geometry"])
    tree.links.new(time.outputs["Seconds"], scale.inputs[0])
    tree.links.new(scale.outputs[0], place.inputs["Offset"])
    tree.links.new(place.outputs[0], tree.nodes.new("NodeGroupOutput").inputs[0])
    found("Table").modifiers.new("Lift", "NODES").node_group = tree


def _scene() -> Any:
    """The scene."""
    return bpy.context.scene


REASONS: dict[str, Callable[[], None]] = {
    "what the rail hangs on is keyed": lambda: _keyed(
        found("House"), "location", (0, 0, 0), (0.03, 0, 0)
    ),
    "a constraint moves it": lambda: _constrained("Rail"),
    "the NLA moves it": _nla,
    "a driver moves it": lambda: _drive(found("Rail"), "location", 0, "frame / 100"),
    "a shape key of its own": lambda: _shape_key("Curtain"),
    "a rig": _rig,
    "a modifier that follows time": lambda: _waves("Curtain"),
    "a keyed setting": lambda: _keyed(found("Curtain").verlet, "gravity", 1.0, 0.0),
    "a driven setting": lambda: (
        found("Curtain")
        .driver_add("verlet.gravity")
        .driver.__setattr__("expression", "1 - frame / 5")
    ),
    "gravity is keyed": lambda: _keyed(_scene(), "gravity", (0, 0, -9), (0, 0, 9)),
    "a driver sets gravity": lambda: _drive(_scene(), "gravity", 2, "frame"),
    "time runs slower": lambda: _keyed(_scene().verlet, "time_scale", 1.0, 0.5),
    "the ground rises": lambda: _keyed(_scene().verlet, "ground_height", 0.4, 0.55),
    "the ground object rises": lambda: _keyed(found("Floor"), "location", (0, 0, 0), (0, 0, 0.15)),
    "the table moves": lambda: _keyed(found("Table"), "location", (0, 0, 0.45), (0, 0, 0.55)),
    "a shape key of the table": lambda: _shape_key("Table"),
    "the table waves": lambda: _waves("Table"),
    "nodes lift the table": _nodes,
    "the wind grows": lambda: _keyed(found("Wind").field, "strength", 1.0, 90.0),
    "the wind turns": lambda: _keyed(found("Wind"), "rotation_euler", (0, 0, 0), (1, 0, 0)),
    "the wind is noisy": lambda: setattr(found("Wind").field, "noise", 5.0),
    "the hook moves": lambda: _keyed(found("Hook"), "location", (0, 0, 0), (0, 0, 0.1)),
    "the hook lets go": lambda: _keyed(found("Curtain").verlet.attachments[0], "weight", 1.0, 0.0),
}


@pytest.mark.parametrize("reason", REASONS)
def test_frames_are_visited_where(curtain: Any, unchanged: Any, reason: str) -> None:
    """Whatever time changes of what a bake reads, a bake follows it as if it visited all frames."""
    REASONS[reason]()
    after = bake(curtain)
    assert not np.array_equal(after, unchanged)
    np.testing.assert_array_equal(after, bake_visiting(curtain))


def test_a_mirror_object_that_moves_is_followed(curtain: Any) -> None:
    """The plane of a mirror is read from another object, which nothing else has to do with."""
    mirror = curtain.modifiers.new("Mirror", "MIRROR")
    mirror.mirror_object = empty("Plane")
    mirror.show_render = False
    before = bake(curtain)
    _keyed(found("Plane"), "location", (0, 0, 0), (-0.05, 0, 0))
    after = bake(curtain)
    assert not np.array_equal(after, before)
    np.testing.assert_array_equal(after, bake_visiting(curtain))


def test_a_script_that_acts_on_frames_is_heard(curtain: Any) -> None:
    """Scripts of other add-ons may move anything at each frame, which no graph knows of."""
    before = bake(curtain)

    def move(scene: Any, *_given: Any) -> None:
        found("House").location.x = scene.frame_current / 100

    for handlers in (bpy.app.handlers.frame_change_pre, bpy.app.handlers.frame_change_post):
        handlers.append(move)
        try:
            assert not np.array_equal(bake(curtain), before)
        finally:
            handlers.remove(move)


@pytest.mark.parametrize("name", ["Curtain", "Table"])
def test_what_a_script_removes_on_the_way_is_named(curtain: Any, name: str) -> None:
    """A body or a collider; without a collider the former bake and all else stay as they were."""
    verlet.bake(**FRAMES)
    before, frame = baked(curtain), bpy.context.scene.frame_current

    def remove(scene: Any, *_given: Any) -> None:
        if scene.frame_current == 3 and name in blender.data.objects:
            blender.data.objects.remove(found(name))

    handlers: Any = bpy.app.handlers.frame_change_post
    handlers.append(remove)
    try:
        with pytest.raises(RuntimeError, match=f"{name} was removed or renamed during the bake"):
            verlet.bake(**FRAMES)
    finally:
        handlers.remove(remove)
    assert bpy.context.scene.frame_current == frame
    if name == "Table":
        assert all(np.array_equal(points, before[key]) for key, points in baked(curtain).items())
        assert not any(block.mute for block in curtain.data.shape_keys.key_blocks)


def test_a_body_that_a_script_renames_on_the_way_is_left_as_it_was(curtain: Any) -> None:
    """Its former bake plays on, and what finishes its mesh shows again."""
    curtain.modifiers.new("Subdivision", "SUBSURF")
    verlet.bake(**FRAMES)
    before = shown(curtain, 4)

    def rename(_scene: Any, *_given: Any) -> None:
        curtain.name = "Drape"

    handlers: Any = bpy.app.handlers.frame_change_post
    handlers.append(rename)
    try:
        with pytest.raises(RuntimeError, match="Curtain was removed or renamed during the bake"):
            verlet.bake(**FRAMES)
    finally:
        handlers.remove(rename)
    np.testing.assert_array_equal(shown(found("Drape"), 4), before)


def test_a_figure_that_has_nothing_to_do_with_bodies_is_not_posed(
    curtain: Any, seen: list[int]
) -> None:
    """Of a scene that is heavy to evaluate, a bake evaluates the start, and no other frame."""
    first = bake(curtain)
    assert max(seen) <= 1
    seen.clear()
    # A former bake plays, and is muted; what collides with others is told to follow time.
    curtain.modifiers.new("Collision", "COLLISION")
    again = bake(curtain)
    assert max(seen) <= 1
    np.testing.assert_array_equal(again, first)
    np.testing.assert_array_equal(bake_visiting(curtain), first)
    assert set(seen) == {-1, 0, 1, 2, 3, 4}


def test_settling_bodies_need_no_visits(curtain: Any) -> None:
    """Frames before the first are alike too."""
    _scene().verlet.settle_frames = 3
    first = bake(curtain)
    np.testing.assert_array_equal(first, bake_visiting(curtain))
