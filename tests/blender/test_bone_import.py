"""Soft bones from other add-ons and files: what these store becomes our settings and colliders.

The names and values are those of the formats' public sources: VRMC_springBone-1.0 and the schema of
`secondaryAnimation` of VRM 0.x in github.com/vrm-c/vrm-specification, the property groups of
github.com/saturday06/VRM-Addon-for-Blender, properties/rigid_body.py of
github.com/MMD-Blender/blender_mmd_tools, wiggle_2.py of github.com/shteeve3d/blender-wiggle-2, the
add-on Wiggle Bone 1.5, and github.com/naelstrof/blender-jiggle-physics.
"""

import json
import struct
from collections.abc import Callable
from math import cos, exp, log, pi, radians, sqrt
from pathlib import Path
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from .rigs import LENGTH, armature, chain, fox, poses, select, tips
from .scenes import blender, file_content, mesh_object, store, verlet

FPS = 60


def empty(name: str, parent: Any, place: tuple[float, float, float], size: float) -> Any:
    """An empty at a place in the world, child of another object."""
    obj = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(obj)
    obj.parent, obj.empty_display_size = parent, size
    obj.matrix_parent_inverse = parent.matrix_world.inverted()
    obj.location = place
    bpy.context.view_layer.update()
    return obj


def vrm_1(obj: Any, **collider: Any) -> None:
    """A fox's tail as a spring of VRM 1.0, which refers to its bones by UUID."""
    for bone in obj.data.bones:
        store(bone, "vrm_addon_extension", {"uuid": f"uuid of {bone.name}"})
    joints: list[dict[str, Any]] = [
        {"node": {"bone_uuid": f"uuid of tail.{number}"}, "stiffness": 0.8, "drag_force": 0.3}
        for number in range(4)
    ]
    joints[1].update(hit_radius=0.02, gravity_power=0.5, gravity_dir=[0.0, 0.0, -1.0])
    springs = [{"vrm_name": "Tail", "joints": joints, "center": {"bone_uuid": ""}}]
    own: dict[str, Any] = {"springs": springs}
    if collider:
        own["colliders"] = [{"node": {"bone_uuid": "uuid of hips"}, **collider}]
    store(obj.data, "vrm_addon_extension", {"spec_version": 1, "spring_bone1": own})


def vrm_step(angle: float, before: float, pull: float, drag: float, length: float) -> float:
    """The next angle of a joint by the algorithm of VRMC_springBone-1.0, without gravity."""
    tail, former = (length * np.array([np.sin(a), np.cos(a)]) for a in (angle, before))
    tail = tail + (tail - former) * (1.0 - drag) + pull * np.array([0.0, 1.0]) / FPS
    return float(np.arctan2(tail[0], tail[1]))


def wiggle_2_step(angle: float, before: float, pull: float, drag: float, _length: float) -> float:
    """The next angle of a bone by `move` and `constrain` of wiggle_2.py, without gravity."""
    moved = angle + (angle - before) * max(min(1.0 - drag / FPS, 1.0), 0.0)
    return moved - moved * min(pull / FPS**2, 1.0)


def jiggle_step(angle: float, before: float, pull: float, drag: float, _length: float) -> float:
    """The next angle of a bone by `verlet_integrate` and `constrain` of Jiggle Physics."""
    moved = angle + (angle - before) * (1.0 - drag)
    return moved + (0.0 - moved) * pull * pull


def wiggle_bone_step(angle: float, before: float, pull: float, drag: float, _len: float) -> float:
    """The next angle of a bone by Wiggle Bone 1.5, whose velocity is the last difference."""
    return angle + ((angle - before) - angle * pull) * (1.0 - drag)


def as_vrm(obj: Any, pull: float, drag: float) -> None:
    """Stores a bone as a spring of VRM 1.0 with two joints."""
    joint = {"node": {"bone_name": "tail.0"}, "stiffness": pull, "drag_force": drag}
    springs = [{"joints": [joint, {"node": {"bone_name": ""}}]}]
    store(
        obj.data, "vrm_addon_extension", {"spec_version": 1, "spring_bone1": {"springs": springs}}
    )


