"""Soft bones: what an animator selects in Pose Mode follows through, and nothing else changes."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from .rigs import LENGTH, armature, chain, fox, pose_at, poses, select, swing, tips
from .scenes import file_content, verlet
from .test_overrides import link, override, own


def soft(obj: Any, *names: str, **settings: Any) -> Any:
    """The body of these bones of an armature and of all on them, with some settings of bones."""
    select(obj, *names)
    verlet.make_soft_bones()
    body = bpy.data.objects[f"{obj.name} Bones"]
    for group in body.vertex_groups:
        for name, value in settings.items():
            setattr(obj.pose.bones[group.name], f"verlet_{name}", value)
    return body


def at_first_frame() -> Any:
    """All that the file holds, with the scene at its first frame."""
    bpy.context.scene.frame_set(0)
    bpy.context.view_layer.update()
    return file_content()


def turn(first: Any, second: Any) -> Any:
    """Angle between rotations (…, 3, 3) [rad]."""
    products = np.einsum("...ij,...ik->...jk", first, second)
    skew = [products[..., k - 1, k - 2] - products[..., k - 2, k - 1] for k in range(3)]
    return np.linalg.norm(skew, axis=0) / 2.0


def test_a_tail_swings_with_its_lengths_and_follows_its_hips() -> None:
    """Its tip leaves the keyed pose by a tenth of its length, each bone keeps its own to 1e-6."""
    obj = fox()
    swing(obj, 1.0)
    keyed = tips(obj, poses(obj))
    body = soft(obj, "tail.0")
    assert len(body.vertex_groups) == 8
    verlet.bake()
    matrices = poses(obj)
    shown = tips(obj, matrices)
    assert np.linalg.norm(shown - keyed, axis=2).max() > 0.1 * LENGTH
    np.testing.assert_array_equal(shown[:, 0], keyed[:, 0])
    heads = matrices[:, 1:, :3, 3]
    np.testing.assert_allclose(np.linalg.norm(shown[:, 1:] - heads, axis=2), LENGTH / 8, rtol=1e-6)
    np.testing.assert_allclose(heads[:, 1:], shown[:, 1:-1], atol=1e-6)


@pytest.mark.parametrize("mode", ["RELATIVE", "ABSOLUTE", "CACHE"])
def test_clear_bake_leaves_the_file_as_it_was(mode: str, tmp_path: Any) -> None:
    """Constraints, actions and poses alike, whatever the form of the bake."""
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "fox.blend"))
    obj = fox(3)
    swing(obj, 0.25)
    own = obj.pose.bones["tail.1"].constraints.new("LIMIT_ROTATION")
    soft(obj, "tail.0")
    before = at_first_frame()
    keyed = poses(obj)
    verlet.bake(mode=mode)
    assert len(obj.pose.bones["tail.1"].constraints) == 2
    assert np.abs(poses(obj) - keyed).max() > 1e-3
    verlet.clear_bake()
    assert obj.pose.bones["tail.1"].constraints.active == own
    np.testing.assert_array_equal(poses(obj), keyed)
    assert at_first_frame() == before


def test_releasing_soft_bones_leaves_the_file_as_it_was() -> None:
    """With the bake, settings and the hidden body gone."""
    obj = fox(3)
    swing(obj, 0.25)
    select(obj, "tail.0")
    before = at_first_frame()
    soft(obj, "tail.0", frequency=3.0)
    verlet.bake()
    select(obj, "tail.0")
    verlet.release_soft_bones()
    assert not obj.pose.bones["tail.1"].is_property_set("verlet_frequency")
    assert at_first_frame() == before


def test_live_shows_bones_as_a_bake_does(
    live: ModuleType, addon: Callable[[str], ModuleType]
) -> None:
    """To the bit, and the pose is back when it ends."""
    obj, scene = fox(4), bpy.context.scene
    swing(obj, 0.5)
    keyed = poses(obj)
    soft(obj, "tail.0")
    scene.frame_set(0)
    session = live.start_live(scene, bpy.context.view_layer)
    first = poses(obj)
    assert np.abs(first - keyed).max() > 1e-2
    np.testing.assert_array_equal(poses(obj), first)  # frames play again
    live.end_live(scene)
    np.testing.assert_array_equal(poses(obj), keyed)
    verlet.bake(mode="ABSOLUTE")
    np.testing.assert_allclose(poses(obj), first, atol=1e-6)
    bake, view_layer = addon("blender.bake.bake"), bpy.context.view_layer
    stage = bake.prepare_stage(scene, view_layer, session.stage.bodies)
    with stage.left_as_found(addon("blender.bake.former_bake").former_bakes_hidden):
        results = list(bake.start_anew(stage, [0, scene.frame_end]).results)
    np.testing.assert_array_equal(
        [each.positions[0] for each in session.frames], [each.positions[0] for each in results]
    )


def test_a_second_bake_is_the_first_to_the_bit() -> None:
    """Also of a turned rig: the constraints of the first do not round the poses that are read."""
    obj = fox(4)
    obj.location, obj.rotation_euler = (0.3, 0.2, 0.1), (0.3, 0.2, 0.4)
    swing(obj, 0.25)
    body = soft(obj, "tail.0")
    before = at_first_frame()
    verlet.bake()
    first = vertices(body)
    verlet.bake()
    np.testing.assert_array_equal(vertices(body), first)
    verlet.clear_bake()
    assert at_first_frame() == before


def test_branches_gaps_and_several_roots_are_one_body() -> None:
    """All bones point at their joints, and keep their roll: no turn about their own axes."""
    obj = armature(
        [
            ("hips", "", (0.0, 0.0, 1.0), (0.0, 0.0, 1.2)),
            *chain("tail", "hips", (0, 0, 1), (0, -0.2, 0), 3),
            ("left", "tail.2", (0.0, -0.2, 1.0), (0.05, -0.25, 1.0)),
            ("right", "tail.2", (0.0, -0.2, 1.0), (-0.05, -0.25, 1.0)),
            ("away", "tail.1", (0.0, -0.15, 1.05), (0.0, -0.2, 1.1)),
            *chain("ear", "hips", (0.05, 0, 1.2), (0, 0, 0.1), 2),
            *chain("free", "", (0.3, 0, 1), (0, 0, -0.1), 2),
        ]
    )
    swing(obj, 0.5)
    names = [bone.name for bone in obj.pose.bones]
    keyed = poses(obj)
    body = soft(obj, "tail.0", "ear.0", "free.0")
    assert len(body.vertex_groups) == len(names) - 1
    verlet.bake()
    matrices = poses(obj)
    joints = vertices(body)
    tails = tips(obj, matrices)
    exact = [name for name in names if name not in ("hips", "away")]
    for name in exact:
        group = body.vertex_groups[name].index
        vertex = next(
            v.index for v in body.data.vertices if v.groups and v.groups[0].group == group
        )
        np.testing.assert_allclose(tails[:, names.index(name)], joints[:, vertex], atol=2e-6)
    for name in ("tail.1", "left"):  # from one bone to the next no twist but the keyed one
        bone = obj.pose.bones[name]
        place, before = names.index(name), names.index(bone.parent.name)
        assert twists(keyed, matrices, before, place).max() < 1e-3


def twists(keyed: Any, shown: Any, before: int, place: int) -> Any:
    """(frames,) turns about a bone's own axis, relative to the bone before it [rad]."""
    turns = []
    for first, second in zip(keyed[..., :3, :3], shown[..., :3, :3], strict=True):
        carried = second[before] @ np.linalg.inv(first[before]) @ first[place]
        swung = carried[:, 1], second[place][:, 1]
        axis = np.cross(*swung)
        sine, cosine = np.linalg.norm(axis), np.dot(*swung)
        x, y, z = axis / max(sine, 1e-12)
        skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        way = np.eye(3) + sine * skew + (1 - cosine) * skew @ skew
        turns.append(turn(way @ carried, second[place]))
    return np.array(turns)


