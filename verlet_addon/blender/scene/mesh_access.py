"""Access to meshes, shape keys, coordinates and vertex groups as arrays."""

from typing import Any, cast

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats


def mesh_of(obj: bpy.types.Object) -> bpy.types.Mesh:
    """The mesh of a mesh object."""
    return cast(bpy.types.Mesh, obj.data)


def found_again(uid: int) -> bpy.types.Object | None:
    """The object with a `session_uid`, which survives undo and renaming; None if it is gone."""
    return next((obj for obj in bpy.data.objects if obj.session_uid == uid), None)


def shape_keys_of(obj: bpy.types.Object) -> bpy.types.Key | None:
    """The shape keys of an object; None if it has none or is not a mesh."""
    return mesh_of(obj).shape_keys if obj.type == "MESH" else None


def made_keys(obj: bpy.types.Object) -> bpy.types.Key:
    """The shape keys of a mesh object, with a Basis added where it has none."""
    if shape_keys_of(obj) is None:
        obj.shape_key_add(name="Basis", from_mix=False)
    return cast(bpy.types.Key, shape_keys_of(obj))


def add_key(
    obj: bpy.types.Object, name: str, coordinates: Floats | NDArray[np.float32], value: float
) -> bpy.types.ShapeKey:
    """Adds one shape key (n, 3); Blender renames it where `name` is taken."""
    block = obj.shape_key_add(name=name, from_mix=False)
    write_coordinates(block.points, coordinates)
    # The value of a new key is 0 or 1, depending on Blender's version.
    block.value = value
    return block


def fits(block: bpy.types.ShapeKey, mesh: bpy.types.Mesh) -> bool:
    """Whether a shape key has one point per vertex; a script may have changed the mesh since."""
    return len(block.points) == len(mesh.vertices)


def read_coordinates(points: Any) -> Floats:
    """(n, 3) coordinates of a shape key's points."""
    return _read(points, "co")


def read_vertices(mesh: bpy.types.Mesh) -> Floats:
    """(n, 3) coordinates of a mesh's vertices."""
    # A hundred times faster; the attribute is missing in Edit Mode and without vertices.
    if (attribute := mesh.attributes.get("position")) is not None:
        return _read(cast(bpy.types.FloatVectorAttribute, attribute).data, "vector")
    return _read(mesh.vertices, "co")


def _read(points: Any, name: str) -> Floats:
    """(n, 3) values of a vector property of all items."""
    vectors = np.empty(3 * len(points), np.float32)
    points.foreach_get(name, vectors)
    return vectors.reshape(-1, 3).astype(np.float64)


def write_coordinates(points: Any, coordinates: Floats | NDArray[np.float32]) -> None:
    """Sets the coordinates (n, 3) of a shape key's points; Blender keeps them as float32."""
    points.foreach_set("co", np.ascontiguousarray(coordinates, np.float32).ravel())


def group_weights(obj: bpy.types.Object, name: str) -> Floats:
    """(n,) weights of a mesh object's vertices in a group; zeros without one."""
    weights = np.zeros(len(mesh_of(obj).vertices))
    if (group := obj.vertex_groups.get(name)) is not None:
        for vertex in mesh_of(obj).vertices:
            for member in vertex.groups:
                if member.group == group.index:
                    weights[vertex.index] = member.weight
    return weights
