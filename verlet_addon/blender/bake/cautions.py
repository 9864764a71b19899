"""Warnings before a bake of settings that have another effect than the user may expect."""

from collections.abc import Iterator, Sequence
from typing import cast

import bpy
import numpy as np
from mathutils.kdtree import KDTree

from ...core.self_test import fallback_warnings
from ..scene.attachments import acting_attachments, boneless_attachments
from ..scene.cages import simulated_object
from ..scene.colliders import is_collider
from ..scene.force_fields import (
    enabled_fields,
    fields_in_reach,
    particles_with_fields,
    why_without_effect,
)
from ..scene.mesh_access import group_weights, mesh_of, read_vertices
from ..scene.mirrors import find_joints, joins, later_carriers, read_planes, shown_mirrors, touches
from ..scene.ownership import is_own
from ..scene.visibility import is_shown, is_shown_sometimes
from ..settings.properties import body_properties, is_body
from ..settings.versions import quick_build
from .bone_cautions import bone_cautions
from .collider_cautions import colliders_without_effect
from .flesh_cautions import flesh_cautions
from .hidden_bakes import hidden_bakes
from .idle_keys import idle_keys
from .record import is_baked


def cautions(
    scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, objects: Sequence[bpy.types.Object]
) -> list[str]:
    """Lists warnings before a bake of these bodies, including of those that it leaves out.

    Each is one sentence that names the object, the effect and the remedy.
    """
    shown = [obj for obj in objects if is_shown(obj, view_layer)]
    baked = [obj for obj in shown if is_own(obj)]
    meshes = [obj for obj in baked if obj.type == "MESH"]
    away = [obj.name for obj in objects if obj not in shown]
    # Linked bodies with a bake from their own file play it, so they need no warning.
    foreign = [obj.name for obj in shown if not is_own(obj) and not is_baked(obj)]
    depsgraph = cast(bpy.types.Depsgraph, view_layer.depsgraph)
    return [
        *_slow_kernels(),
        *_left_out(away, "hidden", "show {them}"),
        *(sentence for obj in baked for sentence in _hidden_sometimes(obj)),
        *_left_out(foreign, "linked from another file", "override {them}, or make {them} local,"),
        *(_instanced_bodies(scene, view_layer) if _are_all(objects, scene) else ()),
        *(sentence for obj in baked for sentence in _unfinished_attachments(obj)),
        *(sentence for obj in baked for sentence in _empty_groups(obj)),
        *(sentence for obj in baked for sentence in _pinned_and_attached(obj)),
        *(sentence for obj in baked for sentence in _without_threads(obj)),
        *(sentence for obj in meshes for sentence in flesh_cautions(obj)),
        *bone_cautions(view_layer, meshes),
        *idle_keys(scene, view_layer, baked),
        *hidden_bakes(baked, depsgraph),
        *_gravity_in_units(scene),
        *colliders_without_effect(scene, view_layer, baked),
        *(_instanced_colliders(scene, view_layer) if baked else ()),
        *_fields_without_effect(view_layer, baked),
        *(each for obj in meshes for each in _torn_at_mirrors(simulated_object(obj))),
        *(sentence for obj in meshes for sentence in _across_mirrors(scene, obj, depsgraph)),
        *(each for obj in meshes for each in _torn_by_merging(obj)),
    ]


def _slow_kernels() -> Iterator[str]:
    """Warnings of NumPy kernels; a hint at a quicker build comes once in a session.

    Whoever has chosen that build need not read it at each bake; the preferences have it always.
    """
    for remark in fallback_warnings(quick_build()):
        if remark.grade != "INFO" or remark not in _told:
            _told.add(remark)
            yield remark


_told: set[str] = set()
"""What has been said of kernels since Blender has started."""


def _left_out(names: list[str], state: str, remedy: str) -> Iterator[str]:
    """Warning of bodies left out of the bake; `remedy` contains `{them}` for their pronoun."""
    if names:
        whom, is_one = ", ".join(names), len(names) == 1
        remedy = remedy.format(them="it" if is_one else "them")
        yield (
            f"{whom} is {state} and left out; {remedy} to bake it too"
            if is_one
            else f"{whom} are {state} and left out; {remedy} to bake them too"
        )


def _hidden_sometimes(obj: bpy.types.Object) -> Iterator[str]:
    """Warning of a body that is simulated at frames at which it is not seen."""
    if is_shown_sometimes(obj):
        yield (
            f"The visibility of {obj.name} in viewports is animated, and it is simulated and "
            "collides at all frames, seen or not; switch it off by the checkbox of its panel if "
            "that is not meant"
        )


