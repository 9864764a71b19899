"""Warnings of what keeps soft bones from showing their simulation as it is meant."""

from collections.abc import Iterator, Sequence
from typing import Any

import bpy

from ..scene.bone_tracks import solvers_beyond
from ..scene.colliders import all_met
from ..scene.file_warnings import some
from ..settings.bone_properties import armature_of, soft_bones
from ..settings.properties import body_properties
from .bone_keys import turning_constraints


def bone_cautions(
    view_layer: bpy.types.ViewLayer, objects: Sequence[bpy.types.Object]
) -> Iterator[str]:
    """Warnings of constraints and colliders of the soft bones of bodies."""
    _, met = all_met(objects, view_layer)
    for obj, numbers in zip(objects, met, strict=True):
        armature = armature_of(obj)
        if armature is None:
            continue
        if names := [f"{each.name} of {bone.name}" for bone, each in solvers_beyond(obj)]:
            yield (
                f"{some(names)} also turns bones of {armature.name} that are not soft, and is off "
                "while they show a simulation; shorten its chain, or make these soft too"
            )
        if body_properties(obj).bones_to != "CONSTRAINTS":
            yield from _muted(armature.name, obj)
        colliders, _ = all_met([obj], view_layer)
        for collider in colliders if numbers else ():
            if _is_skinned(collider, armature, {bone.name for bone in soft_bones(obj)}):
                yield (
                    f"{collider.name}, a collider, is skinned to soft bones of {armature.name}, "
                    "which start inside it; make a mesh without their skin the collider, or choose "
                    "a Collection of colliders without it"
                )


def _muted(name: str, obj: bpy.types.Object) -> Iterator[str]:
    """Information on constraints that are off while keys show."""
    soft = soft_bones(obj)
    bones = [bone for bone in soft if turning_constraints(bone, soft)]
    if bones:
        yield (
            f"Constraints of soft bones of {name} are muted while keys of their bake show, which "
            f"contain what they do: of {some([bone.name for bone in bones])}; Clear Bake turns "
            "them on again"
        )


def _is_skinned(obj: bpy.types.Object, armature: bpy.types.Object, names: set[str]) -> bool:
    """Whether an Armature modifier moves an object by any of some bones."""
    modifiers: Any = obj.modifiers
    skinned = any(
        each.type == "ARMATURE" and each.show_viewport and each.object == armature
        for each in modifiers
    )
    return skinned and any(group.name in names for group in obj.vertex_groups)
