"""A body's own vertices as the viewport shows them, and their weights, in any mode.

In Edit Mode the mesh of the object is the one from before; the edited one is a BMesh.
"""

from collections.abc import Sequence
from typing import Any

import bmesh
import bpy
import numpy as np

from ...core.arrays import Floats, Singles
from .mesh_access import fits, group_weights, mesh_of, read_coordinates, shape_keys_of
from .mesh_io import world_matrix
from .modifiers import has_carriers

TUBE = "Rope Tube"
"""Name of the node group that adds a tube to a rope; its mesh comes first."""

_APPENDING = {"ARRAY", "MIRROR", "MULTIRES", "SOLIDIFY", "SUBSURF"}
"""Types of modifiers whose result begins with the vertices of their input, in its order."""

_DEFORMING = {
    *("ARMATURE", "CAST", "CLOTH", "COLLISION", "CORRECTIVE_SMOOTH", "CURVE", "DATA_TRANSFER"),
    *("DISPLACE", "HOOK", "LAPLACIANDEFORM", "LAPLACIANSMOOTH", "LATTICE", "MESH_CACHE"),
    *("MESH_DEFORM", "NORMAL_EDIT", "SHRINKWRAP", "SIMPLE_DEFORM", "SMOOTH", "SOFT_BODY"),
    *("SURFACE", "SURFACE_DEFORM", "TRIANGULATE", "UV_PROJECT", "UV_WARP", "VERTEX_WEIGHT_EDIT"),
    *("VERTEX_WEIGHT_MIX", "VERTEX_WEIGHT_PROXIMITY", "WARP", "WAVE", "WEIGHTED_NORMAL"),
}
"""Types of modifiers that keep all vertices, in their order."""


def vertex_count(obj: bpy.types.Object) -> int:
    """Number of vertices of an object's own mesh."""
    mesh = mesh_of(obj)
    return len(bmesh.from_edit_mesh(mesh).verts if obj.mode == "EDIT" else mesh.vertices)


def shown_vertices(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Singles | None:
    """Positions (n, 3) of the mesh's own vertices as the viewport shows them, from its origin [m].

    They are scaled and turned as in the world. Where a modifier orders vertices anew, they are
    those that shape keys give; None if further modifiers move these.
    """
    mesh = _evaluated(obj, depsgraph)
    if mesh is None and has_carriers(obj):
        return None
    shown = _read(mesh) if mesh is not None else mixed_points(obj, _acting_keys(obj))
    linear, _ = world_matrix(obj, depsgraph)
    return np.asarray(shown[: vertex_count(obj)] @ linear.T.astype(np.float32))


def mixed_points(obj: bpy.types.Object, names: Sequence[str]) -> Singles:
    """(n, 3) points of a mesh in the object's space, with these of its shape keys."""
    mesh, key = mesh_of(obj), shape_keys_of(obj)
    if key is None or not fits(key.reference_key, obj):
        return _read(mesh)
    mixed = read_coordinates(key.reference_key.points)
    for block in map(key.key_blocks.__getitem__, names):
        moves = read_coordinates(block.points) - read_coordinates(block.relative_key.points)
        shares = group_weights(obj, block.vertex_group)[:, None] if block.vertex_group else 1.0
        mixed += block.value * shares * moves
    return mixed.astype(np.float32)


def _acting_keys(obj: bpy.types.Object) -> list[str]:
    """Names of the shape keys with a value, without the Basis."""
    key = shape_keys_of(obj)
    blocks = key.key_blocks[1:] if key is not None and key.use_relative else ()
    return [block.name for block in blocks if block.value != 0.0 and not block.mute]


def _read(mesh: bpy.types.Mesh) -> Singles:
    """(n, 3) coordinates of a mesh's vertices."""
    found = np.empty(3 * len(mesh.vertices), np.float32)
    attribute: Any = mesh.attributes.get("position")  # missing in Edit Mode
    if attribute is None:
        mesh.vertices.foreach_get("co", found)
    else:
        attribute.data.foreach_get("vector", found)
    return found.reshape(-1, 3)


def shown_normals(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Singles | None:
    """Normals (n, 3) of the mesh's own vertices, of any length, in world space.

    None where a modifier orders vertices anew.
    """
    if (mesh := _evaluated(obj, depsgraph)) is None:
        return None
    normals = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertex_normals.foreach_get("vector", normals)
    # Normals turn by the cofactors, which the inverse has divided by the determinant; Blender 4.2
    # has other ones in `Matrix.adjugated`.
    rows = np.array(obj.evaluated_get(depsgraph).matrix_world.to_3x3(), np.float32)
    cofactors = np.cross(rows[[1, 2, 0]], rows[[2, 0, 1]])
    return np.asarray(normals.reshape(-1, 3)[: vertex_count(obj)] @ cofactors.T)


def _evaluated(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> bpy.types.Mesh | None:
    """The evaluated mesh of an object, if it begins with the mesh's own vertices; else None."""
    mesh, count = obj.evaluated_get(depsgraph).data, vertex_count(obj)
    if not isinstance(mesh, bpy.types.Mesh):
        return None
    shown = len(mesh.vertices)
    return mesh if shown == count or (shown > count and _appends(obj)) else None


def is_covered(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether the viewport shows other vertices than the mesh's own, which may cover these."""
    mesh: Any = obj.evaluated_get(depsgraph).data
    return len(mesh.vertices) != vertex_count(obj)


def _appends(obj: bpy.types.Object) -> bool:
    """Whether all modifiers that add vertices add them after the mesh's own."""
    return all(map(_keeps_order, (item for item in obj.modifiers if item.show_viewport)))


def _keeps_order(modifier: Any) -> bool:
    """Whether the result of a modifier begins with the vertices of its input."""
    if modifier.type == "NODES":
        return modifier.node_group is not None and modifier.node_group.name.startswith(TUBE)
    cuts = any(getattr(modifier, "use_bisect_axis", ()))
    return modifier.type in _APPENDING | _DEFORMING and not cuts


def read_weights(obj: bpy.types.Object, groups: Sequence[str]) -> list[Floats]:
    """Per vertex group, (n,) weights of the mesh's vertices; zeros without such a group."""
    weights = [np.zeros(vertex_count(obj)) for _ in groups]
    places = dict[int, list[Floats]]()
    for name, values in zip(groups, weights, strict=True):
        if (group := obj.vertex_groups.get(name)) is not None:
            places.setdefault(group.index, []).append(values)
    if places:
        read = _read_edited if obj.mode == "EDIT" else _read_stored
        read(mesh_of(obj), places)
    return weights


def _read_stored(mesh: bpy.types.Mesh, places: dict[int, list[Floats]]) -> None:
    """Writes the weights of a mesh to the arrays by group index."""
    for number, vertex in enumerate(mesh.vertices):
        for member in vertex.groups:
            for values in places.get(member.group, ()):
                values[number] = member.weight


def _read_edited(mesh: bpy.types.Mesh, places: dict[int, list[Floats]]) -> None:
    """Writes the weights of a mesh in Edit Mode to the arrays by group index."""
    edited = bmesh.from_edit_mesh(mesh)
    if (layer := edited.verts.layers.deform.active) is None:
        return
    for index, arrays in places.items():
        read = [vertex[layer].get(index, 0.0) for vertex in edited.verts]
        for values in arrays:
            values[:] = read
