"""Bones that add-ons for jiggling move: Wiggle 2, Wiggle Bone and Jiggle Physics.

Sources: wiggle_2.py of github.com/shteeve3d/blender-wiggle-2, the add-on Wiggle Bone 1.5 of
github.com/shteeve3d/blender-wiggle, and github.com/naelstrof/blender-jiggle-physics. All of them
step once a frame.
"""

from collections.abc import Callable, Sequence
from typing import Any

import bpy

from .addon_properties import addon_property
from .colliders import has_modifier
from .spring_bones import (
    Moments,
    RigSprings,
    SpringBone,
    dragged_swing,
    in_chains,
    own_moments,
    pulled_swing,
    shared_moments,
    swing,
)

Reader = Callable[[Any, float, float], SpringBone | None]
"""Settings of a pose bone, by the time between frames [s] and the scene's gravity [m/s²]."""


def springs_of_jiggle_addons(
    armature: bpy.types.Object, scene: bpy.types.Scene
) -> list[RigSprings]:
    """Bones that each add-on moves, and what it says about them."""
    step = scene.render.fps_base / scene.render.fps
    pose: Any = armature.pose
    found = []
    for source, (read, moments) in READERS.items():
        springs = {bone.name: read(bone, step, scene.gravity.length) for bone in pose.bones}
        bones = {name: spring for name, spring in springs.items() if spring is not None}
        if bones:
            met = [_colliders(pose.bones[name]) for name in bones]
            names = sorted({name for each in met for name in each})
            left_out = _left_out(source, [pose.bones[name] for name in bones])
            left_out += [
                f"{name} is no collider yet; select it and press Make Collider" for name in names
            ]
            bones = in_chains(armature, bones, moments)
            found.append(RigSprings(source=source, bones=bones, left_out=left_out))
    return found


def _wiggle_2(bone: Any, step: float, gravity: float) -> SpringBone | None:
    """Settings of Wiggle 2, whose spring constant and damping are those of seconds."""
    if not _value(bone, "wiggle_tail", False) or _value(bone, "wiggle_mute", False):
        return None
    pull = _value(bone, "wiggle_stiff", 400.0) * step * step
    drag = _value(bone, "wiggle_damp", 1.0) * step
    frequency, ratio, air = dragged_swing(min(pull, 1.0), min(drag, 1.0), step)
    return SpringBone(
        frequency=frequency,
        damping_ratio=ratio,
        radius=_value(bone, "wiggle_radius", 0.0) or None,
        gravity=_value(bone, "wiggle_gravity", 1.0) * gravity,
        air_damping=air,
    )


def _jiggle_physics(bone: Any, step: float, gravity: float) -> SpringBone | None:
    """Settings of Jiggle Physics, whose elasticity acts by its square."""
    group = addon_property(bone, "jiggle")
    if group is None or not (group.get("enable") or addon_property(bone, "jiggle_enable")):
        return None
    pull = _value(bone, "jiggle_angle_elasticity", 0.6) ** 2
    frequency, ratio = pulled_swing(pull, _value(bone, "jiggle_friction", 0.1), step)
    return SpringBone(
        frequency=frequency,
        damping_ratio=ratio,
        radius=_value(bone, "jiggle_collision_radius", 0.0) or None,
        gravity=_value(bone, "jiggle_gravity", 1.0) * gravity,
    )


def _wiggle_bone(bone: Any, step: float, _gravity: float) -> SpringBone | None:
    """Settings of Wiggle Bone: x'' - x' = (1 - dampen) (x' - x - stiffness x'), stepwise.

    Its gravity turns bones by an angle that depends on nothing else, and is left out.
    """
    if not addon_property(bone, "jiggle_enable") or addon_property(bone, "jiggle") is not None:
        return None
    inert = 1.0 - _value(bone, "jiggle_dampen", 0.2)
    total = 1.0 + inert * (1.0 - _value(bone, "jiggle_stiffness", 0.2))
    frequency, ratio = swing(total, inert, step)
    return SpringBone(frequency=frequency, damping_ratio=ratio)


READERS: dict[str, tuple[Reader, Moments]] = {
    "Wiggle 2 bones": (_wiggle_2, shared_moments),
    "Jiggle Physics bones": (_jiggle_physics, own_moments),
    "Wiggle Bone bones": (_wiggle_bone, own_moments),
}
"""By the source, its reader, and how its bones act on each other."""

UNREAD: dict[str, dict[str, float]] = {
    "Wiggle 2 bones": {"wiggle_head": 0.0, "wiggle_stretch": 0.0},
    "Jiggle Physics bones": {
        "jiggle_air_drag": 0.0,
        "jiggle_blend": 1.0,
        "jiggle_elasticity_soften": 0.0,
    },
    "Wiggle Bone bones": {"jiggle_gravity": 0.0, "jiggle_stretch": 0.0, "jiggle_translation": 0.0},
}
"""By the source, its settings without a counterpart here, and their values without effect."""


def _left_out(source: str, bones: Sequence[Any]) -> list[str]:
    """A sentence on the settings that have an effect there and none here, if there are any."""
    names = [
        name.partition("_")[2].replace("_", " ").title()
        for name, idle in UNREAD[source].items()
        if any(_value(bone, name, idle) != idle for bone in bones)
    ]
    return [f"{', '.join(names)} of {source} have no counterpart here"] if names else []


def _value(bone: Any, name: str, default: float) -> float:
    """A number that an add-on has stored, or its default there."""
    stored = addon_property(bone, name)
    return default if stored is None else float(stored)


def _colliders(bone: Any) -> list[str]:
    """Names of the objects that a bone collides with in its add-on, without being colliders."""
    group = addon_property(bone, "jiggle") or {}
    given = [addon_property(bone, "wiggle_collider"), group.get("collider")]
    objects = [obj for obj in given if isinstance(obj, bpy.types.Object)]
    collections = [
        addon_property(bone, "wiggle_collider_collection"),
        group.get("collider_collection"),
    ]
    for each in collections:
        objects += each.all_objects if isinstance(each, bpy.types.Collection) else []
    return [obj.name for obj in objects if not has_modifier(obj)]
