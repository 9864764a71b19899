"""Vertices of bodies at the moment, kept from redraw to redraw."""

from typing import NamedTuple

import bmesh
import bpy
import numpy as np

from ....core.arrays import Integers, Singles
from ...scene.mesh_access import mesh_of
from ...scene.mesh_io import world_matrix
from ...scene.shown_mesh import shown_vertices
from .drawing_cache import kept, moment


class Positions(NamedTuple):
    """Positions of the vertices of a body as the viewport shows them."""

    near: Singles
    """(n, 3) from the object's origin, whose distance would cost digits [m]."""
    world: Singles
    """(n, 3) in the world [m]."""


def places_of(
    obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, vertices: Integers
) -> Singles | None:
    """World positions (k, 3) of some vertices (k,) of a body [m]; in Edit Mode, as edited.

    None where they are not known, as for `shown_vertices`.
    """
    if obj.mode != "EDIT":
        known = positions_of(obj, depsgraph)
        return known.world[vertices] if known is not None else None
    edited = bmesh.from_edit_mesh(mesh_of(obj))
    edited.verts.ensure_lookup_table()
    points = np.array([edited.verts[vertex].co for vertex in vertices], np.float32)
    linear, offset = world_matrix(obj, depsgraph)
    return np.asarray(
        points.reshape(-1, 3) @ linear.T.astype(np.float32) + offset.astype(np.float32)
    )


def positions_of(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Positions | None:
    """Positions of the vertices of a body at the moment; None where they are not known."""

    def make() -> Positions | None:
        if (near := shown_vertices(obj, depsgraph)) is None:
            return None
        _, offset = world_matrix(obj, depsgraph)
        return Positions(near, near + offset.astype(np.float32))

    return kept("positions", obj, moment(depsgraph, obj.mode), make)
