"""Splitting of meshes along edges before a bake, so that cloth can tear there.

Shape keys cannot change the number of vertices, so the vertices have to be doubled beforehand.
"""

from typing import TYPE_CHECKING, Any, cast

import bmesh
import bpy

from ...core.errors import MeshError
from ..bake.record import is_baked
from ..scene.mesh_access import mesh_of
from ..translation.interface import translated
from .operators import cancelled_by_errors

if TYPE_CHECKING:
    from bpy.stub_internal.rna_enums import OperatorReturnItems

_SOURCE = "verlet_source"


def split_selected(obj: bpy.types.Object) -> int:
    """Splits a mesh in Edit Mode along its selected edges, and joins both sides by loose edges.

    Returns
    -------
    int
        Number of pairs of vertices made.

    Raises
    ------
    MeshError
        No edge between two faces is selected, or there is a bake, whose keys have fewer vertices.
    """
    if is_baked(obj):
        raise MeshError(f"{obj.name} is baked; clear the bake first")
    mesh = mesh_of(obj)
    edited = bmesh.from_edit_mesh(mesh)
    chosen = [edge for edge in edited.edges if edge.select and len(edge.link_faces) > 1]
    if not chosen:
        raise MeshError(f"{obj.name} has no selected edge between two faces; select some")
    source = edited.verts.layers.int.new(_SOURCE)
    edited.verts.index_update()
    for vertex in edited.verts:
        vertex[source] = vertex.index
    bmesh.ops.split_edges(edited, edges=chosen)
    first: dict[int, Any] = {}
    joined = 0
    for vertex in edited.verts:
        other = first.setdefault(vertex[source], vertex)
        if other is not vertex:
            edited.edges.new((other, vertex))
            joined += 1
    edited.verts.layers.int.remove(edited.verts.layers.int[_SOURCE])
    bmesh.update_edit_mesh(mesh)
    return joined


class VERLET_OT_split_for_tearing(bpy.types.Operator):
    """Cut the mesh along its selected edges, invisibly, so that it can tear there; in Edit Mode"""

    bl_idname = "verlet.split_for_tearing"
    bl_label = "Split for Tearing"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = context.active_object
        if obj is None or obj.type != "MESH" or obj.mode != "EDIT":
            cls.poll_message_set("Select edges in Edit Mode first")
            return False
        return True

    @cancelled_by_errors
    def execute(self, context: bpy.types.Context) -> "set[OperatorReturnItems]":
        joined = split_selected(cast(bpy.types.Object, context.active_object))
        self.report(
            {"INFO"},
            translated(f"{joined} pairs of vertices hold the mesh together until it tears"),
        )
        return {"FINISHED"}
