"""Measures of a played scene of contact; nothing here is taken from the solver."""

from dataclasses import dataclass
from typing import Any

import bpy as blender
import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from tests.benchmarks.zoo_scenes import Built, Scene
from tests.core.intersections import crossings
from verlet_addon.core.arrays import Floats, Integers

bpy: Any = blender


@dataclass(frozen=True, eq=False)
class Shape:
    """The topology of all objects of a scene, numbered one after the other."""

    edges: Integers
    """(2, e), bodies first."""
    triangles: Integers
    """(3, t)"""
    starts: list[int]
    """Of each object's vertices."""
    body_edges: int
    """How many edges belong to bodies that keep their lengths: cloth and ropes."""
    body_vertices: int
    reaches: list[float]
    """By object: a collider's outer thickness [m]; 0 for bodies."""


def read_shape(scene: Scene, built: Built) -> Shape:
    """The topology at the current frame; faces of bodies are cut into fans, as ours are."""
    edges, triangles, starts, reaches, count = [], [], [], [], 0
    for number, obj in enumerate([*built.bodies, *built.colliders]):
        starts.append(count)
        own_edges, own_triangles = _topology(obj, fans=number < len(built.bodies))
        edges.append(own_edges + count)
        triangles.append(own_triangles + count)
        reaches.append(0.0 if number < len(built.bodies) else obj.collision.thickness_outer)
        count += len(obj.data.vertices)
    # Jelly comes last in the count of lengths, or in none.
    kept = [own for own, (kind, _, _) in zip(edges, scene.bodies, strict=False) if not _soft(kind)]
    rest = [own for own, (kind, _, _) in zip(edges, scene.bodies, strict=False) if _soft(kind)]
    rest += edges[len(built.bodies) :]
    return Shape(
        edges=np.concatenate([*kept, *rest]).T,
        triangles=np.concatenate(triangles).T,
        starts=[*starts, count],
        body_edges=sum(map(len, kept)),
        body_vertices=starts[len(built.bodies)],
        reaches=reaches,
    )


def _soft(kind: str) -> bool:
    """Whether lengths of edges of such bodies say nothing."""
    return kind in ("jelly", "brick")


def _topology(obj: Any, *, fans: bool) -> tuple[Integers, Integers]:
    """(e, 2) and (t, 3) of an object's own mesh; no modifier of a scene adds any."""
    mesh = obj.data
    edges = np.array([edge.vertices[:] for edge in mesh.edges], np.int64).reshape(-1, 2)
    if fans:
        faces = [face.vertices[:] for face in mesh.polygons]
        found = [(f[0], f[k], f[k + 1]) for f in faces for k in range(1, len(f) - 1)]
    else:
        mesh.calc_loop_triangles()
        found = [tuple(triangle.vertices) for triangle in mesh.loop_triangles]
    return edges, np.array(found, np.int64).reshape(-1, 3)


def read_positions(built: Built) -> Floats:
    """(n, 3) of all objects' evaluated vertices in the world at the current frame [m]."""
    depsgraph, found = bpy.context.evaluated_depsgraph_get(), []
    for obj in [*built.bodies, *built.colliders]:
        evaluated = obj.evaluated_get(depsgraph)
        points = np.empty(3 * len(evaluated.data.vertices), np.float32)
        evaluated.data.vertices.foreach_get("co", points)
        matrix = np.array(evaluated.matrix_world)
        found.append(points.reshape(-1, 3).astype(float) @ matrix[:3, :3].T + matrix[:3, 3])
    return np.concatenate(found)


def find_crossings(shape: Shape, positions: Floats) -> Floats:
    """(k,) how deep edges and triangles pass through each other, at least one of a body [m].

    The depth is how far the nearer end of the edge is from the plane.
    """
    ours = shape.edges.min(axis=0) < shape.body_vertices
    found = [
        _crossing_depths(positions, shape.edges[:, ours], shape.triangles),
        _crossing_depths(
            positions,
            shape.edges[:, ~ours],
            shape.triangles[:, shape.triangles[0] < shape.body_vertices],
        ),
    ]
    return np.concatenate(found)


