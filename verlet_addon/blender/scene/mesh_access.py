"""Access to meshes and curves, shape keys, coordinates and vertex groups as arrays."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats
from .curve_points import (
    control_count,
    is_curve,
    key_control_count,
    read_controls,
    read_key_controls,
    write_controls,
    write_key_controls,
)
from .hair_curves import hair_of, is_hair, read_points, write_points

_KEYED = ("MESH", "CURVE")
"""Types of objects whose shape keys a bake reads and writes."""


def mesh_of(obj: bpy.types.Object) -> bpy.types.Mesh:
    """The mesh of a mesh object."""
    return cast(bpy.types.Mesh, obj.data)


def found_again(uid: int) -> bpy.types.Object | None:
    """The object with a `session_uid`, which survives undo and renaming; None if it is gone."""
    return next((obj for obj in bpy.data.objects if obj.session_uid == uid), None)


def shape_keys_of(obj: bpy.types.Object) -> bpy.types.Key | None:
    """The shape keys of an object; None if it has none or is neither a mesh nor a curve."""
    return mesh_of(obj).shape_keys if obj.type in _KEYED else None


def made_keys(obj: bpy.types.Object) -> bpy.types.Key:
    """The shape keys of a mesh or curve object, with a Basis added where it has none."""
    if shape_keys_of(obj) is None:
        obj.shape_key_add(name="Basis", from_mix=False)
    return cast(bpy.types.Key, shape_keys_of(obj))


def add_key(
    obj: bpy.types.Object, name: str, coordinates: Floats | NDArray[np.float32], value: float
) -> bpy.types.ShapeKey:
    """Adds one shape key (n, 3); Blender renames it where `name` is taken."""
    block = obj.shape_key_add(name=name, from_mix=False)
    write_key(block, coordinates)
    # The value of a new key is 0 or 1, depending on Blender's version.
    block.value = value
    return block


def blocks_named(obj: bpy.types.Object, names: Iterable[str]) -> list[bpy.types.ShapeKey]:
    """The object's shape keys with these names, as far as they exist."""
    key = shape_keys_of(obj)
    wanted = set(names)
    return [] if key is None else [block for block in key.key_blocks if block.name in wanted]


@contextmanager
def keys_muted(obj: bpy.types.Object, names: Iterable[str]) -> Iterator[None]:
    """Mutes shape keys of an object by their names.

    Within the context the file may be undone or redone, and the object renamed.
    """
    uid, shown = obj.session_uid, [each.name for each in blocks_named(obj, names) if not each.mute]
    for block in blocks_named(obj, shown):
        block.mute = True
    try:
        yield
    finally:
        if (found := found_again(uid)) is not None:
            for block in blocks_named(found, shown):
                block.mute = False


def fits(block: bpy.types.ShapeKey, obj: bpy.types.Object) -> bool:
    """Whether a shape key has one point per point of its object.

    A script may have changed the mesh or the curve since.
    """
    return key_size(block) == point_count(obj)


def key_size(block: bpy.types.ShapeKey) -> int:
    """Number of points of a shape key; of a curve, its control points."""
    return key_control_count(block) if _is_curves(block) else len(block.points)


def point_count(obj: bpy.types.Object) -> int:
    """Number of the points that a shape key of an object has, or of the points of hair."""
    if is_curve(obj):
        return sum(map(control_count, cast(bpy.types.Curve, obj.data).splines))
    return len(hair_of(obj).points if is_hair(obj) else mesh_of(obj).vertices)


def read_key(block: bpy.types.ShapeKey) -> Floats:
    """(n, 3) coordinates of a shape key of a mesh, (c, 3) control points of that of a curve."""
    return read_key_controls(block) if _is_curves(block) else read_coordinates(block.points)


def write_key(block: bpy.types.ShapeKey, coordinates: Floats | NDArray[np.float32]) -> None:
    """Sets the coordinates that `read_key` reads."""
    if _is_curves(block):
        write_key_controls(block, coordinates)
    else:
        write_coordinates(block.points, coordinates)


def _is_curves(block: bpy.types.ShapeKey) -> bool:
    """Whether a shape key is one of a curve."""
    return isinstance(cast(bpy.types.Key, block.id_data).user, bpy.types.Curve)


def read_shape(obj: bpy.types.Object) -> Floats:
    """(n, 3) vertices of a mesh without its keys, control points of a curve, points of hair."""
    if is_curve(obj):
        return read_controls(cast(bpy.types.Curve, obj.data))
    if is_hair(obj):
        return read_points(hair_of(obj))
    return read_vertices(mesh_of(obj))


def write_shape(obj: bpy.types.Object, coordinates: Floats) -> None:
    """Sets the coordinates that `read_shape` reads."""
    if is_curve(obj):
        write_controls(cast(bpy.types.Curve, obj.data), coordinates)
    elif is_hair(obj):
        write_points(hair_of(obj), coordinates)
    else:
        write_coordinates(mesh_of(obj).vertices, coordinates)


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
    """(n,) weights of a mesh object's vertices in a group; zeros without one, as of a curve."""
    weights = np.zeros(point_count(obj))
    if (group := obj.vertex_groups.get(name)) is not None:
        for vertex in mesh_of(obj).vertices:
            for member in vertex.groups:
                if member.group == group.index:
                    weights[vertex.index] = member.weight
    return weights


def mode_name(obj: bpy.types.Object) -> str:
    """Name of an object's mode in the interface."""
    return obj.mode.replace("_CURVES", "").replace("_", " ").title()
