"""Settings of soft bones: `PoseBone.verlet`, and those of `Object.verlet` that bodies of them have.

A body of bones is a mesh of their joints, which is named by its armature; its vertex groups name
the bones.
"""

from math import pi
from typing import Any, cast

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, PointerProperty, StringProperty

from .overridable import overridable


@overridable
class VERLET_PG_bone(bpy.types.PropertyGroup):
    """Verlet settings of one bone of a pose."""

    frequency: FloatProperty(
        name="Frequency",
        description="Swings per second, in hertz, of a chain whose bones all have this, whatever "
        "its size and number of bones; more is stiffer",
        default=2.0,
        min=0.0,
        soft_min=0.2,
        soft_max=20.0,
        step=10,
        precision=2,
        options=set(),
    )
    damping_ratio: FloatProperty(
        name="Damping",
        description="How soon these swings die down: each is smaller by a half at 0.1; at 1 there "
        "are none",
        default=0.3,
        min=0.0,
        soft_max=2.0,
        step=1,
        precision=2,
        options=set(),
    )
    radius: FloatProperty(
        name="Radius",
        description="Distance that the bone keeps from what it touches",
        default=0.01,
        min=0.0,
        soft_max=1.0,
        step=0.1,
        precision=4,
        subtype="DISTANCE",
        options=set(),
    )
    angle_limit: FloatProperty(
        name="Angle Limit",
        description="How far the bone may turn away from its keyed pose, relative to the bone "
        "before; 180° is no limit",
        default=pi,
        min=0.0,
        max=pi,
        subtype="ANGLE",
        options=set(),
    )


BONE_NAMES = ("frequency", "damping_ratio", "radius", "angle_limit")
"""Settings of bones that are read once, at the first frame."""

# The stubs say that the functions of bpy.props return nothing.
_properties: Any = bpy.props

FOLLOW_POSE = _properties.FloatProperty(
    name="Follow Pose",
    description="How far the bone is held to its keyed pose: 0 swings freely, 1 is the keyed pose",
    default=0.0,
    min=0.0,
    max=1.0,
    step=10,
    subtype="FACTOR",
    options={"ANIMATABLE"},
    override={"LIBRARY_OVERRIDABLE"},
)
"""`PoseBone.verlet_follow_pose`, outside the group: Blender keys no groups of bones."""


BONE_FORMS = (
    ("CONSTRAINTS", "Constraints", "No keys: a constraint points each bone at its joint"),
    ("ACTION", "Keys in New Action", "Keys of the rotations of soft bones in a copy of the action"),
    ("NLA", "NLA Track", "Keys in a track of the NLA above the action, which stays as it is"),
)
"""How a bake shows on soft bones."""


class BoneBodyProperties:
    """Properties of `VERLET_PG_body` that bodies of bones have."""

    armature: PointerProperty(
        name="Armature",
        description="Armature whose bones have their joints at the vertices of this mesh",
        type=bpy.types.Object,
        options={"HIDDEN"},
    )
    bones_to: EnumProperty(
        name="Bones To",
        description="How a bake shows on soft bones; Live shows it by constraints",
        items=BONE_FORMS,
        default="CONSTRAINTS",
        options=set(),
    )
    muted_solvers: StringProperty(
        name="Muted Solvers",
        description="Constraints of soft bones that are off while these show a simulation",
        options={"HIDDEN"},
    )
    keyed_bones: StringProperty(
        name="Keyed Bones",
        description="What the keys of the last bake have replaced",
        options={"HIDDEN"},
    )
    keyed_action: PointerProperty(
        name="Keyed Action",
        description="The action with the keys of the last bake",
        type=bpy.types.Action,
        options={"HIDDEN"},
    )
    former_action: PointerProperty(
        name="Former Action",
        description="The action that was played before the last bake",
        type=bpy.types.Action,
        options={"HIDDEN"},
    )
    use_pose_gravity: BoolProperty(
        name="Gravity in Pose",
        description="Soft bones were drawn with their weight: gravity acts on them only as far as "
        "what they stand on turns, and a still pose stays as it is",
        default=True,
        options=set(),
    )


def bone_properties(bone: bpy.types.PoseBone) -> VERLET_PG_bone:
    """The Verlet settings of a bone."""
    holder: Any = bone
    return cast(VERLET_PG_bone, holder.verlet)


def follow_pose(bone: bpy.types.PoseBone) -> float:
    """How far a bone is held to its keyed pose, 0 … 1."""
    holder: Any = bone
    return float(holder.verlet_follow_pose)


def armature_of(obj: bpy.types.Object) -> bpy.types.Object | None:
    """The armature whose bones a body is made of; None for other bodies."""
    holder: Any = obj
    armature: bpy.types.Object | None = holder.verlet.armature
    if armature is None or armature.type != "ARMATURE" or obj.type != "MESH":
        return None
    return armature


def soft_bones(obj: bpy.types.Object) -> list[bpy.types.PoseBone]:
    """Bones of a body of them, parents first; those that are gone are left out."""
    armature = armature_of(obj)
    if armature is None or armature.pose is None:
        return []
    bones: Any = armature.pose.bones
    found = (bones.get(group.name) for group in obj.vertex_groups)
    return [bone for bone in found if bone is not None]


def bone_values(obj: bpy.types.Object) -> list[tuple[object, ...]]:
    """Names and settings of a body's bones; empty for other bodies."""
    every = ((bone, bone_properties(bone)) for bone in soft_bones(obj))
    return [(bone.name, *(getattr(its, name) for name in BONE_NAMES)) for bone, its in every]


def largest_radius(obj: bpy.types.Object) -> float:
    """The largest radius of a body's bones [m]."""
    return max((bone_properties(bone).radius for bone in soft_bones(obj)), default=0.0)