def as_wiggle_2(obj: Any, pull: float, drag: float) -> None:
    """Stores a bone as Wiggle 2 does."""
    stored = {"wiggle_tail": True, "wiggle_stiff": pull, "wiggle_damp": drag}
    for name, value in stored.items():
        store(obj.pose.bones["tail.0"], name, value)


def as_jiggle(obj: Any, pull: float, drag: float) -> None:
    """Stores a bone as Jiggle Physics does."""
    bone = obj.pose.bones["tail.0"]
    store(bone, "jiggle", {"enable": True})
    store(bone, "jiggle_angle_elasticity", pull)
    store(bone, "jiggle_friction", drag)


def as_wiggle_bone(obj: Any, pull: float, drag: float) -> None:
    """Stores a bone as Wiggle Bone does."""
    stored = {"jiggle_enable": True, "jiggle_stiffness": pull, "jiggle_dampen": drag}
    for name, value in stored.items():
        store(obj.pose.bones["tail.0"], name, value)


@pytest.mark.parametrize(
    ("write", "step", "pull", "drag"),
    [
        (as_vrm, vrm_step, 1.0, 0.1),
        (as_vrm, vrm_step, 3.0, 0.02),
        (as_wiggle_2, wiggle_2_step, 400.0, 1.0),
        (as_wiggle_2, wiggle_2_step, 100.0, 5.0),
        (as_jiggle, jiggle_step, 0.4, 0.1),
        (as_jiggle, jiggle_step, 0.2, 0.02),
        (as_wiggle_bone, wiggle_bone_step, 0.2, 0.2),
        (as_wiggle_bone, wiggle_bone_step, 0.05, 0.1),
    ],
)
def test_frequency_and_damping_are_those_of_the_other_formula(
    write: Callable[..., None], step: Callable[..., float], pull: float, drag: float
) -> None:
    """A decaying swing with them obeys the step that the other add-on takes at each frame."""
    bpy.context.scene.render.fps = FPS
    obj = fox(1)
    write(obj, pull, drag)
    verlet.soft_bones_from_addons()
    bone = obj.pose.bones["tail.0"]
    angular, ratio = 2.0 * pi * bone.verlet_frequency, bone.verlet_damping_ratio
    if write in (as_vrm, as_wiggle_2):  # whose drag is that of air
        ratio += blender.data.objects["Fox Bones"].verlet.damping / (2.0 * angular)
    assert 0.0 < ratio < 1.0
    small = 1e-3  # small enough that angles are as their sines, to 1e-6 of them
    expected = [
        small * exp(-ratio * angular * t) * cos(angular * sqrt(1.0 - ratio**2) * t)
        for t in np.arange(-1, FPS) / FPS
    ]
    angles = expected[:2]
    for _ in range(FPS - 1):
        angles.append(step(angles[-1], angles[-2], pull, drag, LENGTH))
    # Settings are 32-bit numbers, so phases differ by 1e-6 a radian.
    np.testing.assert_allclose(angles, expected, atol=1e-4 * small)


def test_spring_bones_of_vrm_become_soft_bones_with_colliders() -> None:
    """With radius, gravity and the empty's place as collider; releasing them restores the file."""
    obj = fox(4)
    sphere = empty("Collider", obj, (0.0, -0.15, 0.9), 0.08)
    vrm_1(obj, shape_type=0, bpy_object=sphere)
    select(obj, "tail.0")
    before = file_content()
    assert verlet.soft_bones_from_addons() == {"FINISHED"}
    body = blender.data.objects["Fox Bones"]
    assert [group.name for group in body.vertex_groups] == [f"tail.{n}" for n in range(4)]
    bones = obj.pose.bones
    assert bones["tail.1"].verlet_radius == pytest.approx(0.02)
    assert bones["tail.3"].verlet_frequency == bones["tail.2"].verlet_frequency  # as the one before
    assert not body.verlet.use_pose_gravity
    # 0.5 / (1 / 60) m/s² on one bone of three that have settings.
    assert body.verlet.gravity == pytest.approx(30.0 / 3.0 / 9.81, rel=1e-3)
    bpy.context.view_layer.update()
    (collider,) = body.verlet.bone_colliders.objects
    assert (collider.parent_bone, collider.parent_type) == ("hips", "BONE")
    places = np.array([collider.matrix_world @ v.co for v in collider.data.vertices])
    np.testing.assert_allclose(
        np.linalg.norm(places - np.array((0.0, -0.15, 0.9)), axis=1), 0.08, rtol=1e-5
    )
    select(obj, "tail.0")
    verlet.release_soft_bones()
    assert file_content() == before


