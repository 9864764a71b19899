"""Backup of a mesh's shape without its bake, for the case that the user deletes its Basis.

Blender then makes the next shape key the Basis, which may be a baked one, and gives the mesh its
shape.
"""

from collections.abc import Collection
from typing import Any, cast

import bpy
import numpy as np

from ...core.arrays import Floats
from ..scene.mesh_access import (
    fits,
    mesh_of,
    read_coordinates,
    read_vertices,
    shape_keys_of,
    write_coordinates,
)

_ATTRIBUTE = ".verlet_rest"
"""Name of the mesh attribute; Blender neither lists nor exports those that begin with a dot."""


def remember_rest(obj: bpy.types.Object) -> None:
    """Stores the current shape of an object's Basis, or of its mesh without shape keys."""
    forget_rest(obj)
    mesh, key = mesh_of(obj), shape_keys_of(obj)
    rest = read_coordinates(key.reference_key.points) if key else read_vertices(mesh)
    attribute: Any = mesh.attributes.new(_ATTRIBUTE, "FLOAT_VECTOR", "POINT")
    attribute.data.foreach_set("vector", rest.astype(np.float32).ravel())


def forget_rest(obj: bpy.types.Object) -> None:
    """Removes the shape that `remember_rest` stored."""
    attributes = mesh_of(obj).attributes
    if (attribute := attributes.get(_ATTRIBUTE)) is not None:
        attributes.remove(attribute)


def has_lost_basis(obj: bpy.types.Object, baked: Collection[str]) -> bool:
    """Whether one of the baked keys has become the Basis while a rest shape is stored."""
    key, mesh = shape_keys_of(obj), mesh_of(obj)
    if key is None or _ATTRIBUTE not in mesh.attributes:
        return False
    return key.reference_key.name in baked and fits(key.reference_key, mesh)


def show_rest(obj: bpy.types.Object) -> Floats:
    """Sets the reference key to the stored shape; returns its coordinates (n, 3) before."""
    points = cast(bpy.types.Key, shape_keys_of(obj)).reference_key.points
    before = read_coordinates(points)
    write_coordinates(points, _rest(obj))
    return before


def restore_basis(obj: bpy.types.Object) -> None:
    """Sets the reference key and the mesh to the stored shape, and names the key Basis again."""
    show_rest(obj)
    write_coordinates(mesh_of(obj).vertices, _rest(obj))
    cast(bpy.types.Key, shape_keys_of(obj)).reference_key.name = "Basis"


def _rest(obj: bpy.types.Object) -> Floats:
    """(n, 3) coordinates that `remember_rest` stored."""
    attribute: Any = mesh_of(obj).attributes[_ATTRIBUTE]
    rest = np.empty(3 * len(attribute.data), np.float32)
    attribute.data.foreach_get("vector", rest)
    return rest.reshape(-1, 3).astype(np.float64)