def vertices(body: Any) -> Any:
    """(frames, n, 3) world places of a body's vertices over the scene's range."""
    scene, found = bpy.context.scene, []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        evaluated = body.evaluated_get(bpy.context.evaluated_depsgraph_get())
        world = np.array(evaluated.matrix_world)
        places = np.array([v.co for v in evaluated.data.vertices])
        found.append(places @ world[:3, :3].T + world[:3, 3])
    return np.array(found)


@pytest.mark.parametrize("scale", [(1.3, 1.3, 1.3), (-1.0, 1.0, 1.0), (1.0, 1.2, 0.9)])
def test_turned_scaled_and_mirrored_rigs_point_at_their_joints(scale: Any) -> None:
    """To a thousandth of a millimetre.

    Bones of an unevenly scaled armature change their length as they turn, so the tips of the last
    example are 4 mm off.
    """
    obj = fox(4)
    obj.location, obj.rotation_euler, obj.scale = (1.0, 2.0, 3.0), (1.57, 0.2, 0.4), scale
    swing(obj, 0.5)
    body = soft(obj, "tail.0")
    verlet.bake()
    tails, joints = tips(obj, poses(obj)), vertices(body)
    error = 2e-6 if len(set(map(abs, scale))) == 1 else 5e-3
    np.testing.assert_allclose(tails[:, 1:], joints[:, 3:], atol=error)