def why_nothing(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> str:
    """Sentence that says why a scene has nothing to bake, with the remedy."""
    if any(map(is_body, scene.objects)):
        return (
            f"All soft bodies of {scene.name} are switched off; switch one on by the checkbox of "
            "its panel Soft Body"
        )
    none = f"There is no soft body in {scene.name}; select a mesh and press Make Soft Body"
    return next(_instanced_bodies(scene, view_layer), none)


def _are_all(objects: Sequence[bpy.types.Object], scene: bpy.types.Scene) -> bool:
    """Whether these are all enabled bodies of a scene."""
    chosen = set(objects)
    return all(obj in chosen for obj in scene.objects if body_properties(obj).enabled)


def _instanced_bodies(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> Iterator[str]:
    """Warnings of bodies without a bake that the scene shows only in instances of collections."""
    for instance, inside in _instances(scene, view_layer):
        names = [obj.name for obj in inside if body_properties(obj).enabled and not is_baked(obj)]
        if names:
            yield f"{instance}, so {', '.join(names)} in there will not move; {_MAKE_REAL}"


def _instanced_colliders(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> Iterator[str]:
    """Warnings of colliders that the scene shows only in instances of collections."""
    for instance, inside in _instances(scene, view_layer):
        if names := [obj.name for obj in inside if is_collider(obj)]:
            yield f"{instance}, so bodies pass through {', '.join(names)} in there; {_MAKE_REAL}"


_MAKE_REAL = "make it real by Object ▸ Apply ▸ Make Instances Real"


def _instances(
    scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer
) -> Iterator[tuple[str, list[bpy.types.Object]]]:
    """Text that names each instance of a collection, and its objects that the scene lacks."""
    own = set(scene.objects)
    for obj in view_layer.objects:
        shown = obj.instance_collection if obj.instance_type == "COLLECTION" else None
        if shown is not None and is_shown(obj, view_layer):
            inside = [each for each in shown.all_objects if each not in own]
            yield f"{obj.name} is an instance of {shown.name}", inside


def _unfinished_attachments(obj: bpy.types.Object) -> Iterator[str]:
    """Warnings of attachments without a target object, a vertex group or a bone."""
    complete = [number for number, _ in acting_attachments(obj)]
    for number, item in enumerate(body_properties(obj).attachments):
        if number in complete or body_properties(obj).body_type == "FLESH":
            continue
        missing = "vertex group" if item.target not in (None, obj) else "object to follow"
        yield (
            f"Attachment {number + 1} of {obj.name} has no {missing}, so it has no effect; choose "
            "one, or remove the attachment"
        )
    for number, item in boneless_attachments(obj):
        yield (
            f"Attachment {number + 1} of {obj.name} names no bone of {item.target.name}, so it "
            "follows that object and not its pose; choose a bone, or attach it to an empty that "
            "moves with the object"
        )


def _empty_groups(obj: bpy.types.Object) -> Iterator[str]:
    """Warnings of chosen vertex groups without vertices."""
    body, painted = body_properties(obj), simulated_object(obj)
    named = ("pin_group", "rigid_group") if body.body_type != "FLESH" else ("muscle_group",)
    chosen = [(name.replace("_", " "), getattr(body, name)) for name in named]
    attached = acting_attachments(obj)
    chosen += [
        (f"group of attachment {number + 1}", item.vertex_group) for number, item in attached
    ]
    for what, name in chosen:
        if name and not group_weights(painted, name).any():
            yield (
                f"No vertex of {painted.name} is in its {what}, {name}; assign some to it in Edit "
                "Mode, or choose another one"
            )


def _pinned_and_attached(obj: bpy.types.Object) -> Iterator[str]:
    """Warnings of attachments whose vertices are pinned entirely, so that they lag behind."""
    if not (pin_group := body_properties(obj).pin_group):
        return
    painted = simulated_object(obj)
    pinned = group_weights(painted, pin_group) == 1.0
    for _, item in acting_attachments(obj):
        if (pinned & (group_weights(painted, item.vertex_group) > 0.0)).any():
            yield (
                f"{obj.name} is attached to {item.target.name} by vertices that are pinned too, "
                f"so they follow it half way; clear its pin group, {pin_group}, or unpin them"
            )


def _without_threads(obj: bpy.types.Object) -> Iterator[str]:
    """Warnings of cloth with Sewing or Tearing but without the loose edges that these need."""
    body = body_properties(obj)
    if body.body_type != "CLOTH" or not (body.use_sewing or body.use_tearing):
        return
    edges = mesh_of(simulated_object(obj)).edges
    loose = np.empty(len(edges), bool)
    edges.foreach_get("is_loose", loose)
    if loose.any():
        return
    if body.use_sewing:
        yield (
            f"Sewing of {obj.name} is on, but no edge without faces joins its parts; add such "
            "edges in Edit Mode, or turn Sewing off"
        )
    if body.use_tearing:
        yield (
            f"Tearing of {obj.name} is on, but its mesh has no split edges; select edges in Edit "
            "Mode and choose Split for Tearing, or turn Tearing off"
        )


def _gravity_in_units(scene: bpy.types.Scene) -> Iterator[str]:
    """Warnings of gravity of 9.81 units/s² in a scene whose unit is not the metre."""
    units, strength = scene.unit_settings, float(np.linalg.norm(np.array(scene.gravity)))
    if units.system == "NONE" or not scene.use_gravity or abs(units.scale_length - 1) < 1e-6:
        return
    if abs(strength - 9.81) < 0.01:
        yield (
            f"The unit scale of {scene.name} is {units.scale_length:g}, so its gravity of "
            f"{strength:g} units is {strength * units.scale_length:.3g} m/s²; for the Earth's, "
            f"set it to -9.81 m/s² ({-9.81 / units.scale_length:g} in a script)"
        )


def _fields_without_effect(
    view_layer: bpy.types.ViewLayer, objects: Sequence[bpy.types.Object]
) -> Iterator[str]:
    """Warnings of force fields without effect, or with settings that have none."""
    felt = [obj for obj in objects if body_properties(obj).wind > 0]
    enabled = enabled_fields(view_layer)
    fields = {field.name: field for obj in felt for field in fields_in_reach(obj, enabled)}
    for name, field in fields.items():
        if reason := why_without_effect(field):
            yield f"The force field {name} does not act on soft bodies, since {reason}"
        elif cast(bpy.types.FieldSettings, field.field).use_absorption:
            yield (
                f"The force field {name} also acts through colliders, since Absorption has no "
                "effect on soft bodies; turn it off, or limit the field's distance"
            )
    for name, system in particles_with_fields(view_layer) if felt else ():
        yield (
            f"The force field of the particles {system} of {name} does not act on soft bodies; use "
            "an object with a force field instead"
        )


def _torn_at_mirrors(obj: bpy.types.Object) -> Iterator[str]:
    """Warnings of Mirror modifiers whose halves touch but are not joined."""
    for mirror in shown_mirrors(obj):
        if not any(mirror.use_axis[axis] and touches(obj, mirror, axis) for axis in range(3)):
            continue
        if not joins(mirror):
            yield (
                f"The modifier {mirror.name} of {obj.name} does not join its halves, which will "
                "part where they touch; turn on Merge"
            )
        elif carriers := later_carriers(obj, mirror):
            yield (
                f"The modifier {carriers[0].name} of {obj.name} deforms the halves of "
                f"{mirror.name} separately, so they may part; move {mirror.name} below "
                f"{carriers[0].name}, or apply {mirror.name}"
            )


def _across_mirrors(
    scene: bpy.types.Scene, obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph
) -> Iterator[str]:
    """Warnings of gravity across a mirror's plane, which mirrored halves cannot follow."""
    gravity = np.array(scene.gravity if scene.use_gravity else (0, 0, 0))
    gravity, obj = gravity * body_properties(obj).gravity, simulated_object(obj)
    joints = find_joints(obj)
    for (name, axis), plane in zip(joints, read_planes(obj, joints, depsgraph), strict=True):
        mirror = cast(bpy.types.MirrorModifier, obj.modifiers[name])
        across = abs(gravity @ plane.normal) > 0.1 * np.linalg.norm(gravity)
        if across and touches(obj, mirror, axis):
            yield (
                f"Gravity pulls {obj.name} across the plane of its modifier {name}, whose halves "
                "can only move as mirror images; apply the modifier"
            )


def _torn_by_merging(obj: bpy.types.Object) -> Iterator[str]:
    """Warnings of modifiers that merge vertices which are simulated separately."""
    for modifier in obj.modifiers:
        if not (modifier.show_viewport or modifier.show_render):
            continue
        if isinstance(modifier, bpy.types.ArrayModifier) and modifier.use_merge_vertices:
            yield (
                f"The modifier {modifier.name} of {obj.name} merges copies that all move the same "
                "way, so they may part where they touch; apply it first"
            )
        if isinstance(modifier, bpy.types.WeldModifier) and _welds(obj, modifier):
            yield (
                f"The modifier {modifier.name} of {obj.name} merges vertices that are simulated "
                "separately, so they may part; apply it first"
            )


def _welds(obj: bpy.types.Object, modifier: bpy.types.WeldModifier) -> bool:
    """Whether a Weld modifier merges any vertices that no edge connects."""
    if modifier.mode != "ALL":
        return False
    places = read_vertices(mesh_of(obj)).tolist()
    tree = KDTree(len(places))
    for number, place in enumerate(places):
        tree.insert(place, number)
    tree.balance()
    near = {
        (number, other)
        for number, place in enumerate(places)
        for _, other, _ in tree.find_range(place, modifier.merge_threshold)
        if number < other
    }
    return bool(near - {(min(edge.vertices), max(edge.vertices)) for edge in mesh_of(obj).edges})
