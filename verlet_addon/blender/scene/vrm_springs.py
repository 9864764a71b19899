"""Spring bones of VRM: as its add-on for Blender stores them, and as its files do.

Sources: VRMC_springBone-1.0 and the schema of `secondaryAnimation` of VRM 0.x, both in
github.com/vrm-c/vrm-specification, and the property groups of
github.com/saturday06/VRM-Addon-for-Blender.
"""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...core.errors import FileError
from .addon_properties import addon_property
from .spring_bones import (
    ColliderShape,
    RigSprings,
    SpringBone,
    capsule,
    dragged_swing,
    in_chains,
    own_moments,
)
from .vrm_file import NodePlaces, read_gltf

STEP = 1.0 / 60.0
"""Time between frames for which VRM's settings are made [s]; its formulas depend on it."""
NAMES = {
    "dragForce": "drag_force",
    "hitRadius": "hit_radius",
    "gravityPower": "gravity_power",
}
"""By the name of a setting in files, its name in the add-on, where they differ."""
CAPSULE, PLANE = 1, 2
"""Numbers of enumerators of `shape_type`, planes for extended colliders alone."""
SIDEWAYS = 0.99
"""Cosine of the angle between gravity and downward from which on it is told."""


def springs_in_armature(armature: bpy.types.Object) -> RigSprings | None:
    """Spring bones in the properties of the VRM add-on; None without any."""
    stored = addon_property(armature.data, "vrm_addon_extension") or {}
    first = stored.get("vrm0", {}).get("secondary_animation", {})
    second = stored.get("spring_bone1", {})
    # Which version is the default, and so not stored, has changed.
    old = not stored.get("spec_version", bool(second.get("springs")))
    springs = first.get("bone_groups", []) if old else second.get("springs", [])
    if not springs:
        return None
    groups = first.get("collider_groups", []) if old else [second]
    colliders = [
        shape
        for group in groups
        for each in group.get("colliders", [])
        for shape in _shapes_of_empty(armature, each, group if old else each)
    ]
    source = "VRM 0.x spring bones" if old else "VRM 1.0 spring bones"
    return _found(armature, source, springs, colliders, [] if old else second.get("colliders", []))


def springs_in_file(armature: bpy.types.Object, path: Path) -> RigSprings:
    """Spring bones of a .vrm or .glb file, whose nodes have the names of an armature's bones.

    Raises
    ------
    FileError
        The file cannot be read or is no binary glTF.
    """
    content = read_gltf(path)
    try:
        return _springs_in(armature, content, path.name)
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise FileError(
            f"{path.name} has spring bones that are not as VRM describes them; export it anew", path
        ) from error


def _springs_in(armature: bpy.types.Object, content: dict[str, Any], name: str) -> RigSprings:
    """Spring bones in the JSON of a file."""
    extensions = content.get("extensions", {})
    second = extensions.get("VRMC_springBone")
    first = extensions.get("VRM", {}).get("secondaryAnimation", {})
    nodes = NodePlaces(content.get("nodes", []), armature, turned=second is None)
    if second is None:
        springs = [_as_stored(each, nodes) for each in first.get("boneGroups", [])]
        shapes = [
            (group["node"], {**each, "offset": _from_unity(each["offset"])})
            for group in first.get("colliderGroups", [])
            for each in group.get("colliders", [])
        ]
    else:
        springs = [_as_stored(each, nodes) for each in second.get("springs", [])]
        shapes = [
            (each["node"], shape)
            for each in second.get("colliders", [])
            if _is_outside(each)
            for shape in each.get("shape", {}).values()
        ]
    colliders = [shape for node, its in shapes for shape in _shapes_of_node(nodes, node, its)]
    stored = (second or {}).get("colliders", [])
    return _found(armature, f"spring bones of {name}", springs, colliders, stored)


