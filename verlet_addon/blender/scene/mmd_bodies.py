"""Rigid bodies and joints of MikuMikuDance models, as the add-on mmd_tools stores them.

Source: properties/rigid_body.py, properties/root.py and core/rigid_body.py of
github.com/MMD-Blender/blender_mmd_tools. Masses, dampings and limits are in Blender's own rigid
bodies and their constraints.
"""

from math import log, pi
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Vector

from .addon_properties import addon_property
from .spring_bones import ColliderShape, RigSprings, SpringBone, in_chains, moved, rod_moments

RIGID_BODY, JOINT = 23, 22
"""Numbers of the enumerators of `Object.mmd_type`."""
FIXED_TO_BONE = 1
"""Number of the first enumerator of `mmd_rigid.type`, and its default; others are simulated."""
UNIT = 0.08
"""A unit of length of MMD as models are imported by default [m]."""
GRAVITY = 98.0 * UNIT
"""Of MMD [m/s²]."""
MOST_DAMPING = 0.9999
"""Greatest share of its speed that a body loses in a second."""


def springs_in_model(armature: bpy.types.Object) -> RigSprings | None:
    """Simulated bones and colliders of the model that an armature belongs to; None without any."""
    bodies = {
        obj: name
        for obj in _parts(armature, RIGID_BODY)
        if (name := _bone_name(obj)) and name in _bones(armature)
    }
    soft = {obj: name for obj, name in bodies.items() if not _is_fixed(obj)}
    if not soft:
        return None
    joints, left_out = _joints(armature, soft)
    alone = {name: _bone(armature, obj, name, joints.get(obj)) for obj, name in soft.items()}
    bones = in_chains(armature, alone, rod_moments)
    if any(addon_property(obj, "mmd_rigid")["type"] == 3 for obj in soft):
        left_out.append("Bones whose bodies are Physics + Bone swing as those with Physics do")
    colliders = [_collider(armature, obj, bodies[obj]) for obj in bodies if obj not in soft]
    return RigSprings(
        source="MMD rigid bodies", bones=bones, colliders=colliders, left_out=left_out
    )


def _bones(armature: bpy.types.Object) -> Any:
    """Bones of an armature, at rest."""
    data: Any = armature.data
    return data.bones


def _top(obj: bpy.types.Object) -> bpy.types.Object:
    """The object that all others of a model are children of."""
    while obj.parent is not None:
        obj = obj.parent
    return obj


def _parts(armature: bpy.types.Object, kind: int) -> list[bpy.types.Object]:
    """Objects of a kind in the model of an armature."""
    root = _top(armature)
    return [
        obj for obj in (root, *root.children_recursive) if addon_property(obj, "mmd_type") == kind
    ]


def _bone_name(obj: bpy.types.Object) -> str:
    """Name of the bone of a rigid body; empty without one."""
    relation: Any = obj.constraints.get("mmd_tools_rigid_parent")
    stored = addon_property(obj, "mmd_rigid") or {}
    return (relation.subtarget if relation else "") or str(stored.get("bone", ""))


def _is_fixed(obj: bpy.types.Object) -> bool:
    """Whether a rigid body follows its bone, and not the other way round."""
    stored = addon_property(obj, "mmd_rigid") or {}
    return bool(stored.get("type", FIXED_TO_BONE) == FIXED_TO_BONE)


def _joints(
    armature: bpy.types.Object, soft: dict[bpy.types.Object, str]
) -> tuple[dict[bpy.types.Object, bpy.types.Object], list[str]]:
    """By body, the joint that connects it to the one before, and a sentence on further ones."""
    found: dict[bpy.types.Object, bpy.types.Object] = {}
    across = 0
    for joint in _parts(armature, JOINT):
        constraint: Any = joint.rigid_body_constraint
        if constraint is None:
            continue
        first, second = constraint.object1, constraint.object2
        if second not in soft:
            first, second = second, first
        if second not in soft:
            continue
        above = {bone.name for bone in _bones(armature)[soft[second]].parent_recursive}
        if first in soft and soft[first] not in above:
            across += 1
        else:
            found.setdefault(second, joint)
    sentence = f"{across} joints between chains are not read; Close Skirt joins chains as cloth"
    return found, [sentence] if across else []


def _bone(
    armature: bpy.types.Object,
    obj: bpy.types.Object,
    name: str,
    joint: bpy.types.Object | None,
) -> SpringBone:
    """Settings of a bone by its body, a rod that turns about the joint at the bone's head."""
    body: Any = obj.rigid_body
    scale = armature.matrix_world.median_scale
    stiffness = limit = 0.0
    if joint is None:
        limit = pi
    else:
        stored = addon_property(joint, "mmd_joint") or {}
        stiffness = max(stored.get("spring_angular", [0.0]))
        limit = _angle_limit(joint.rigid_body_constraint)
    mass, damping = 1.0, 0.0
    if body is not None:
        mass = body.mass
        # A quarter of a rod's inertia about its end is its own, the rest that of its middle.
        damping = 0.25 * _rate(body.angular_damping) + 0.75 * _rate(body.linear_damping)
    length = _bones(armature)[name].length * scale / UNIT
    angular = (stiffness / (mass * length**2 / 3.0)) ** 0.5
    sides: Any = obj.dimensions
    half = [side / 2.0 for side in sides if side > 0.0]
    return SpringBone(
        frequency=angular / (2.0 * pi),
        damping_ratio=0.0,
        radius=min(half, default=None),
        angle_limit=limit,
        gravity=GRAVITY,
        air_damping=damping,
    )


def _rate(share: float) -> float:
    """Damping [1/s] of a body that loses a share of its speed in a second, as Bullet's do."""
    return -log(1.0 - min(max(share, 0.0), MOST_DAMPING))


def _angle_limit(constraint: Any) -> float:
    """The largest angle that the limits of a joint allow [rad]; those with none are 180°."""
    ends = [
        (
            getattr(constraint, f"limit_ang_{axis}_lower"),
            getattr(constraint, f"limit_ang_{axis}_upper"),
        )
        for axis in "xyz"
    ]
    if any(lower > upper for lower, upper in ends):
        return pi
    return float(min(np.abs(ends).max(), pi))


def _collider(armature: bpy.types.Object, obj: bpy.types.Object, name: str) -> ColliderShape:
    """The mesh of a rigid body as a collider, in the space of its bone at rest."""
    mesh: Any = obj.data
    rest: Matrix = _bones(armature)[name].matrix_local
    space = (armature.matrix_world @ rest).inverted() @ obj.matrix_world
    return ColliderShape(
        name=obj.name,
        bone=name,
        points=moved((Vector(vertex.co) for vertex in mesh.vertices), space),
        faces=[tuple(face.vertices) for face in mesh.polygons],
    )