def test_a_chain_is_left_behind_as_far_as_that_of_vrm(addon: Callable[[str], ModuleType]) -> None:
    """Its tip, by a steady acceleration of its root, in small angles."""
    springs = addon("blender.scene.spring_bones")
    obj = fox(5)
    one = springs.SpringBone(frequency=1.0, damping_ratio=0.5)
    bones = springs.in_chains(obj, {f"tail.{n}": one for n in range(5)}, springs.own_moments)
    # The joint's pull balances the inertia of its own tail alone, at the distance of n bones.
    turns = np.cumsum(np.arange(1.0, 6.0)) / (2.0 * pi) ** 2
    behind = turns.sum()
    for bone in bones.values():
        assert 5.0 / (2.0 * pi * bone.frequency) ** 2 == pytest.approx(behind)
        assert bone.damping_ratio == pytest.approx(0.5 * bone.frequency)


def test_soft_bones_of_vrm_rest_on_their_colliders() -> None:
    """A tail that gravity pulls onto a sphere lies on it, and passes through without it."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 0, 24
    depths = []
    for kind in (0, None):
        obj = fox(4)
        sphere = empty("Collider", obj, (0.0, -0.15, 0.9), 0.08)
        vrm_1(obj, **({} if kind is None else {"shape_type": kind, "bpy_object": sphere}))
        verlet.soft_bones_from_addons()
        blender.data.objects["Fox Bones"].verlet.damping = 0.5
        for number in range(4):
            obj.pose.bones[f"tail.{number}"].verlet_frequency = 0.5  # soft enough to reach it
        verlet.bake()
        shown = tips(obj, poses(obj))[-1, 1:]
        depths.append(np.linalg.norm(shown - np.array((0.0, -0.15, 0.9)), axis=1).min())
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        scene = bpy.context.scene
        scene.frame_start, scene.frame_end = 0, 24
    assert depths[0] > 0.08
    assert depths[1] < 0.08


def test_planes_and_inner_sides_of_vrm_are_left_out(addon: Callable[[str], ModuleType]) -> None:
    """They hold bones elsewhere than spheres would, so none is made in their place."""
    bones = addon("blender.scene.bone_import")
    inner: dict[str, Any] = {"shape": {"sphere": {"inside": True}}}
    for number, extended in enumerate(({"shape_type": 2}, inner)):
        obj = fox(4)
        its = {"vrmc_spring_bone_extended_collider": {"enabled": True, **extended}}
        vrm_1(obj, bpy_object=empty("Collider", obj, (0.0, 0.0, 0.9), 0.1), extensions=its)
        told = bones.soft_bones_from_addons(bpy.context.scene, obj)
        assert "Planes and colliders that hold bones inside are not read" in told
        assert blender.data.objects[f"{obj.name} Bones"].verlet.bone_colliders is None, number


def vrm_file(path: Path, extensions: dict[str, Any], nodes: list[dict[str, Any]]) -> Path:
    """A binary glTF file that holds JSON alone."""
    content = json.dumps({"extensions": extensions, "nodes": nodes}).encode()
    content += b" " * (-len(content) % 4)
    chunk = struct.pack("<I4s", len(content), b"JSON") + content
    path.write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(chunk)) + chunk)
    return path


def nodes_of(obj: Any, back: Matrix) -> list[dict[str, Any]]:
    """Nodes of a file for the bones of an armature, by the matrix from this to the file.

    They are turned, as nodes of VRM 1.0 may be.
    """
    numbers = {bone.name: number for number, bone in enumerate(obj.data.bones)}
    turn = Matrix.Rotation(0.7, 4, "X")
    worlds = {b.name: Matrix.Translation(back @ b.head_local) @ turn for b in obj.data.bones}
    nodes = []
    for bone in obj.data.bones:
        own = worlds[bone.name]
        if bone.parent is not None:
            own = worlds[bone.parent.name].inverted() @ own
        place, rotation, _ = own.decompose()
        turned = rotation.x, rotation.y, rotation.z, rotation.w
        nodes.append(
            {
                "name": bone.name,
                "translation": place.to_tuple(),
                "rotation": turned,
                "children": [numbers[child.name] for child in bone.children],
            }
        )
    return nodes


@pytest.mark.parametrize("version", [0, 1])
def test_spring_bones_are_read_from_a_vrm_file(version: int, tmp_path: Path) -> None:
    """With colliders where the file has them, however the importer has turned and scaled it."""
    ear = ("ear", "hips", (0.05, 0.0, 1.25), (0.05, 0.0, 1.35))
    hips = ("hips", "", (0.0, 0.0, 1.0), (0.0, 0.0, 1.2))
    obj = armature([hips, *chain("tail", "hips", (0, 0, 1), (0, -LENGTH, 0), 4), ear])
    # From the armature to the file: y up, and 1/2 of the size.
    back = Matrix(((0.5, 0, 0, 0.1), (0, 0, 0.5, 0), (0, -0.5, 0, 0), (0, 0, 0, 1)))
    nodes = nodes_of(obj, back)
    turn = Matrix.Rotation(0.7, 3, "X")
    place = Vector((0.05, -0.1, 1.1))
    offset = turn.inverted() @ ((back @ place) - (back @ obj.data.bones["hips"].head_local))
    extensions: dict[str, Any]
    if version:
        joints = [{"node": number, "stiffness": 0.8, "dragForce": 0.3} for number in range(1, 5)]
        shape = {"sphere": {"offset": list(offset), "radius": 0.04}}
        extensions = {
            "VRMC_springBone": {
                "specVersion": "1.0",
                "colliders": [{"node": 0, "shape": shape}],
                "colliderGroups": [{"name": "Hips", "colliders": [0]}],
                "springs": [{"name": "Tail", "joints": joints, "colliderGroups": [0]}],
            }
        }
    else:
        group = {"stiffiness": 0.8, "dragForce": 0.3, "bones": [1], "colliderGroups": [0]}
        group |= {"gravityPower": 0.0, "gravityDir": {"x": 0, "y": -1, "z": 0}, "center": -1}
        its = {"offset": {"x": offset.x, "y": offset.y, "z": -offset.z}, "radius": 0.04}
        animation = {"boneGroups": [group], "colliderGroups": [{"node": 0, "colliders": [its]}]}
        extensions = {"VRM": {"secondaryAnimation": animation}}
    path = vrm_file(tmp_path / "fox.vrm", extensions, nodes)
    verlet.soft_bones_from_file(filepath=str(path))
    body = blender.data.objects["Fox Bones"]
    assert len(body.vertex_groups) == 4
    frequencies = [obj.pose.bones[f"tail.{n}"].verlet_frequency for n in range(4)]
    np.testing.assert_allclose(frequencies, frequencies[0], rtol=1e-6)  # of 32-bit lengths
    assert body.verlet.gravity == 0.0
    bpy.context.view_layer.update()
    (collider,) = body.verlet.bone_colliders.objects
    places = np.array([collider.matrix_world @ v.co for v in collider.data.vertices])
    np.testing.assert_allclose(np.linalg.norm(places - np.array(place), axis=1), 0.08, rtol=1e-4)


def test_a_file_that_is_no_vrm_changes_nothing(tmp_path: Path) -> None:
    """Nor does one without spring bones of this armature; a sentence says which."""
    fox(3)
    before = file_content()
    wrong = tmp_path / "fox.vrm"
    wrong.write_bytes(b"no model")
    with pytest.raises(RuntimeError, match=r"fox\.vrm is no \.vrm or \.glb file"):
        verlet.soft_bones_from_file(filepath=str(wrong))
    odd: dict[str, Any] = {"VRMC_springBone": {"springs": [{"joints": [{"node": "tail"}, {}]}]}}
    with pytest.raises(RuntimeError, match=r"odd\.vrm has spring bones that are not as VRM"):
        verlet.soft_bones_from_file(filepath=str(vrm_file(tmp_path / "odd.vrm", odd, [])))
    other = vrm_file(tmp_path / "cat.vrm", {}, [])
    with pytest.raises(RuntimeError, match=r"cat\.vrm has no spring bones with the names of bones"):
        verlet.soft_bones_from_file(filepath=str(other))
    with pytest.raises(RuntimeError, match="No spring bones of VRM, MMD, Wiggle"):
        verlet.soft_bones_from_addons()
    assert file_content() == before


def rigid_body(obj: Any, root: Any, bone: str, kind: int, **settings: float) -> Any:
    """A rigid body of mmd_tools, a box around the middle of a bone; without Blender's own."""
    rest = obj.data.bones[bone]
    half = 0.01
    corners = [[x, y, z] for x in (-half, half) for y in (-half, half) for z in (-half, half)]
    faces = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    box = mesh_object(f"{bone} body", corners, [], faces)
    box.location = (rest.head_local + rest.tail_local) / 2.0
    box.parent = root
    store(box, "mmd_type", 23)
    store(box, "mmd_rigid", {"bone": bone, "type": kind, "shape": 2})
    bpy.context.view_layer.objects.active = box
    bpy.ops.rigidbody.object_add()
    for name, value in settings.items():
        setattr(box.rigid_body, name, value)
    return box


