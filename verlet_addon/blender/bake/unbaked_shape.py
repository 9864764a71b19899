"""Backup of a body's shape without its bake, for the case that the user deletes its Basis.

Blender then makes the next shape key the Basis, which may be a baked one, and gives the mesh its
shape.
"""

from collections.abc import Collection
from typing import Any, cast

import bpy
import numpy as np

from ...core.arrays import Floats
from ..scene.curve_points import is_curve
from ..scene.mesh_access import (
    fits,
    mesh_of,
    read_key,
    read_shape,
    shape_keys_of,
    write_key,
    write_shape,
)

_ATTRIBUTE = ".verlet_rest"
"""Name of the mesh attribute, or of a curve's custom property, since curves have no attributes;
Blender neither lists nor exports attributes that begin with a dot."""


def remember_rest(obj: bpy.types.Object) -> None:
    """Stores the current shape of an object's Basis, or of its mesh without shape keys."""
    forget_rest(obj)
    key, holder = shape_keys_of(obj), cast(Any, obj.data)
    rest = read_key(key.reference_key) if key else read_shape(obj)
    if is_curve(obj):
        holder[_ATTRIBUTE] = rest.ravel().tolist()
        return
    attribute: Any = holder.attributes.new(_ATTRIBUTE, "FLOAT_VECTOR", "POINT")
    attribute.data.foreach_set("vector", rest.astype(np.float32).ravel())


def forget_rest(obj: bpy.types.Object) -> None:
    """Removes the shape that `remember_rest` stored."""
    if is_curve(obj):
        cast(Any, obj.data).pop(_ATTRIBUTE, None)
        return
    attributes = mesh_of(obj).attributes
    if (attribute := attributes.get(_ATTRIBUTE)) is not None:
        attributes.remove(attribute)


def has_lost_basis(obj: bpy.types.Object, baked: Collection[str]) -> bool:
    """Whether one of the baked keys has become the Basis while a rest shape is stored."""
    key = shape_keys_of(obj)
    stored = cast(Any, obj.data) if is_curve(obj) else mesh_of(obj).attributes
    if key is None or _ATTRIBUTE not in stored:
        return False
    return key.reference_key.name in baked and fits(key.reference_key, obj)


def show_rest(obj: bpy.types.Object) -> Floats:
    """Sets the reference key to the stored shape; returns its coordinates (n, 3) before."""
    block = cast(bpy.types.Key, shape_keys_of(obj)).reference_key
    before = read_key(block)
    write_key(block, _rest(obj))
    return before


def restore_basis(obj: bpy.types.Object) -> None:
    """Sets the reference key and the mesh to the stored shape, and names the key Basis again."""
    show_rest(obj)
    write_shape(obj, _rest(obj))
    cast(bpy.types.Key, shape_keys_of(obj)).reference_key.name = "Basis"


def _rest(obj: bpy.types.Object) -> Floats:
    """(n, 3) coordinates that `remember_rest` stored."""
    if is_curve(obj):
        return np.array(cast(Any, obj.data)[_ATTRIBUTE], np.float64).reshape(-1, 3)
    attribute: Any = mesh_of(obj).attributes[_ATTRIBUTE]
    rest = np.empty(3 * len(attribute.data), np.float32)
    attribute.data.foreach_get("vector", rest)
    return rest.reshape(-1, 3).astype(np.float64)
