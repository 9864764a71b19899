"""Flesh as it was modelled: the mesh without what poses it."""

from typing import Any

import bpy

from ...core.arrays import Floats
from ...core.errors import MeshError
from ..settings.properties import body_properties
from .action_channels import all_channels
from .cages import simulated_object
from .mesh_access import group_weights, mesh_of, read_key, read_shape, shape_keys_of
from .mirrors import find_joints


def check_flesh(obj: bpy.types.Object) -> None:
    """Raises MeshError where an object is of type Flesh and can be none."""
    if body_properties(obj).body_type != "FLESH" or obj.type != "MESH":
        return
    simulated = simulated_object(obj)
    if not mesh_of(simulated).polygons:
        raise MeshError(f"{simulated.name} has no faces to be the skin of flesh; choose Rope")
    for name, _ in find_joints(simulated):
        raise MeshError(
            f"{simulated.name} is half of a body, which its modifier {name} completes, and flesh "
            f"has to be whole; apply {name}"
        )


def modelled_shape(obj: bpy.types.Object) -> Floats:
    """(n, 3) vertices of a mesh without carriers, and without shape keys that are animated.

    Shape keys with a constant value are part of what was modelled.
    """
    key = shape_keys_of(obj)
    if key is None:
        return read_shape(obj)
    shape = read_key(key.reference_key)
    if not key.use_relative:
        return shape
    posing = _animated_values(key)
    for block in key.key_blocks:
        if block.mute or block.value == 0.0 or block.path_from_id("value") in posing:
            continue
        weights = group_weights(obj, block.vertex_group)[:, None] if block.vertex_group else 1.0
        shape = shape + block.value * weights * (read_key(block) - read_key(block.relative_key))
    return shape


def _animated_values(key: bpy.types.Key) -> set[str]:
    """Paths of what curves and drivers animate of shape keys."""
    animation: Any = key.animation_data
    held = [() if animation is None else animation.drivers]
    held += [channels.fcurves for channels in all_channels(key)]
    return {curve.data_path for curves in held for curve in curves}
