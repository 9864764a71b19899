"""A body's own vertices as the viewport shows them, and their weights, in any mode.

In Edit Mode the mesh of the object is the one from before; the edited one is a BMesh.
"""

from collections.abc import Sequence
from typing import Any

import bmesh
import bpy
import numpy as np

from ...core.arrays import Floats, Singles, cofactors
from .mesh_access import mesh_of
from .mesh_io import world_matrix

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


def shown_vertices(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Singles:
    """Positions (n, 3) of the mesh's own vertices as the viewport shows them, from its origin [m].

    They are scaled and turned as in the world. Where a modifier orders vertices anew, they are
    those before the first modifier that adds or removes any.
    """
    mesh, count = _evaluated(obj, depsgraph), vertex_count(obj)
    shown = _deformed(obj, depsgraph) if mesh is None else _read(mesh)
    if len(shown) < count:
        shown = _read(mesh_of(obj))  # such as below a Build modifier
    linear, _ = world_matrix(obj, depsgraph)
    return np.asarray(shown[:count] @ linear.T.astype(np.float32))


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
    linear, _ = world_matrix(obj, depsgraph)
    # The transposed inverse, times the determinant, is the matrix of cofactors.
    turn = cofactors(linear[None])[0][0].T.astype(np.float32)
    return np.asarray(normals.reshape(-1, 3)[: vertex_count(obj)] @ turn)


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
    return all(
        modifier.type in _APPENDING | _DEFORMING
        and not any(getattr(modifier, "use_bisect_axis", ()))
        for modifier in obj.modifiers
        if modifier.show_viewport
    )


def _deformed(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Singles:
    """(n, 3) vertices in the object's space before the first modifier that adds any.

    In Edit Mode, before all modifiers.
    """
    if obj.mode == "EDIT":
        return _coordinates(bmesh.from_edit_mesh(mesh_of(obj)))
    deformed = bmesh.new()
    try:
        deformed.from_object(obj, depsgraph, cage=True, face_normals=False)
        return _coordinates(deformed)
    finally:
        deformed.free()


def _coordinates(mesh: bmesh.types.BMesh) -> Singles:
    """(n, 3) coordinates of a BMesh."""
    return np.array([vertex.co for vertex in mesh.verts], np.float32).reshape(-1, 3)


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
