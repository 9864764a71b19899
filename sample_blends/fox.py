"""A fox whose tail and ears are soft bones."""

from collections.abc import Sequence
from math import pi, sin
from typing import Any, cast

import bpy
import numpy as np

from sample_blends.rigged import Bone, add_bones, chain, limb, straight
from sample_blends.stage import (
    Points,
    animate,
    camera,
    empty_scene,
    light_and_ground,
    link,
    plain,
)
from verlet_addon.blender.scene.soft_bones import make_soft_bones
from verlet_addon.blender.settings.bone_materials import set_bone_material
from verlet_addon.blender.settings.bone_properties import soft_bones

FRAMES = 96
TURNS = 1.5
"""Swings of the hips in a second."""
TAIL_BONES, EAR_BONES = 9, 3
TAIL_START, TAIL_WAY = np.array((0.0, 0.05, 0.44)), np.array((0.0, 0.55, 0.12))
EAR_WAY = np.array((0.05, 0.02, 0.17))
RED, DARK = (0.60, 0.19, 0.04), (0.10, 0.03, 0.015)


def fox() -> None:
    """A fox that turns its hips to and fro, and nods; its tail and ears follow through."""
    empty_scene(frame_end=FRAMES)
    rig = _rig(
        [*_trunk(), *chain("Tail", "Hips", straight(TAIL_START, TAIL_WAY, TAIL_BONES)), *_ears()]
    )
    _skin(rig)
    _move(rig)
    scene = cast(Any, bpy.context.scene)
    for name, material in (("Tail.0", "TAIL"), ("Ear.L.0", "EAR"), ("Ear.R.0", "EAR")):
        body = make_soft_bones(scene, rig, [name])
        kind = name.split(".")[0]
        chosen = [bone for bone in soft_bones(body) if bone.name.startswith(kind)]
        set_bone_material(chosen, material)
    scene.frame_set(1)  # as playing it would leave the bones
    light_and_ground()
    camera((2.1, 1.35, 1.35), (0.0, 0.05, 0.4), lens=42)


def _trunk() -> list[Bone]:
    """The bones that are keyed."""
    places = [(0.0, 0.0, 0.42), (0.0, -0.45, 0.45), (0.0, -0.66, 0.62)]
    hips, chest, nose = map(np.array, places)
    return [
        ("Hips", "", hips, hips + np.array((0.0, 0.0, 0.1))),
        ("Body", "Hips", hips, chest),
        ("Head", "Body", chest, nose),
    ]


def _ears() -> list[Bone]:
    """The bones of both ears."""
    sides = (("L", np.array((1.0, 1.0, 1.0))), ("R", np.array((-1.0, 1.0, 1.0))))
    start = np.array((0.06, -0.53, 0.68))
    return [
        bone
        for side, mirror in sides
        for bone in chain(
            f"Ear.{side}", "Head", straight(start * mirror, EAR_WAY * mirror, EAR_BONES)
        )
    ]


def _rig(bones: Sequence[Bone]) -> Any:
    """Adds the armature."""
    rig: Any = link(bpy.data.objects.new("Fox", bpy.data.armatures.new("Fox")))
    rig.data.display_type = "STICK"
    add_bones(rig, bones)
    return rig


def _skin(rig: Any) -> None:
    """Adds limbs around the bones, which these move."""
    red, dark = plain("Fur", RED, roughness=0.8), plain("Dark Fur", DARK, roughness=0.8)
    share = np.linspace(0.0, 1.0, 40)
    bush = 0.025 + 0.075 * np.sin(pi * share**1.3)
    _limb(rig, "Tail", TAIL_START, TAIL_WAY * 1.06, bush, ("Hips", "Tail"), red)
    round_body = 0.03 + 0.11 * np.sin(pi * np.linspace(0.12, 0.95, 24)) ** 0.6
    _limb(rig, "Body", (0, 0.12, 0.42), (0, -0.6, 0.03), round_body, ("Hips", "Body"), red)
    neck = np.linspace(0.1, 0.075, 12)
    _limb(rig, "Neck", (0, -0.38, 0.45), (0, -0.2, 0.17), neck, ("Body", "Head"), red)
    head = np.array((3, 7, 9.5, 11, 11.5, 11, 10, 9, 8, 6.8, 5.8, 5, 4.4, 4, 3.7, 3.4, 3, 1.5))
    _limb(rig, "Head", (0, -0.44, 0.62), (0, -0.33, -0.06), head / 100.0, ("Head",), red)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        mirror, ear = np.array((sign, 1.0, 1.0)), np.linspace(0.05, 0.006, 14)
        start = np.array((0.06, -0.52, 0.66)) * mirror
        _limb(rig, f"Ear.{side}", start, EAR_WAY * 1.08 * mirror, ear, ("Head", "Ear"), dark)
        for name, y, bone in (("Fore", -0.38, "Body"), ("Hind", 0.05, "Hips")):
            leg, top = np.linspace(0.06, 0.03, 12), (0.08 * sign, y, 0.42)
            _limb(rig, f"{name}.{side}", top, (0, 0, -0.42), leg, (bone,), dark)


def _limb(
    rig: Any,
    name: str,
    start: Sequence[float] | Points,
    way: Sequence[float] | Points,
    radii: Points,
    bones: Sequence[str],
    looks: Any,
) -> None:
    """Adds a round limb of some radii along a way, moved by the nearest of these bones."""
    chosen = [bone for bone in rig.data.bones if bone.name.split(".")[0] in bones]
    if name.startswith("Ear"):
        chosen = [bone for bone in chosen if bone.name.startswith((name, "Head"))]
    places = straight(np.asarray(start), np.asarray(way), len(radii) - 1)
    limb(rig, name, places, radii, chosen, looks)


def _move(rig: Any) -> None:
    """Keys hips and head, from rest on and to rest again."""
    hips, head = rig.pose.bones["Hips"], rig.pose.bones["Head"]
    hips.rotation_mode = head.rotation_mode = "XYZ"
    for frame in range(1, 62, 3):
        time = (frame - 1) / 24
        ease = min(time / 0.25, (61 - frame) / 12, 1.0)
        turn, nod = ease * sin(2 * pi * TURNS * time), ease * sin(2 * pi * 2.2 * time)
        # Without a negative zero at the end, which Blender would leave in place of 0.
        animate(hips, "rotation_euler", {frame: (0.0, 0.45 * turn + 0.0, 0.0)})
        animate(head, "rotation_euler", {frame: (0.25 * nod + 0.0, 0.0, 0.3 * turn + 0.0)})