def _found(
    armature: bpy.types.Object,
    source: str,
    springs: list[dict[str, Any]],
    colliders: list[ColliderShape],
    stored: list[dict[str, Any]],
) -> RigSprings:
    """Spring bones of an armature by springs and colliders as the add-on stores them."""
    data: Any = armature.data
    bones, sideways = {}, False
    for spring in springs:
        for name, its in _joints(armature, spring):
            sideways |= its["gravity"] > 0.0 and its["down"] < SIDEWAYS
            # Those of VRM 0.x are for all bones that stand on one, which may have its own.
            below = [] if "joints" in spring else data.bones[name].children_recursive
            for each in (name, *(child.name for child in below)):
                bones[each] = _bone(armature, each, its)
    bones = in_chains(armature, bones, own_moments)
    left_out = _left_out(springs)
    if not all(map(_is_outside, stored)):
        left_out.append("Planes and colliders that hold bones inside are not read")
    if sideways:
        left_out.append("Gravity acts downward alone; use a Wind for other directions")
    return RigSprings(source=source, bones=bones, colliders=colliders, left_out=left_out)


def _joints(
    armature: bpy.types.Object, spring: dict[str, Any]
) -> list[tuple[str, dict[str, float]]]:
    """Names of bones of a spring that the armature has, and their settings.

    The last joint of springs of VRM 1.0 is the end of the bone before, and has no settings.
    """
    data: Any = armature.data
    found = [
        (_bone_name(armature, joint.get("node", {})), _settings(joint, 1.0, 0.5))
        for joint in spring.get("joints", [])[:-1]
    ]
    found += [
        (_bone_name(armature, bone), _settings(spring, 0.0, 0.0))
        for bone in spring.get("bones", [])
    ]
    return [(name, its) for name, its in found if name in data.bones]


def _bone(armature: bpy.types.Object, name: str, its: dict[str, float]) -> SpringBone:
    """A bone with the settings of a joint."""
    data: Any = armature.data
    bone = data.bones[name]
    scale = armature.matrix_world.median_scale
    share = STEP * its["stiffness"] / (bone.length * scale)
    frequency, ratio, air = dragged_swing(share / (1.0 + share), its["drag"], STEP)
    return SpringBone(
        frequency=frequency,
        damping_ratio=ratio,
        radius=its["radius"] * scale or None,
        gravity=its["gravity"] * its["down"] / STEP,
        air_damping=air,
    )


def _settings(stored: dict[str, Any], stiffness: float, drag: float) -> dict[str, float]:
    """Settings of a joint or spring, with these defaults for what is not stored."""
    x, y, z = stored.get("gravity_dir") or (0.0, 0.0, 0.0)
    length = float(np.linalg.norm([x, y, z]))
    return {
        "stiffness": float(stored.get("stiffness", stored.get("stiffiness", stiffness))),
        "drag": float(stored.get("drag_force", drag)),
        "radius": float(stored.get("hit_radius", 0.0)),
        "gravity": float(stored.get("gravity_power", 0.0)),
        "down": -z / length if length else 1.0,
    }


def _as_stored(spring: dict[str, Any], nodes: NodePlaces) -> dict[str, Any]:
    """A spring or joint of a file as the add-on stores it, with Blender's axes."""
    found = {NAMES.get(key, key): value for key, value in spring.items()}
    if isinstance(way := spring.get("gravityDir"), dict):
        way = [way["x"], way["y"], way["z"]]
    if way is not None:
        found["gravity_dir"] = [way[0], -way[2], way[1]]
    if "bones" in spring:
        found["bones"] = [{"bone_name": nodes.name(node)} for node in spring["bones"]]
    if "node" in spring:
        found["node"] = {"bone_name": nodes.name(spring["node"])}
    found["joints"] = [_as_stored(joint, nodes) for joint in spring.get("joints", [])]
    if "joints" not in spring:
        del found["joints"]
    found["center"] = {"bone_name": nodes.name(spring.get("center", -1))}
    found["collider_groups"] = [{"value": each} for each in spring.get("colliderGroups", [])]
    return found


