"""Rest lengths of a body's edges, read at any frame without evaluating another one.

A simulation takes the mesh at its first frame for the rest shape; where the mesh deforms, by an
armature or by animated shape keys, that mesh is not known here, and lengths are those of the mesh
before its modifiers, with the shape keys of the current frame.
"""

import bpy
import numpy as np

from ...core.arrays import Floats, Integers
from ...core.geometry.rest_shape import rest_lengths
from ...core.mesh import MeshData, Paint
from ..settings.core_settings import body_settings
from ..settings.properties import body_properties
from .mesh_access import group_weights, mesh_of, read_coordinates, shape_keys_of
from .mesh_io import world_matrix
from .shown_mesh import mixed_points


def read_edges(mesh: bpy.types.Mesh) -> Integers:
    """(m, 2) vertex indices of a mesh's edges."""
    edges = np.empty(2 * len(mesh.edges), np.int32)
    mesh.edges.foreach_get("vertices", edges)
    return edges.reshape(-1, 2).astype(np.int64)


def read_rest_lengths(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Floats:
    """(m,) rest lengths of a body's edges after shrinking [m].

    Raises
    ------
    SettingsError
        A setting of the body is out of its range.
    """
    settings = body_settings(obj)
    group = body_properties(obj).shrinking_group
    linear, _ = world_matrix(obj, depsgraph)
    positions = _rest_points(obj) @ linear.T
    none = np.zeros(0, np.int64)
    mesh = MeshData(
        name=obj.name,
        positions=positions,
        edges=read_edges(mesh_of(obj)),
        face_starts=np.zeros(1, np.int64),
        face_vertices=none,
        pin_weights=np.zeros(len(positions)),
        velocities=np.zeros_like(positions),
        paint=Paint(shrinking=group_weights(obj, group) if group else None),
    )
    return rest_lengths(mesh, settings)


def user_keys(obj: bpy.types.Object) -> list[str]:
    """Names of a mesh's shape keys that are not muted, without the Basis and those of a bake."""
    key = shape_keys_of(obj)
    if key is None or not key.use_relative:
        return []
    baked = {item.name for item in body_properties(obj).baked_keys}
    return [
        block.name for block in key.key_blocks[1:] if block.name not in baked and not block.mute
    ]


def _rest_points(obj: bpy.types.Object) -> Floats:
    """(n, 3) rest shape in the object's space, or the mix of the user's shape keys."""
    name, key = body_properties(obj).rest_key, shape_keys_of(obj)
    if key is not None and (rest := key.key_blocks.get(name)) is not None:
        return read_coordinates(rest.points)
    return mixed_points(obj, user_keys(obj)).astype(np.float64)