def test_follow_pose_is_keyed() -> None:
    """At 1 the bones show their keys; let go, they swing."""
    obj = fox(4)
    swing(obj, 1.0)
    keyed = poses(obj)
    soft(obj, "tail.0")
    for bone in obj.pose.bones:
        for frame, value in ((0, 1.0), (10, 1.0), (11, 0.0)):
            bone.verlet_follow_pose = value
            bone.keyframe_insert("verlet_follow_pose", frame=frame)
    verlet.bake()
    shown = poses(obj)
    np.testing.assert_allclose(shown[:10], keyed[:10], atol=1e-6)
    assert np.abs(shown[14:] - keyed[14:]).max() > 0.01


def test_what_cannot_be_simulated_is_told() -> None:
    """In one sentence, with the remedy, and nothing changes."""
    obj = fox(2)
    select(obj)
    obj.data.bones.active = None
    with pytest.raises(RuntimeError, match="Select bones of an armature in Pose Mode"):
        verlet.make_soft_bones()
    soft(obj, "tail.0")
    obj.data.bones["tail.1"].name = "tip"
    with pytest.raises(RuntimeError, match=r"no bone tail\.1 any more; press Make Soft Bones"):
        verlet.bake()
    soft(obj, "tip")
    bpy.context.scene.frame_end = 3
    verlet.bake()
    select(obj, "hips")
    with pytest.raises(RuntimeError, match="shows a simulation; end Live and press Clear Bake"):
        verlet.make_soft_bones()
    assert pose_at(obj, 1).shape[0] == 3


def test_a_still_pose_stays_as_it_is() -> None:
    """With its weight, also of a rig whose hips are keyed aslant, to 0.01 mm."""
    obj = fox()
    obj.pose.bones["hips"].rotation_mode = "XYZ"
    obj.pose.bones["hips"].rotation_euler = 0.4, 0.2, 0.7
    keyed = poses(obj)[:1]
    body = soft(obj, "tail.0")
    bpy.context.scene.frame_end = 48
    verlet.bake()
    assert np.abs(poses(obj) - keyed).max() < 1e-5
    body.verlet.use_pose_gravity = False
    verlet.bake()
    assert np.abs(poses(obj) - keyed).max() > 0.01


def test_what_stands_on_a_bone_that_turns_over_hangs_down() -> None:
    """Gravity in the pose is that of the first frame."""
    obj = fox(4)
    hips = obj.pose.bones["hips"]
    hips.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (20, np.pi / 2)):  # the tail from level to upwards
        hips.rotation_euler = -angle, 0.0, 0.0
        hips.keyframe_insert("rotation_euler", frame=frame)
    soft(obj, "tail.0", frequency=1.0, damping_ratio=1.0)
    bpy.context.scene.frame_end = 96
    keyed = tips(obj, poses(obj))[-1, -1]
    verlet.bake()
    shown = tips(obj, poses(obj))[-1, -1]
    assert shown[2] < keyed[2] - 0.02


