"""Faces in the plane of a Mirror modifier, which are inside of the mirrored body."""

from dataclasses import replace

import numpy as np

from ..geometry.faces import read_corners
from ..geometry.graph import edge_keys
from ..mesh import MeshData


def without_mirror_faces(mesh: MeshData) -> MeshData:
    """The mesh without faces in its mirror planes, and without edges of these faces alone.

    Half a solid may be closed there; the surface of the whole has no such faces.
    """
    corners = read_corners(mesh)
    within = np.zeros(len(mesh.face_starts) - 1, dtype=bool)
    for mirror in mesh.mirrors:
        heights = (mesh.positions - mirror.plane.point) @ mirror.plane.normal
        outside = np.abs(heights) > mirror.merge_distance
        within |= np.bincount(corners.face, outside[corners.vertex], len(within)) == 0
    if not within.any():
        return mesh
    removed, n = within[corners.face], len(mesh.positions)
    sides = edge_keys((corners.vertex, corners.following), n)
    mirror_edges = np.setdiff1d(sides[removed], sides[~removed])
    edges = ~np.isin(edge_keys(mesh.edges.T, n), mirror_edges)
    sizes = np.diff(mesh.face_starts)[~within]
    return replace(
        mesh,
        edges=mesh.edges[edges],
        face_starts=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        face_vertices=mesh.face_vertices[~removed],
    )