def _from_unity(place: dict[str, float]) -> list[float]:
    """A place in the axes of glTF; VRM 0.x has those of Unity, whose z is opposite."""
    return [place["x"], place["y"], -place["z"]]


def _left_out(springs: list[dict[str, Any]]) -> list[str]:
    """Sentences on centers, and on springs that meet other colliders than others do."""
    sentences = []
    centers = [spring.get("center") or {} for spring in springs]
    if any(each.get("bone_name") or each.get("bone_uuid") for each in centers):
        sentences.append("Centers of springs are not read; use Less Inertia in their place")
    uses = [
        {each.get("collider_group_uuid", each.get("value")) for each in its}
        for its in (spring.get("collider_groups", []) for spring in springs)
    ]
    if any(each != uses[0] for each in uses):
        sentences.append("All soft bones meet all colliders, whatever the groups of their springs")
    return sentences


def _bone_name(armature: bpy.types.Object, node: dict[str, Any]) -> str:
    """Name of the bone that the add-on refers to, by name or by the bone's UUID."""
    if name := node.get("bone_name") or node.get("value"):
        return str(name)
    data: Any = armature.data
    for bone in data.bones if node.get("bone_uuid") else ():
        its = addon_property(bone, "vrm_addon_extension") or {}
        if its.get("uuid") == node["bone_uuid"]:
            return str(bone.name)
    return ""


def _is_outside(collider: dict[str, Any]) -> bool:
    """Whether bones stay outside a collider of VRM 1.0, a sphere or a capsule.

    Source: VRMC_springBone_extended_collider-1.0, which has others.
    """
    given = collider.get("extensions", {})
    extended = given.get("VRMC_springBone_extended_collider")
    if extended is None:
        extended = given.get("vrmc_spring_bone_extended_collider", {})
        if not extended.get("enabled"):
            return True
    shape = extended.get("shape", {})
    is_plane = extended.get("shape_type") == PLANE or set(shape) == {"plane"}
    return not is_plane and not any(each.get("inside") for each in shape.values())


def _shapes_of_empty(
    armature: bpy.types.Object, collider: dict[str, Any], holder: dict[str, Any]
) -> list[ColliderShape]:
    """The shape of a collider, an empty with the display size of its radius; at most one.

    The empty of a capsule has a child at its other end.
    """
    obj = collider.get("bpy_object") or collider.get("blender_object")
    if not isinstance(obj, bpy.types.Object) or not _is_outside(collider):
        return []
    pose: Any = armature.pose
    name = _bone_name(armature, holder.get("node", {}))
    bone = pose.bones.get(name)
    space = armature.matrix_world @ (Matrix() if bone is None else bone.matrix)
    inverse = space.inverted()
    start = (inverse @ obj.matrix_world).translation
    ends = [each for each in obj.children if collider.get("shape_type") == CAPSULE]
    end = (inverse @ ends[0].matrix_world).translation if ends else start
    radius = obj.empty_display_size * obj.matrix_basis.median_scale
    return _shape(obj.name, "" if bone is None else name, start, end, radius)


def _shapes_of_node(nodes: NodePlaces, node: int, shape: dict[str, Any]) -> list[ColliderShape]:
    """The shape of a collider of a file, in the space of its bone; none without that bone."""
    if not nodes.has_bone(node):
        return []
    start = nodes.in_bone(node, shape.get("offset", (0.0, 0.0, 0.0)))
    end = nodes.in_bone(node, shape["tail"]) if "tail" in shape else start
    name = nodes.name(node)
    return _shape(name, name, start, end, shape.get("radius", 0.0) * nodes.scale)


def _shape(name: str, bone: str, start: Vector, end: Vector, radius: float) -> list[ColliderShape]:
    """A capsule as a collider; none without a radius."""
    if radius <= 0.0:
        return []
    points, faces = capsule(start, end, radius)
    return [ColliderShape(name=name, bone=bone, points=points, faces=faces)]
