"""Settings of soft bones, properties of pose bones, and those of the bodies of soft bones.

A body of bones is a mesh of their joints, which is named by its armature; its vertex groups name
the bones.
"""

from math import pi
from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, PointerProperty, StringProperty

# The stubs say that the functions of bpy.props return nothing.
_properties: Any = bpy.props
_OVERRIDE = {"LIBRARY_OVERRIDABLE"}

# Not in a group: Blender keys no groups of bones, and forgets groups of overridden ones.
BONE_SETTINGS: dict[str, Any] = {
    "frequency": _properties.FloatProperty(
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
        override=_OVERRIDE,
    ),
    "damping_ratio": _properties.FloatProperty(
        name="Damping",
        description="How soon these swings die down: each is smaller by a half at 0.1; at 1 there "
        "are none",
        default=0.3,
        min=0.0,
        soft_max=2.0,
        step=1,
        precision=2,
        options=set(),
        override=_OVERRIDE,
    ),
    "follow_pose": _properties.FloatProperty(
        name="Follow Pose",
        description="How far the bone is held to its keyed pose: 0 swings freely, 1 is the keyed "
        "pose",
        default=0.0,
        min=0.0,
        max=1.0,
        step=10,
        subtype="FACTOR",
        options={"ANIMATABLE"},
        override=_OVERRIDE,
    ),
    "radius": _properties.FloatProperty(
        name="Radius",
        description="Distance that the bone keeps from what it touches",
        default=0.01,
        min=0.0,
        soft_max=1.0,
        step=0.1,
        precision=4,
        subtype="DISTANCE",
        options=set(),
        override=_OVERRIDE,
    ),
    "angle_limit": _properties.FloatProperty(
        name="Angle Limit",
        description="How far the bone may turn away from its keyed pose, relative to the bone "
        "before; 180° is no limit",
        default=pi,
        min=0.0,
        max=pi,
        subtype="ANGLE",
        options=set(),
        override=_OVERRIDE,
    ),
}
"""Settings of soft bones: the properties of `PoseBone`, by their names without `verlet_`."""

BONE_FORMS = (
    ("CONSTRAINTS", "Constraints", "No keys: a constraint points each bone at its joint"),
    ("ACTION", "Keys in New Action", "Keys of the rotations of soft bones in a copy of the action"),
    (
        "NLA",
        "NLA Track",
        "Keys in a track of the NLA above the action, which stays as it is. A glTF has them with "
        "the animation mode Scene alone",
    ),
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
    skirts: StringProperty(
        name="Skirts",
        description="Chains of soft bones that are joined as cloth: the first bones of each",
        options={"HIDDEN"},
    )
    bone_colliders: PointerProperty(
        name="Bone Colliders",
        description="Colliders that were made with soft bones from other add-ons",
        type=bpy.types.Collection,
        options={"HIDDEN"},
    )
    is_bone_collider: BoolProperty(
        name="Bone Collider",
        description="Made with soft bones from other add-ons, and removed with these",
        options={"HIDDEN"},
    )
    muted_constraints: StringProperty(
        name="Muted Constraints",
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
        description="Soft bones and hair were drawn with their weight: gravity acts on them only "
        "as far as what they stand on turns, and a still pose or groom stays as it is",
        default=True,
        options=set(),
    )


def property_name(name: str) -> str:
    """Name of the property of a bone that holds a setting."""
    return f"verlet_{name}"


def bone_setting(bone: bpy.types.PoseBone, name: str) -> float:
    """A setting of a bone."""
    return float(getattr(bone, property_name(name)))


def set_bone(bone: bpy.types.PoseBone, **settings: float) -> None:
    """Sets settings of a bone."""
    for name, value in settings.items():
        setattr(bone, property_name(name), value)


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
    names = [name for name in BONE_SETTINGS if name != "follow_pose"]  # that may be keyed
    bones = soft_bones(obj)
    return [(bone.name, *(bone_setting(bone, name) for name in names)) for bone in bones]


def largest_radius(obj: bpy.types.Object) -> float:
    """The largest radius of a body's bones [m]."""
    return max((bone_setting(bone, "radius") for bone in soft_bones(obj)), default=0.0)
