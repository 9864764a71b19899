"""A vertex group that is held to another object goes where that goes."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Euler

from tests.blender.scenes import body, line, mesh_object, pin, select, sheet, shown, verlet

Addon = Callable[[str], ModuleType]

LAST = 12
# A shape key's float32 at coordinates of some metres.
FLOAT32 = 2e-6


@pytest.fixture(autouse=True)
def _short_scene() -> None:
    """Some frames, and no ground in the way."""
    scene: Any = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, LAST
    scene.verlet.use_ground = False


def attach(obj: Any, target: Any, vertices: Any, *, weight: float = 1.0, name: str = "Held") -> Any:
    """An attachment of some vertices of a body."""
    obj.vertex_groups.new(name=name).add(list(vertices), weight, "REPLACE")
    item = obj.verlet.attachments.add()
    item.target, item.vertex_group = target, name
    return item


def add(name: str, data: Any = None) -> Any:
    """An object of the scene; an empty if it is given no data."""
    obj = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def swing(obj: Any) -> None:
    """Turns, shifts and grows an object."""
    for frame, turn, place, size in ((1, 0.0, 0.0, 1.0), (LAST, 1.2, 0.7, 1.5)):
        obj.rotation_euler, obj.location.x, obj.scale = (0.3, turn, 0.2), place, [size] * 3
        for path in ("rotation_euler", "location", "scale"):
            obj.keyframe_insert(path, frame=frame)


def places(obj: Any, vertices: Any) -> Any:
    """(frames, k, 3) of some vertices."""
    return np.array([shown(obj, frame)[list(vertices)] for frame in range(1, LAST + 1)])


def matrices(obj: Any) -> Any:
    """(frames, 4, 4) where an object stands."""
    found = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        found.append(np.array(obj.matrix_world))
    return np.array(found)


def carried(track: Any, start: Any) -> Any:
    """(frames, k, 3) of what stands at `start` in the first of some matrices and goes with them."""
    own = np.linalg.inv(track[0]) @ np.append(start, np.ones((len(start), 1)), axis=1).T
    return np.swapaxes(track @ own, 1, 2)[..., :3]


def hook() -> Any:
    return add("Hook")


def curve() -> Any:
    data: Any = bpy.data.curves.new("Hook", "CURVE")
    data.splines.new("POLY").points.add(3)
    return add("Hook", data)


def vertices_alone() -> Any:
    return mesh_object("Hook", [(0, 0, 0), (1, 0, 0)], [(0, 1)], [])


def faces() -> Any:
    return sheet("Hook")


def mirrored_faces() -> Any:
    obj = sheet("Hook")
    obj.delta_scale = (-1, 1, 1)
    return obj


TARGETS = [hook, curve, vertices_alone, faces, mirrored_faces]


@pytest.mark.parametrize("make", TARGETS, ids=lambda f: f.__name__)
def test_it_goes_where_the_object_goes(make: Callable[[], Any]) -> None:
    """From where it stands at the first frame, turned and grown with the object."""
    target = make()
    swing(target)
    rope = body(line(height=0.4))
    attach(rope, target, [0, 1])
    start = places(rope, [0, 1])[0]
    verlet.bake()
    assert places(rope, [0, 1]) == pytest.approx(carried(matrices(target), start), abs=FLOAT32)
    assert np.ptp(places(rope, [4]), axis=0).max() > 0.5


def turning_hand() -> Any:
    """An armature that stands still, whose bone Hand turns."""
    rig = add("Rig", bpy.data.armatures.new("Rig"))
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    for name, head in (("Still", (0, 0, 0)), ("Hand", (0, 0, 1))):
        bone = rig.data.edit_bones.new(name)
        bone.head, bone.tail = head, (head[0], head[1], head[2] + 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    hand = rig.pose.bones["Hand"]
    hand.rotation_mode = "XYZ"
    for frame, turn in ((1, 0.2), (LAST, 1.3)):
        hand.rotation_euler.x = turn
        hand.keyframe_insert("rotation_euler", frame=frame)
    return rig


def test_it_goes_where_a_bone_goes() -> None:
    rig, rope = turning_hand(), body(line(height=2.0))
    hand = rig.pose.bones["Hand"]
    attach(rope, rig, [0]).bone = "Hand"
    start = places(rope, [0])[0]
    bones = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        bones.append(np.array(rig.matrix_world @ hand.matrix))
    verlet.bake()
    assert places(rope, [0]) == pytest.approx(carried(np.array(bones), start), abs=FLOAT32)


def test_it_stays_on_skin_that_deforms() -> None:
    """A sheet that a key folds: what stands above one of its halves turns with that half alone."""
    skin = sheet("Skin", resolution=2)
    skin.shape_key_add(name="Basis")
    key = skin.shape_key_add(name="Folded")
    for vertex in (2, 5, 8):
        key.data[vertex].co = (0.5, key.data[vertex].co.y, 0.5)
    for frame, value in ((1, 0.0), (LAST, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    cape = body(sheet("Cape", height=0.1))
    attach(cape, skin, [1, 3, 8])
    verlet.bake()
    left, right, edge = places(cape, [1, 3, 8])[-1]
    assert left == pytest.approx((0.25, 0.0, 0.1), abs=1e-6)
    # A quarter of a metre along the half that stands upright, and a tenth off its face.
    assert right == pytest.approx((0.4, 0.0, 0.25), abs=1e-6)
    assert edge == pytest.approx((0.4, 0.25, 0.25), abs=1.0)


def test_it_is_let_go_where_its_weight_ends() -> None:
    """Free fall from the frame on at which the weight is 0; only float32 is in the way."""
    crate = body(sheet(height=5.0), damping=0.0)
    item = attach(crate, hook(), range(25))
    path = "verlet.attachments[0].weight"
    for frame, weight in ((5, 1.0), (6, 0.0)):
        item.weight = weight
        crate.keyframe_insert(path, frame=frame)
    verlet.bake()
    heights = places(crate, range(25))[..., 2]
    assert heights[:6] == pytest.approx(5.0, abs=1e-6)
    assert heights[-1] == pytest.approx(5.0 - 9.81 / 2 * (6 / 24) ** 2, abs=1e-5)


def test_a_group_draws_as_its_weight_says() -> None:
    """Half of the weight twice is a quarter: it sags by g (1 − ¼)/¼ / (20/s)²."""
    crate = body(sheet(), damping=20.0)
    attach(crate, hook(), range(25), weight=0.5).weight = 0.5
    bpy.context.scene.frame_end = 60
    verlet.bake()
    assert shown(crate, 60)[:, 2] == pytest.approx(-3 * 9.81 / 400, rel=1e-3)


def test_two_that_hold_the_same_hold_it_between_them() -> None:
    """A vertex of the pin group is held to a hook as well, which rises by a metre."""
    rope = body(line())
    pin(rope, [0])
    target = hook()
    attach(rope, target, [0])
    for frame, height in ((1, 0.0), (LAST, 1.0)):
        target.location.z = height
        target.keyframe_insert("location", frame=frame)
    verlet.bake()
    assert shown(rope, LAST)[0, 2] == pytest.approx(0.5, abs=FLOAT32)


def test_it_follows_a_body_that_is_baked_already() -> None:
    banner, mast = body(line("Banner", height=1.0)), body(sheet("Mast", height=1.0))
    pin(mast, [0, 4])
    attach(banner, mast, [0])
    banner.verlet.enabled = False
    verlet.bake()
    corner = places(mast, [0])
    banner.verlet.enabled, mast.verlet.enabled = True, False
    verlet.bake()
    assert places(banner, [0]) == pytest.approx(corner, abs=FLOAT32)


def test_it_needs_the_bake_of_a_body_that_it_follows() -> None:
    banner, mast = body(line("Banner")), body(sheet("Mast"))
    attach(banner, mast, [0])
    with pytest.raises(RuntimeError, match=r"Banner follows the mesh of Mast, .*; bake Mast first"):
        verlet.bake()


def no_such_group(rope: Any, _item: Any) -> str:
    rope.vertex_groups.remove(rope.vertex_groups["Held"])
    return "Line has no vertex group Held to attach to Hook; choose another group"


def disabled(_rope: Any, item: Any) -> str:
    item.target.hide_viewport = True
    return "attached to Hook, which does not move, since it is disabled in viewports .*; enable it"


def of_no_scene(_rope: Any, item: Any) -> str:
    bpy.context.scene.collection.objects.unlink(item.target)
    return (
        "attached to Hook, which does not move, since it is .* left out of the view layer .*; ena"
    )


def without_size(_rope: Any, item: Any) -> str:
    item.target.scale = (1, 1, 0)
    return "Hook has a scale of zero where Line is attached to it, at frame 1; give it another"


def no_such_bone(_rope: Any, item: Any) -> str:
    item.target = add("Rig", bpy.data.armatures.new("Rig"))
    item.bone = "Hand"
    return "Line is attached to the bone Hand, which Rig does not have; choose another bone or none"


def with_other_faces(_rope: Any, item: Any) -> str:
    item.target = sheet("Wall")
    build: Any = item.target.modifiers.new("Build", "BUILD")
    build.frame_start, build.frame_duration = -5, 12
    return "The mesh of Wall, to which Line is attached, has other vertices or faces at frame 2"


WRONG = [no_such_group, disabled, of_no_scene, without_size, no_such_bone, with_other_faces]


@pytest.mark.parametrize("spoil", WRONG, ids=lambda f: f.__name__)
def test_what_cannot_be_followed_is_named(spoil: Callable[[Any, Any], str]) -> None:
    rope = body(line())
    told = spoil(rope, attach(rope, hook(), [0]))
    with pytest.raises(RuntimeError, match=told):
        verlet.bake()
    assert rope.data.shape_keys is None


def test_a_shut_eye_does_not_hold_it_still() -> None:
    target = hook()
    swing(target)
    target.hide_set(True)
    rope = body(line())
    attach(rope, target, [4])
    start = places(rope, [4])[0]
    verlet.bake()
    assert places(rope, [4]) == pytest.approx(carried(matrices(target), start), abs=FLOAT32)


def test_what_holds_nothing_is_said(addon: Addon) -> None:
    rope = body(line())
    attach(rope, hook(), [0]).vertex_group = ""
    rope.verlet.attachments.add()
    scene, view_layer = bpy.context.scene, bpy.context.view_layer
    assert addon("blender.bake.cautions").cautions(scene, view_layer, [rope]) == [
        "Attachment 1 of Line has no vertex group, so it has no effect; choose one, or remove the "
        "attachment",
        "Attachment 2 of Line has no object to follow, so it has no effect; choose one, or remove "
        "the attachment",
    ]


def stretched(addon: Addon) -> list[Any]:
    """What the last bake says of bodies that are drawn out."""
    remarks = addon("blender.bake.record").baked_remarks(bpy.context.scene)
    return [each for each in remarks if " is stretched by " in each]


def test_an_armature_that_holds_by_no_bone_is_told(addon: Addon) -> None:
    """Before the bake, and after it, where the body is drawn out between pose and armature."""
    rig, rope = turning_hand(), body(line(height=2.0))
    attach(rope, rig, [0]).bone = "Hand"
    held = attach(rope, rig, [4], name="End")
    scene, view_layer = bpy.context.scene, bpy.context.view_layer
    cautions = addon("blender.bake.cautions").cautions
    assert cautions(scene, view_layer, [rope]) == [
        "Attachment 2 of Line names no bone of Rig, so it follows that object and not its pose; "
        "choose a bone, or attach it to an empty that moves with the object"
    ]
    verlet.bake()
    (told,) = stretched(addon)
    assert told.endswith(", and follows no bone of Rig; choose a bone for that attachment")
    assert told.grade == "SERIOUS"
    held.bone = "Still"
    assert cautions(scene, view_layer, [rope]) == []
    verlet.bake()
    (told,) = stretched(addon)
    assert "; raise Substeps or Iterations" in told


def test_the_list_is_filled_and_emptied_by_its_buttons() -> None:
    """What is selected beside the body is what it is attached to, by its active group."""
    target, rope = hook(), body(line())
    rope.vertex_groups.new(name="End").add([4], 1.0, "REPLACE")
    select(target, rope)
    verlet.attachment_add()
    assert rope.verlet.attachments[0].target == target
    assert rope.verlet.attachments[0].vertex_group == "End"
    select(rope)
    verlet.attachment_add()
    assert rope.verlet.attachments[1].target is None
    verlet.attachment_remove()
    verlet.attachment_remove()
    assert not len(rope.verlet.attachments)
    assert not verlet.attachment_remove.poll()
    attach(rope, target, [0])
    verlet.release()
    assert not len(rope.verlet.attachments)


def test_other_attachments_change_the_settings_of_a_bake(addon: Addon) -> None:
    rope = body(line())
    item = attach(rope, hook(), [0])
    verlet.bake()
    changed = addon("blender.bake.record").changed_since_bake
    assert changed(bpy.context.scene, bpy.context.view_layer) == []
    item.weight = 0.5
    assert changed(bpy.context.scene, bpy.context.view_layer) == ["Line"]


def test_turning_by_more_than_a_half_turn_keeps_its_place() -> None:
    """A vertex far off the axis goes round with the object, frame by frame."""
    target, rope = hook(), body(line())
    attach(rope, target, [3, 4])
    for frame in range(1, LAST + 1):
        target.rotation_euler = Euler((0, 0, 0.5 * (frame - 1)))
        target.keyframe_insert("rotation_euler", frame=frame)
    verlet.bake()
    track = places(rope, [3])[:, 0]
    assert np.linalg.norm(track, axis=1) == pytest.approx(0.75, abs=FLOAT32)