@pytest.fixture
def mmd() -> Any:
    """A fox as mmd_tools imports models: rigid bodies and joints beside the armature."""
    obj = fox(2)
    bpy.ops.object.mode_set(mode="OBJECT")
    root = bpy.data.objects.new("Model", None)
    bpy.context.scene.collection.objects.link(root)
    obj.parent = root
    damped = {"mass": 2.0, "angular_damping": 0.9, "linear_damping": 0.5}
    bodies = [rigid_body(obj, root, "hips", 1)]
    for number in range(2):
        bodies.append(rigid_body(obj, root, f"tail.{number}", 2, **damped))
        joint = empty(f"J.{number}", root, (0.0, 0.0, 0.0), 0.1)
        bpy.context.view_layer.objects.active = joint
        bpy.ops.rigidbody.constraint_add(type="GENERIC_SPRING")
        constraint = joint.rigid_body_constraint
        constraint.object1, constraint.object2 = bodies[-2:]
        for axis in "xyz":
            setattr(constraint, f"limit_ang_{axis}_lower", radians(-20.0))
            setattr(constraint, f"limit_ang_{axis}_upper", radians(10.0))
        store(joint, "mmd_type", 22)
        store(joint, "mmd_joint", {"spring_angular": [50.0, 50.0, 30.0]})
    bpy.context.view_layer.objects.active = obj
    return obj


