"""Evaluated meshes as triangles in world space."""

from typing import Any

import bpy
import numpy as np
from mathutils.bvhtree import BVHTree

from ...core.arrays import Floats, Integers
from .mesh_access import read_vertices


def read_points(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Floats:
    """(v, 3) world positions of an object's evaluated mesh at the current frame [m]."""
    evaluated = obj.evaluated_get(depsgraph)
    matrix = np.array(evaluated.matrix_world, np.float64)
    points = read_vertices(evaluated.to_mesh())
    evaluated.to_mesh_clear()
    return np.asarray(points @ matrix[:3, :3].T + matrix[:3, 3])


def read_triangles(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Integers:
    """(t, 3) triangles of an object's evaluated mesh, counter-clockwise from outside.

    The order is reversed where a negative scale turns the faces inside out.
    """
    evaluated = obj.evaluated_get(depsgraph)
    triangles = mesh_triangles(evaluated.to_mesh())
    evaluated.to_mesh_clear()
    return triangles[:, ::-1] if evaluated.matrix_world.is_negative else triangles


def mesh_triangles(mesh: bpy.types.Mesh) -> Integers:
    """(t, 3) triangles of a mesh, in the order of its faces' corners."""
    mesh.calc_loop_triangles()
    corners = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", corners)
    return corners.reshape(-1, 3).astype(np.int64)


def with_area(points: Floats, triangles: Integers) -> Integers:
    """The triangles (t, 3) of a surface with vertices (v, 3) that have an area."""
    edges = np.diff(points[triangles], axis=1)
    sound = np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1) > 0.0
    return np.asarray(triangles[sound])


def find_nearest(points: Floats, triangles: Integers, places: Floats) -> tuple[Integers, Floats]:
    """(k,) numbers of the triangles nearest to places (k, 3), and (k, 3) the nearest points [m].

    Blender's BVH tree finds these in single precision.
    """
    tree: Any = BVHTree.FromPolygons(points.tolist(), triangles.tolist(), all_triangles=True)
    found = [tree.find_nearest(place) for place in places.tolist()]
    nearest = np.array([location for location, *_ in found]).reshape(-1, 3)
    return np.array([number for _, _, number, _ in found], np.int64), nearest