def test_less_inertia_is_that_of_the_bone_before() -> None:
    """Two tails on bones that turn against each other: with all of it, both show their keys."""
    obj = armature(
        [
            ("left", "", (0.3, 0.0, 1.0), (0.3, 0.0, 1.2)),
            ("right", "", (-0.3, 0.0, 1.0), (-0.3, 0.0, 1.2)),
            *chain("one", "left", (0.3, 0, 1), (0, -LENGTH, 0), 4),
            *chain("two", "right", (-0.3, 0, 1), (0, -LENGTH, 0), 4),
        ]
    )
    swing(obj, 1.0, bone="left")
    obj.pose.bones["right"].rotation_mode = "XYZ"
    for frame, angle in ((0, 0.0), (12, 1.0), (24, -1.0)):
        obj.pose.bones["right"].rotation_euler = 0.0, angle, angle
        obj.pose.bones["right"].keyframe_insert("rotation_euler", frame=frame)
    keyed = tips(obj, poses(obj))
    body = soft(obj, "one.0", "two.0")
    body.verlet.gravity = 0.0
    verlet.bake()
    assert np.abs(tips(obj, poses(obj)) - keyed).max() > 0.02
    body.verlet.inertia_share = 1.0
    verlet.bake()
    assert np.abs(tips(obj, poses(obj)) - keyed).max() < 2e-3


def test_bones_of_an_overridden_rig_are_soft_in_a_shot(tmp_path: Path) -> None:
    """With settings of their own, which are there when the shot is opened again, as is the bake."""
    obj = fox(4)
    swing(obj, 0.5)
    bpy.ops.object.mode_set(mode="OBJECT")
    fox_collection = bpy.data.collections.new("Hero")
    bpy.context.scene.collection.children.link(fox_collection)
    fox_collection.objects.link(obj)
    bpy.context.scene.collection.objects.unlink(obj)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "hero.blend"))
    hero = link(tmp_path / "hero.blend")
    override(hero)
    obj = own("Fox")
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 0, 12
    keyed = poses(obj)
    soft(obj, "tail.0", frequency=3.0)
    verlet.bake()
    shown = poses(obj)
    assert np.abs(shown - keyed).max() > 0.02
    for form in ("CONSTRAINTS", "ACTION"):
        own("Fox Bones").verlet.bones_to = form
        verlet.bake()
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
        obj = own("Fox")
        assert obj.pose.bones["tail.2"].verlet_frequency == 3.0
        assert obj.pose.bones["tail.2"].verlet_radius == pytest.approx(0.0075)
        np.testing.assert_allclose(poses(obj), shown, atol=1e-5)
    verlet.clear_bake()
    np.testing.assert_array_equal(poses(obj), keyed)


def test_bones_without_inherited_rotation_follow_through() -> None:
    """The first bone keeps its direction in the world, and swings about it."""
    obj = fox(4)
    swing(obj, 0.5)
    for name in ("tail.0", "tail.2"):
        obj.data.bones[name].use_inherit_rotation = False
    keyed = tips(obj, poses(obj))
    body = soft(obj, "tail.0")
    verlet.bake()
    shown = tips(obj, poses(obj))
    np.testing.assert_allclose(shown[:, 1:], vertices(body)[:, 3:], atol=2e-6)
    away = np.linalg.norm(shown - keyed, axis=2)
    assert away[0].max() < 1e-6
    assert 0.01 < away.max() < LENGTH
    body.verlet.bones_to = "ACTION"
    verlet.bake()
    np.testing.assert_allclose(tips(obj, poses(obj)), shown, atol=1e-5)


