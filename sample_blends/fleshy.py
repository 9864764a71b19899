"""Flesh over bones: a heavy person who jumps in a shirt, and a seal that hops along."""

from math import cos, pi, radians, sin
from typing import Any, cast

import bmesh
import bpy
import numpy as np
from mathutils import Quaternion

from sample_blends.outfits import SKIN, make_shirt
from sample_blends.person import TORSO, Build, Limb, Turns, make_person, mirrored, pose
from sample_blends.rigged import add_bones, chain, limb
from sample_blends.stage import Points, animate, camera, empty_scene, light_and_ground, link, plain
from verlet_addon.blender.scene.flesh_paint import paint_flesh
from verlet_addon.blender.settings.materials import give_material

SIDES = (
    Limb("Chest", (0.085, -0.085, 1.27), (0.095, -0.105, 1.235), (0.085, 0.080)),
    Limb("Hips", (0.095, 0.055, 0.93), (0.105, 0.050, 0.90), (0.125, 0.120)),
    Limb("Arm.L", (0.19, 0.0, 1.38), (0.33, 0.0, 1.24), (0.075, 0.062)),
)
BELLY = (
    Limb("Spine", (-0.06, -0.055, 1.055), (0.06, -0.055, 1.055), (0.165, 0.165)),
    Limb("Head", (0.0, -0.025, 1.50), (0.0, -0.035, 1.53), (0.066, 0.060)),
)
THIGH = (Limb("Thigh.L", (0.122, 0.0, 0.86), (0.115, 0.0, 0.62), (0.116, 0.078)),)
HEAVY = Build(trunk=(*BELLY, *SIDES, *mirrored(SIDES)), leg=THIGH)
"""What a heavy person has more of."""

SQUATS = dict(
    zip(
        (1, 8, 13, 17, 20, 22, 24, 26, 28, 36, 38, 40, 43, 47, 52, 60, 84),
        (0.0, 0.0, 0.35, 0.8, 0.95, 0.9, 0.72, 0.4, 0.0, 0.0, 0.4, 0.62, 0.75, 0.6, 0.25, 0.0, 0.0),
        strict=True,
    )
)
"""How deep the person squats at frames, 0 … 1; between 28 and 36 it is in the air."""
TAKE_OFF, LANDING = 28, 36
THIGH_LENGTH, SHIN_LENGTH = 0.41, 0.41


def heavy() -> None:
    """A heavy person squats, jumps and lands, in a shirt that the belly pushes."""
    scene = empty_scene(frame_end=84)
    person = make_person("Person", SKIN, build=HEAVY)
    rig = person.parent
    for frame, depth in SQUATS.items():
        pose(rig, frame, _squat(depth), at=(0.0, 0.0, -_drop(depth)))
    for frame in range(TAKE_OFF + 1, LANDING):
        time = (frame - TAKE_OFF) / 24.0
        rise = 0.5 * 9.81 * time * ((LANDING - TAKE_OFF) / 24.0 - time)
        pose(rig, frame, _squat(0.0), at=(0.0, 0.0, rise))
    make_flesh(person, "BELLY")
    shirt = make_shirt(person, [*TORSO, *BELLY[:1], *SIDES, *mirrored(SIDES)])
    _merge_near(shirt, 0.006)
    scene.verlet.substeps = 20
    scene.frame_set(1)
    light_and_ground()
    camera((2.2, -3.4, 1.3), (0.0, 0.0, 0.95), lens=40)


def _merge_near(obj: Any, distance: float) -> None:
    """Merges vertices nearer to each other than a distance [m], as where cuts meet edges."""
    edited = bmesh.new()
    edited.from_mesh(obj.data)
    bmesh.ops.remove_doubles(edited, verts=list(edited.verts), dist=distance)
    edited.to_mesh(obj.data)
    edited.free()


def make_flesh(obj: Any, material: str) -> None:
    """Makes a rigged mesh flesh, painted by its bones."""
    obj.verlet.enabled, obj.verlet.body_type = True, "FLESH"
    give_material(obj.verlet, material)
    paint_flesh(obj)


def _squat(depth: float) -> Turns:
    """Turns of the bones of somebody who squats so deep, 0 … 1, with the feet on the floor."""
    thigh, shin = 55.0 * depth, 98.0 * depth
    return {
        "Thigh.L": (-thigh, 0.0, 0.0),
        "Shin.L": (shin, 0.0, 0.0),
        "Foot.L": (thigh - shin, 0.0, 0.0),
        "Spine": (12.0 * depth, 0.0, 0.0),
        "Chest": (8.0 * depth, 0.0, 0.0),
        "Arm.L": (25.0 * depth - 8.0, 12.0, 0.0),
        "ForeArm.L": (-20.0 * depth, 0.0, 0.0),
    }


def _drop(depth: float) -> float:
    """By how much hips go down in a squat [m]."""
    thigh, shin = radians(55.0 * depth), radians((98.0 - 55.0) * depth)
    return THIGH_LENGTH * (1.0 - cos(thigh)) + SHIN_LENGTH * (1.0 - cos(shin))


FORE, HIND, MIDDLE = 6, 4, 0.1
"""Bones of the seal from its middle to the nose, and to the tail; where that is [m]."""
HOP, HOPS, WAY = 20, 3, 0.42
"""Frames and way [m] of each hop, and their number; then it lies still."""
GREY, DARK = (0.23, 0.22, 0.22), (0.02, 0.02, 0.02)


