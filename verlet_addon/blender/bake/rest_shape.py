"""The shape that a mesh has without a bake, kept beside it in case its Basis is removed by hand.

With the Basis goes the mesh's own shape: Blender puts that of the next key in its place, and the
next key may be a baked one.
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
"""Blender neither lists nor exports attributes whose name begins with a dot."""


def remember_rest(obj: bpy.types.Object) -> None:
    """Keeps the shape that an object's mesh has now, in its Basis or without keys."""
    forget_rest(obj)
    mesh, key = mesh_of(obj), shape_keys_of(obj)
    rest = read_coordinates(key.reference_key.points) if key else read_vertices(mesh)
    attribute: Any = mesh.attributes.new(_ATTRIBUTE, "FLOAT_VECTOR", "POINT")
    attribute.data.foreach_set("vector", rest.astype(np.float32).ravel())


def forget_rest(obj: bpy.types.Object) -> None:
    """Removes what `remember_rest` keeps."""
    attributes = mesh_of(obj).attributes
    if (attribute := attributes.get(_ATTRIBUTE)) is not None:
        attributes.remove(attribute)


def has_lost_basis(obj: bpy.types.Object, baked: Collection[str]) -> bool:
    """Whether one of the baked keys has become the Basis, and the rest shape is known."""
    key, mesh = shape_keys_of(obj), mesh_of(obj)
    if key is None or _ATTRIBUTE not in mesh.attributes:
        return False
    return key.reference_key.name in baked and fits(key.reference_key, mesh)


def show_rest(obj: bpy.types.Object) -> Floats:
    """Gives the first key the rest shape; returns the coordinates (n, 3) that it had."""
    points = cast(bpy.types.Key, shape_keys_of(obj)).reference_key.points
    before = read_coordinates(points)
    write_coordinates(points, _rest(obj))
    return before


def restore_basis(obj: bpy.types.Object) -> None:
    """Makes the first key the Basis again, and gives it and the mesh the rest shape."""
    show_rest(obj)
    write_coordinates(mesh_of(obj).vertices, _rest(obj))
    cast(bpy.types.Key, shape_keys_of(obj)).reference_key.name = "Basis"


def _rest(obj: bpy.types.Object) -> Floats:
    """(n, 3) coordinates that `remember_rest` kept."""
    attribute: Any = mesh_of(obj).attributes[_ATTRIBUTE]
    rest = np.empty(3 * len(attribute.data), np.float32)
    attribute.data.foreach_get("vector", rest)
    return rest.reshape(-1, 3).astype(np.float64)