@pytest.mark.parametrize("fps", [24, 60])
def test_a_tail_moves_alike_at_every_frame_rate(fps: int) -> None:
    """Hips at 1.5 Hz, default settings: within 1 % of its length, 0.5 % rms, of 240 fps."""
    tracks = []
    for rate in (fps, 240):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        bpy.context.scene.render.fps = rate
        obj = fox()
        swing(obj, 1.0)
        body = soft(obj, "tail.0")
        verlet.bake(mode="ABSOLUTE")
        tracks.append(vertices(body)[:: rate // fps])
    away = np.linalg.norm(tracks[0] - tracks[1], axis=2) / LENGTH
    assert away.max() < 0.01
    assert np.sqrt((away**2).mean()) < 0.005


def test_a_tail_stays_outside_of_a_collider() -> None:
    """All of it but its root, which hips push into the ball: by its radius, less 1 mm."""
    obj = fox()
    swing(obj, 1.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.1, location=(0.16, -0.25, 1.0))
    ball, centre = bpy.context.object, np.array([0.16, -0.25, 1.0])
    verlet.make_collider()
    keyed = np.linalg.norm(tips(obj, poses(obj))[:, 1:] - centre, axis=2).min()
    body = soft(obj, "tail.0", radius=0.02)
    verlet.bake()
    places = vertices(body)[:, 3:]
    nearest = np.linalg.norm(places - centre, axis=2).min()
    assert ball.collision.use
    assert keyed < 0.11
    assert nearest > 0.1 + 0.02 - 1e-3


def test_undo_takes_soft_bones_back() -> None:
    """And redo makes them again, with their body."""
    obj = fox(3)
    bpy.ops.ed.undo_push(message="Rig")
    soft(obj, "tail.0")
    bpy.ops.ed.undo_push(message="Make Soft Bones")
    bpy.ops.ed.undo()
    assert "Fox Bones" not in bpy.data.objects
    bpy.ops.ed.redo()
    body = bpy.data.objects["Fox Bones"]
    settings: Any = body
    assert settings.verlet.armature == bpy.data.objects["Fox"]
    bpy.context.scene.frame_end = 5
    verlet.bake()
    assert bpy.data.objects["Fox"].pose.bones["tail.1"].constraints[0].target == body


def test_several_armatures_are_made_soft_and_baked_at_once() -> None:
    """In the Pose Mode of both; Bake Selected takes that of the armature that is selected."""
    rigs = []
    for number in (0, 1):
        if number:
            bpy.ops.object.mode_set(mode="OBJECT")
        rig = fox(3)
        rig.location.x = number
        swing(rig, 0.25)
        rigs.append(rig)
    bpy.ops.object.mode_set(mode="OBJECT")
    for rig in rigs:
        rig.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="DESELECT")
    for rig in rigs:
        bone = rig.pose.bones["tail.0"]
        (bone if hasattr(bone, "select") else bone.bone).select = True
    verlet.make_soft_bones()
    bodies = [bpy.data.objects[f"{rig.name} Bones"] for rig in rigs]
    assert [len(body.vertex_groups) for body in bodies] == [3, 3]
    rigs[1].select_set(False)
    verlet.bake(selected=True)
    assert [len(rig.pose.bones["tail.2"].constraints) for rig in rigs] == [1, 0]
    verlet.bake()
    assert [len(rig.pose.bones["tail.2"].constraints) for rig in rigs] == [1, 1]
    verlet.clear_bake(selected=True)
    assert [len(rig.pose.bones["tail.2"].constraints) for rig in rigs] == [0, 1]


def test_it_is_told_that_an_armature_is_gone() -> None:
    """Its body stays behind when an artist deletes it."""
    obj = fox(2)
    soft(obj, "tail.0")
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.scene.collection.objects.unlink(obj)
    with pytest.raises(RuntimeError, match="Fox, whose bones Fox Bones moves, is not in the view"):
        verlet.bake()


def test_a_copy_of_a_baked_rig_is_made_soft_by_itself() -> None:
    """Its bones had pointed at the joints of the other; then they do at their own."""
    obj = fox(3)
    swing(obj, 0.25)
    soft(obj, "tail.0")
    verlet.bake()
    bpy.ops.object.mode_set(mode="OBJECT")
    obj.select_set(True)
    bpy.ops.object.duplicate()
    copy = bpy.context.object
    copy.location.x = 2.0
    body = soft(copy, "tail.0")
    assert not copy.pose.bones["tail.1"].constraints
    assert len(obj.pose.bones["tail.1"].constraints) == 1
    verlet.bake()
    np.testing.assert_allclose(tips(copy, poses(copy))[:, 1:], vertices(body)[:, 3:], atol=2e-6)


def test_materials_are_those_that_the_page_lists(addon: Callable[[str], ModuleType]) -> None:
    """With their frequency, damping and angle limit."""
    page = (Path(__file__).parents[2] / "docs" / "how_to" / "bones.md").read_text(encoding="utf-8")
    for material in addon("blender.settings.bone_materials").BONE_MATERIALS.values():
        limit = round(np.degrees(material.angle_limit))
        values = f"{material.frequency:g} Hz | {material.damping_ratio:g}"
        row = f"| {material.label} | {values} | {'none' if limit == 180 else f'{limit}°'} |"
        assert row in page
