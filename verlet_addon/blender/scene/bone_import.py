"""Soft bones and colliders by what other add-ons and files say about an armature."""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import bpy
from mathutils import Matrix

from ...core.errors import MeshError
from ..settings.bone_properties import set_bone, soft_bones
from ..settings.properties import body_properties
from .colliders import make_collider
from .jiggle_bones import springs_of_jiggle_addons
from .mmd_bodies import springs_in_model
from .soft_bones import body_of_bones, make_soft_bones, remove_bone_colliders
from .spring_bones import ColliderShape, RigSprings, SpringBone
from .vrm_springs import springs_in_armature, springs_in_file

EVEN = 1e-3
"""Difference of values, over the largest, from which on bones differ."""


def soft_bones_from_addons(scene: bpy.types.Scene, armature: bpy.types.Object) -> list[str]:
    """Makes bones soft that other add-ons move, with their settings and colliders.

    Reads the properties of the VRM add-on, mmd_tools, Wiggle 2, Wiggle Bone and Jiggle Physics,
    which need not be installed. What they have stored stays as it is.

    Parameters
    ----------
    scene : where the body and the colliders are linked, and whose frame rate the add-ons step by.
    armature : with the bones.

    Returns
    -------
    list
        Sentences: what was found, made and left out.

    Raises
    ------
    MeshError
        No add-on says anything about the armature, or its bones cannot be made soft; nothing is
        changed then.
    """
    own = [springs_in_armature(armature), springs_in_model(armature)]
    found = [each for each in own if each is not None]
    found += springs_of_jiggle_addons(armature, scene)
    if not any(each.bones for each in found):
        raise MeshError(
            f"No spring bones of VRM, MMD, Wiggle or Jiggle Physics are stored with {armature.name}"
            "; for those of a .vrm file, use Soft Bones from VRM File"
        )
    return _make(scene, armature, found)


def soft_bones_from_file(
    scene: bpy.types.Scene, armature: bpy.types.Object, path: Path
) -> list[str]:
    """Makes bones soft that are spring bones in a .vrm or .glb file, found by their names.

    Parameters
    ----------
    scene : where the body and the colliders are linked.
    armature : imported from the file by any importer.
    path : of the file.

    Returns
    -------
    list
        Sentences: what was found, made and left out.

    Raises
    ------
    FileError
        The file cannot be read.
    MeshError
        It has no spring bones with names of the armature's bones, or these cannot be made soft.
    """
    found = springs_in_file(armature, path)
    if not found.bones:
        raise MeshError(
            f"{path.name} has no spring bones with the names of bones of {armature.name}; choose "
            "the file that it comes from"
        )
    return _make(scene, armature, [found])


def _make(
    scene: bpy.types.Scene, armature: bpy.types.Object, found: Sequence[RigSprings]
) -> list[str]:
    """Makes bones soft and colliders by all that was found; returns sentences on it."""
    springs = {name: spring for each in reversed(found) for name, spring in each.bones.items()}
    former = body_of_bones(armature)
    kept = set() if former is None else {bone.name for bone in soft_bones(former)} - set(springs)
    body = make_soft_bones(scene, armature, springs)
    for bone in soft_bones(body):
        spring = None if bone.name in kept else _spring_of(bone, springs)
        if spring is not None:
            _set(bone, spring)
    shapes = [shape for each in found for shape in each.colliders]
    _make_colliders(scene, armature, body, shapes)
    counted = [f"{each.source} ({len(each.bones)})" for each in found if each.bones]
    made = f"{len(soft_bones(body))} bones are soft"
    sentences = [
        f"Found {' and '.join(counted)}",
        f"{made}, and have their colliders ({len(shapes)})" if shapes else made,
    ]
    if former is None:
        sentences += _set_body(scene, body, list(springs.values()))
    return sentences + [sentence for each in found for sentence in each.left_out]


def _spring_of(bone: Any, springs: dict[str, SpringBone]) -> SpringBone | None:
    """Settings of a bone, or those of the nearest before it that has any."""
    names = [each.name for each in (bone, *bone.parent_recursive) if each.name in springs]
    return springs[names[0]] if names else None


def _set(bone: bpy.types.PoseBone, spring: SpringBone) -> None:
    """Gives a bone its settings; a radius that is not said stays as it is."""
    set_bone(
        bone,
        frequency=spring.frequency,
        damping_ratio=spring.damping_ratio,
        angle_limit=spring.angle_limit,
    )
    if spring.radius is not None:
        set_bone(bone, radius=spring.radius)


def _set_body(
    scene: bpy.types.Scene, body: bpy.types.Object, springs: list[SpringBone]
) -> list[str]:
    """Gives a new body gravity and damping of air by the mean of its bones; what that leaves out.

    Other programs pull poses out of shape by gravity, so it is not in the pose.
    """
    settings = body_properties(body)
    settings.use_pose_gravity = False
    pulls = [spring.gravity for spring in springs]
    settings.gravity = fmean(pulls) / scene.gravity.length if scene.gravity.length else 0.0
    rates = [spring.air_damping for spring in springs if spring.air_damping is not None]
    if rates:
        settings.damping = fmean(rates)
    means = {"gravity": (pulls, settings.gravity), "damping of air": (rates, settings.damping)}
    return [
        f"Bones have different {name}; all soft bones get the mean, {mean:.2g}"
        for name, (values, mean) in means.items()
        if values and max(values) - min(values) > EVEN * max(map(abs, values))
    ]


def _make_colliders(
    scene: bpy.types.Scene,
    armature: bpy.types.Object,
    body: bpy.types.Object,
    shapes: Sequence[ColliderShape],
) -> None:
    """Gives a body of bones colliders, in place of those from before."""
    remove_bone_colliders(body)
    if not shapes:
        return
    settings = body_properties(body)
    own = bpy.data.collections.new(f"{armature.name} Colliders")
    scene.collection.children.link(own)
    for shape in shapes:
        own.objects.link(_collider(armature, shape))
    settings.bone_colliders = own
    if settings.collision_collection is None:
        settings.collision_collection = own


def _collider(armature: bpy.types.Object, shape: ColliderShape) -> bpy.types.Object:
    """An object with Blender's Collision modifier that goes with a bone, in no render."""
    name = f"{shape.name} Collider"
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(shape.points.tolist(), [], shape.faces)
    obj = bpy.data.objects.new(name, mesh)
    obj.parent = armature
    obj.hide_render, obj.display_type = True, "WIRE"
    if shape.bone:
        data: Any = armature.data
        obj.parent_type, obj.parent_bone = "BONE", shape.bone
        # Children of bones are placed from their tails.
        obj.matrix_parent_inverse = Matrix.Translation((0.0, -data.bones[shape.bone].length, 0.0))
    make_collider(obj)
    body_properties(obj).is_bone_collider = True
    return obj