def test_rigid_bodies_of_mmd_become_soft_bones_and_colliders(mmd: Any) -> None:
    """Springs and masses give the frequency, limits the angle; bodies of bones collide."""
    verlet.soft_bones_from_addons()
    body = blender.data.objects["Fox Bones"]
    assert [group.name for group in body.vertex_groups] == ["tail.0", "tail.1"]
    bone = mmd.pose.bones["tail.0"]
    length = LENGTH / 2.0 / 0.08  # in units of MMD
    angular = sqrt(50.0 / (2.0 * length**2 / 3.0))
    assert bone.verlet_frequency < angular / (2.0 * pi)  # it bears the bone behind it
    assert bone.verlet_damping_ratio == 0.0
    assert bone.verlet_angle_limit == pytest.approx(radians(20.0))
    assert bone.verlet_radius == pytest.approx(0.01, rel=1e-5)
    assert body.verlet.damping == pytest.approx(0.75 * log(2.0) + 0.25 * log(10.0), rel=1e-5)
    assert body.verlet.gravity == pytest.approx(0.8, rel=2e-3)
    (collider,) = body.verlet.bone_colliders.objects
    bpy.context.view_layer.update()
    own = blender.data.objects["hips body"]
    np.testing.assert_allclose(
        np.array([collider.matrix_world @ v.co for v in collider.data.vertices]),
        np.array([own.matrix_world @ v.co for v in own.data.vertices]),
        atol=1e-6,
    )
    assert not [m for m in own.modifiers if m.type == "COLLISION"]


