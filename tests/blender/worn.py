"""Measures of garments on bodies; nothing here is taken from the solver."""

from typing import Any

import bpy
import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from tests.blender.scenes import coordinates
from tests.core.intersections import crossings

WAYS = [Vector(way) for way in ((0.136, -0.223, 0.965), (0.971, 0.122, -0.205), (-0.2, 0.94, 0.27))]
"""Directions of rays, parallel to no face; single ones slip through between triangles."""


def places(obj: Any) -> Any:
    """World positions (n, 3) of an evaluated mesh now."""
    bpy.context.view_layer.update()
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = np.array(evaluated.matrix_world)
    return coordinates(evaluated.data.vertices) @ matrix[:3, :3].T + matrix[:3, 3]


def inside(garment: Any, body: Any) -> int:
    """Number of vertices of a garment within a body: most rays from there leave it once more."""
    mesh = body.data
    mesh.calc_loop_triangles()
    triangles = [tuple(each.vertices) for each in mesh.loop_triangles]
    tree: Any = BVHTree.FromPolygons(places(body).tolist(), triangles)
    return sum(sum(_hits(tree, Vector(p), way) % 2 for way in WAYS) > 1 for p in places(garment))


def _hits(tree: Any, place: Vector, way: Vector) -> int:
    """How many faces a ray meets."""
    count = 0
    while (hit := tree.ray_cast(place, way)[0]) is not None:
        count, place = count + 1, hit + 1e-6 * way
    return count


def passing(garment: Any, body: Any) -> int:
    """Number of edges of a garment that pass through faces of a body."""
    points = np.concatenate([places(garment), places(body)]).T.astype(np.float64)
    first = len(garment.data.vertices)
    edges = np.array([tuple(edge.vertices) for edge in garment.data.edges]).T
    body.data.calc_loop_triangles()
    triangles = np.array([tuple(each.vertices) for each in body.data.loop_triangles]).T + first
    return int(crossings(points, edges, triangles).shape[1])
