"""Faces of a mesh: corners, areas, normals and diagonals, and the edges with and without faces."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Booleans, Floats, Integers, cross, sum_by, sum_rows
from ..mesh import MeshData
from .graph import edge_keys

SLIVER = 1e-9
"""Rounding: area of a triangle below which it counts as degenerate, as a share of its longest
side's square."""


@dataclass(frozen=True, eq=False)
class Corners:
    """The face corners of a mesh, one row per corner."""

    vertex: Integers
    """(c,) the corner's vertex."""
    following: Integers
    """(c,) the next vertex around the face."""
    preceding: Integers
    """(c,) the vertex before, around the face."""
    after_next: Integers
    """(c,) the vertex two steps ahead, around the face."""
    face: Integers
    """(c,) the face."""
    size: Integers
    """(c,) number of corners of that face."""


def read_corners(mesh: MeshData) -> Corners:
    """Lists every face corner with its neighbours around the face."""
    sizes = np.diff(mesh.face_starts)
    face = np.repeat(np.arange(len(sizes)), sizes)
    size = sizes[face]
    start = mesh.face_starts[:-1][face]
    place = np.arange(len(face)) - start
    return Corners(
        vertex=mesh.face_vertices,
        following=mesh.face_vertices[start + (place + 1) % size],
        preceding=mesh.face_vertices[start + (place - 1) % size],
        after_next=mesh.face_vertices[start + (place + 2) % size],
        face=face,
        size=size,
    )


def face_normals(positions: Floats, corners: Corners, face_count: int) -> Floats:
    """(f, 3) vectors normal to the faces, as long as their areas [m²] (Newell's formula)."""
    cross = np.cross(positions[corners.vertex], positions[corners.following])
    return 0.5 * np.stack(
        [np.bincount(corners.face, cross[:, axis], face_count) for axis in range(3)], axis=1
    )


def area_normals(positions: Floats, triangles: Integers) -> Floats:
    """(3, N) area-weighted normals of vertices, for triangles (3, t) at positions (3, N) [m]."""
    a, b, c = (positions[:, corner] for corner in triangles)
    areas, count = cross(b - a, c - a), positions.shape[1]
    return sum_rows(triangles.ravel(), np.tile(areas, 3), count)


def normalized(vectors: Floats) -> Floats:
    """(k, 3) normalized vectors; those of length 0 stay so."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0.0, lengths, 1.0))


def vertex_areas(corners: Corners, areas: Floats, particle_count: int) -> Floats:
    """(n,) area of each vertex: every face's area divided evenly among its corners [m²]."""
    return sum_by(corners.vertex, areas[corners.face] / corners.size, particle_count)


def edge_areas(edges: Integers, corners: Corners, areas: Floats, particle_count: int) -> Floats:
    """(m,) the area whose tension each edge carries: half of each quad, all of each triangle.

    With strain = compliance × tension, the edge's compliance is c L² / area; a grid of quads and
    the same grid cut into triangles then stretch alike [m²].
    """
    keys = edge_keys(edges.T, particle_count)
    order = np.argsort(keys, kind="stable")
    corner_keys = edge_keys((corners.vertex, corners.following), particle_count)
    place = np.searchsorted(keys[order], corner_keys)
    part = areas[corners.face] * np.where(corners.size == 3, 1.0, 0.5)
    return sum_by(order[place], part, len(edges))


def among_triangles(edges: Integers, corners: Corners, particle_count: int) -> Booleans:
    """(m,) bool, edges with faces that are all triangles."""
    keys = edge_keys(edges.T, particle_count)
    corner_keys = edge_keys((corners.vertex, corners.following), particle_count)
    triangle = corners.size == 3
    wider = np.isin(keys, corner_keys[~triangle])
    return np.asarray(np.isin(keys, corner_keys[triangle]) & ~wider)


def without_faces(edges: Integers, corners: Corners, particle_count: int) -> Booleans:
    """(m,) bool, edges that carry no face, as ropes do."""
    sides = edge_keys((corners.vertex, corners.following), particle_count)
    return np.asarray(~np.isin(edge_keys(edges.T, particle_count), sides))


def face_diagonals(corners: Corners) -> tuple[Integers, Integers]:
    """(d, 2) vertices two corners apart in faces of four or more corners, and (d,) their faces."""
    pairs = np.stack([corners.preceding, corners.following], axis=1)
    wide = corners.size > 4
    starts = np.diff(corners.face, prepend=-1) > 0
    second = np.roll(starts, 1)
    chosen = wide | ((corners.size == 4) & (starts | second))
    return pairs[chosen], corners.face[chosen]