def _crossing_depths(positions: Floats, edges: Integers, triangles: Integers) -> Floats:
    """(k,) of edges and triangles that pass through each other [m]."""
    # Among large ones, as a floor has, the search would have to look at every pair.
    width = np.ptp(positions[triangles, 0], axis=0)
    large = width > 10 * np.median(width)
    x, found = positions.T.copy(), [np.empty(0)]
    for some in (triangles[:, large], triangles[:, ~large]):
        pairs = crossings(x, edges, some) if some.size else np.empty((2, 0), np.int64)
        found.append(_depths(positions, edges[:, pairs[0]], some[:, pairs[1]]))
    return np.concatenate(found)


def _depths(positions: Floats, ends: Integers, corners: Integers) -> Floats:
    """(k,) of the nearer ends of edges (2, k) from the planes of triangles (3, k) [m]."""
    a, b, c = positions[corners]
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    found: Floats = np.abs(np.einsum("eki,ki->ek", positions[ends] - a, normals)).min(axis=0)
    return found


def find_depth(shape: Shape, positions: Floats, thickness: float) -> float:
    """How much any vertex of a body lacks of its distance from a collider [m]."""
    deepest = 0.0
    vertices = positions[: shape.body_vertices]
    for number, reach in enumerate(shape.reaches):
        own = slice(shape.starts[number], shape.starts[number + 1])
        if own.start < shape.body_vertices:
            continue
        within = shape.triangles[0] >= own.start
        within &= shape.triangles[0] < own.stop
        tree: Any = BVHTree.FromPolygons(
            positions[own].tolist(), (shape.triangles[:, within] - own.start).T.tolist()
        )
        low, high = positions[own].min(axis=0), positions[own].max(axis=0)
        gap = thickness + reach
        near = ((vertices > low - gap) & (vertices < high + gap)).all(axis=1)
        for point in vertices[near].tolist():
            away = tree.find_nearest(Vector(point), gap)[3]
            deepest = max(deepest, 0.0 if away is None else gap - away)
    return deepest


@dataclass
class Measures:
    """Over all frames."""

    crossings: int = 0
    """At all frames but the first, where that has none."""
    crossed_frames: int = 0
    first_frame: int = 0
    """At which anything crosses; 0 if never."""
    crosses_at_start: int = 0
    crossing_depth: float = 0.0
    """[m]"""
    depth: float = 0.0
    """Greatest lack of distance from colliders after the first frame [m]."""
    stretch: float = 0.0
    nearly_all: float = 0.0
    """99th percentile at its worst frame."""
    speed: float = 0.0
    """Of the fastest vertex of a body over the last frame [m/s]."""


def measure(scene: Scene, shape: Shape, frames: list[Floats]) -> Measures:
    """Measures all frames (n, 3), the first of which is the start."""
    found = Measures()
    lengths = _lengths(shape, frames[0])
    for number, positions in enumerate(frames, start=1):
        depths = find_crossings(shape, positions)
        if number == 1:
            found.crosses_at_start = len(depths)
            continue
        if len(depths):
            found.crossings += len(depths)
            found.crossed_frames += 1
            found.first_frame = found.first_frame or number
            found.crossing_depth = max(found.crossing_depth, float(depths.max()))
        found.depth = max(found.depth, find_depth(shape, positions, scene.thickness))
        if len(lengths):
            strains = _lengths(shape, positions) / lengths - 1.0
            found.stretch = max(found.stretch, float(strains.max()))
            found.nearly_all = max(found.nearly_all, float(np.percentile(strains, 99)))
    way = (frames[-1] - frames[-2])[: shape.body_vertices]
    found.speed = float(np.linalg.norm(way, axis=1).max()) * scene.fps
    return found


def _lengths(shape: Shape, positions: Floats) -> Floats:
    """(m,) of the edges that keep them [m]."""
    ends = positions[shape.edges[:, : shape.body_edges]]
    found: Floats = np.linalg.norm(ends[1] - ends[0], axis=1)
    return found