def test_soft_bones_from_addons_are_those_of_before_when_pressed_twice() -> None:
    """Colliders are made anew, not twice; settings of bones beside them stay."""
    obj = fox(4)
    sphere = empty("Collider", obj, (0.0, -0.15, 0.9), 0.08)
    vrm_1(obj, shape_type=0, bpy_object=sphere)
    verlet.soft_bones_from_addons()
    body = blender.data.objects["Fox Bones"]
    body.verlet.gravity = 0.25
    count = len(bpy.data.objects)
    verlet.soft_bones_from_addons()
    assert len(bpy.data.objects) == count
    assert body.verlet.gravity == 0.25


def test_what_users_put_beside_colliders_stays() -> None:
    """When soft bones are released, and when a copy of the body has the colliders too."""
    obj = fox(4)
    vrm_1(obj, bpy_object=empty("Collider", obj, (0.0, -0.15, 0.9), 0.08))
    verlet.soft_bones_from_addons()
    body = blender.data.objects["Fox Bones"]
    colliders = body.verlet.bone_colliders
    (collider,) = colliders.objects
    own = mesh_object("Body", [[0, 0, 0], [1, 0, 0], [0, 1, 0]], [], [[0, 1, 2]])
    own.parent = obj
    bpy.context.scene.collection.objects.unlink(own)
    colliders.objects.link(own)
    copy, rig = body.copy(), obj.copy()
    for each in (copy, rig):
        bpy.context.scene.collection.objects.link(each)
    copy.verlet.armature = rig
    select(obj, "tail.0")
    verlet.release_soft_bones()
    assert set(colliders.objects) == {own, collider}
    bpy.data.objects.remove(copy)
    bpy.data.objects.remove(rig)
    verlet.soft_bones_from_addons()
    verlet.release_soft_bones()
    assert own.name in bpy.context.scene.objects


def test_undo_takes_soft_bones_and_colliders_away() -> None:
    """In one step, with their collection and their settings."""
    obj = fox(4)
    vrm_1(obj, shape_type=0, bpy_object=empty("Collider", obj, (0.0, -0.15, 0.9), 0.08))
    select(obj, "tail.0")
    bpy.ops.ed.undo_push(message="Before")
    verlet.soft_bones_from_addons()
    bpy.ops.ed.undo_push(message="Soft Bones")
    assert bpy.data.collections.get("Fox Colliders") is not None
    bpy.ops.ed.undo()
    assert bpy.data.collections.get("Fox Colliders") is None
    assert bpy.data.objects.get("Fox Bones") is None
    bones: Any = blender.data.objects["Fox"].pose.bones
    assert not bones["tail.1"].is_property_set("verlet_radius")


def test_what_was_found_made_and_left_out_is_said(addon: Callable[[str], ModuleType]) -> None:
    """In a sentence each."""
    bones = addon("blender.scene.bone_import")
    obj = fox(4)
    top = empty("Collider", obj, (0.0, -0.1, 0.9), 0.05)
    empty("Collider End", top, (0.0, -0.1, 1.0), 0.05)
    vrm_1(obj, shape_type=1, bpy_object=top)
    target = mesh_object("Legs", [[0, 0, 0], [1, 0, 0], [0, 1, 0]], [], [[0, 1, 2]])
    hips = obj.pose.bones["hips"]
    store(hips, "wiggle_tail", True)
    store(hips, "wiggle_collider", target)
    assert bones.soft_bones_from_addons(bpy.context.scene, obj) == [
        "Found VRM 1.0 spring bones (3) and Wiggle 2 bones (1)",
        "5 bones are soft, and have their colliders (1)",
        "Bones have different gravity; all soft bones get the mean, 1",
        "Bones have different damping of air; all soft bones get the mean, 15",
        "Legs is no collider yet; select it and press Make Collider",
    ]
    assert not target.modifiers