def seal() -> None:
    """A seal that hops over land: it arches its back, and its blubber lags behind."""
    scene = empty_scene(frame_end=4 * HOP + 1)
    rig: Any = link(bpy.data.objects.new("Seal Bones", bpy.data.armatures.new("Seal Bones")))
    rig.data.display_type = "STICK"
    root = np.array((0.0, MIDDLE, float(_height(np.array(MIDDLE)))))
    parts = [("Root", "", root, root + np.array((0.0, 0.0, 0.1)))]
    for name, end, count in (("Fore", -1.0, FORE), ("Hind", 1.0, HIND)):
        y = np.linspace(MIDDLE, end, count + 1)
        parts += chain(name, "Root", np.stack((0 * y, y, _height(y)), axis=1))
    add_bones(rig, parts)
    bones = [bone for bone in rig.data.bones if bone.name != "Root"]
    along = np.concatenate((np.linspace(1.0, -0.95, 34), (-0.985, -1.005)))
    places = np.stack((0 * along, along, _height(along)), axis=1)
    looks = plain("Seal", GREY, roughness=0.35)
    body = limb(rig, "Seal", places, _radius(along), bones, looks)
    _flippers(rig, looks)
    _face(rig, plain("Eyes", DARK, roughness=0.1))
    _hop(rig)
    make_flesh(body, "FAT")
    body.verlet.stiffness = 8e3
    scene.frame_set(1)
    light_and_ground(ground=(0.62, 0.58, 0.50))
    camera((3.6, -2.4, 1.1), (0.0, 0.0, 0.35), lens=40)


def _radius(along: Points) -> Points:
    """(n,) radius of the seal at places from the tail, 1, to the nose, −1 [m]."""
    stations = (-1.01, -0.98, -0.88, -0.72, -0.60, -0.30, 0.0, 0.40, 0.75, 1.0)
    radii = (0.035, 0.060, 0.115, 0.135, 0.150, 0.285, 0.320, 0.235, 0.110, 0.050)
    return np.interp(along, stations, radii)


def _height(along: Points) -> Points:
    """(n,) height of the seal's axis, which rises towards the head [m]."""
    return 0.03 + _radius(along) + 0.30 * np.clip(-0.35 - along, 0.0, None)


def _flippers(rig: Any, looks: Any) -> None:
    """Adds the fore flippers and those of the tail."""
    bones = rig.data.bones
    for side in (1.0, -1.0):
        name = "L" if side > 0.0 else "R"
        fore = np.linspace((0.20 * side, -0.34, 0.20), (0.50 * side, -0.22, 0.03), 8)
        hind = np.linspace((0.02 * side, 0.95, 0.08), (0.20 * side, 1.32, 0.05), 8)
        taper = np.array((0.05, 0.07, 0.075, 0.07, 0.06, 0.05, 0.035, 0.01))
        limb(rig, f"Fore Flipper.{name}", fore, taper, [bones["Fore.2"]], looks)
        limb(rig, f"Hind Flipper.{name}", hind, 0.8 * taper, [bones[f"Hind.{HIND - 1}"]], looks)


def _face(rig: Any, looks: Any) -> None:
    """Adds eyes and the nose."""
    for name, place, size in (
        ("Eye.L", (0.085, -0.905, 0.375), 0.028),
        ("Eye.R", (-0.085, -0.905, 0.375), 0.028),
        ("Nose", (0.0, -1.015, 0.275), 0.026),
    ):
        bpy.ops.mesh.primitive_uv_sphere_add(segments=16, ring_count=10, radius=size)
        bpy.ops.object.shade_smooth()
        obj: Any = bpy.context.object
        obj.name = name
        obj.data.materials.append(looks)
        obj.parent, obj.parent_type, obj.parent_bone = rig, "BONE", f"Fore.{FORE - 1}"
        cast(Any, bpy.context.view_layer).update()
        obj.matrix_world.translation = place


def _hop(rig: Any) -> None:
    """Keys of a fore part that rises and falls, of a tail that follows, and of the way."""
    for frame in range(1, HOPS * HOP + 2, 2):
        phase = 2.0 * pi * ((frame - 1) / HOP % 1.0)
        fore, hind = max(0.0, sin(phase)), max(0.0, -sin(phase))
        for number in range(FORE):
            bend = -10.0 * fore if number < 3 else 8.0 * fore
            _turn(rig.pose.bones[f"Fore.{number}"], frame, bend)
        for number in range(HIND):
            _turn(rig.pose.bones[f"Hind.{number}"], frame, 5.0 * hind)
        done = (frame - 1 - 0.8 * HOP * sin(phase) / (2.0 * pi)) / HOP
        up = 0.09 * max(0.0, sin(phase - 0.6))
        animate(rig, "location", {frame: (0.0, 0.6 - WAY * done, up)})


def _turn(bone: Any, frame: int, angle: float) -> None:
    """A key of a bone that is turned about the world's X from where it was modelled [°]."""
    bone.rotation_mode = "QUATERNION"
    rest = bone.bone.matrix_local.to_quaternion()
    world = Quaternion((1.0, 0.0, 0.0), radians(angle))
    animate(bone, "rotation_quaternion", {frame: rest.inverted() @ world @ rest})
