"""Measures of a played scene of contact; nothing here is taken from the solver."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import bpy as blender
import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from tests.benchmarks.zoo_scenes import Built, Scene
from tests.core.intersections import crossings
from verlet_addon.core.arrays import Floats, Integers

bpy: Any = blender

RAYS = [Vector(way) for way in ((0.136, -0.223, 0.965), (0.971, 0.122, -0.205), (-0.2, 0.94, 0.27))]
"""Directions, parallel to no face of an upright box; single rays slip through between triangles."""
TINY = 1e-6
"""A step beyond a hit [m]."""


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


def find_crossings(shape: Shape, positions: Floats) -> tuple[Floats, Floats]:
    """How deep edges and triangles pass through each other, at least one of a body [m].

    The depth is how far the nearer end of the edge is from the plane.

    Returns
    -------
    (k,) of bodies with each other and themselves, and (l,) of bodies with colliders.
    """
    edges = shape.edges.min(axis=0) < shape.body_vertices
    triangles = shape.triangles[0] < shape.body_vertices
    among, of_edges, of_triangles = (
        _crossing_depths(positions, shape.edges[:, own], shape.triangles[:, other])
        for own, other in ((edges, triangles), (edges, ~triangles), (~edges, triangles))
    )
    return among, np.concatenate([of_edges, of_triangles])


def _crossing_depths(positions: Floats, edges: Integers, triangles: Integers) -> Floats:
    """(k,) of edges and triangles that pass through each other [m]."""
    if not triangles.size:
        return np.empty(0)
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


def find_inside(shape: Shape, positions: Floats) -> Floats:
    """(k,) how deep the vertices of bodies that are inside of closed colliders are [m].

    Rays from inside leave the surface once more than they enter, also where parts of it overlap.
    """
    found = []
    for tree, normals, vertices in _closed_colliders(shape, positions):
        for point in map(Vector, vertices.tolist()):
            if all(_leaves(tree, normals, point, ray) for ray in RAYS):
                found += [tree.find_nearest(point)[3]]
    return np.array(found, dtype=float)


def _leaves(tree: Any, normals: list[Any], point: Any, ray: Any) -> bool:
    """Whether a ray leaves a closed surface more often than it enters."""
    turns, start = 0, point
    while (hit := tree.ray_cast(start, ray))[0] is not None:
        turns += 1 if ray.dot(normals[hit[2]]) > 0.0 else -1
        start = hit[0] + ray * TINY
    return turns > 0


def _closed_colliders(shape: Shape, positions: Floats) -> Iterator[tuple[Any, list[Any], Floats]]:
    """A tree, the normals of its triangles, and bodies' vertices in its box, of each."""
    vertices = positions[: shape.body_vertices]
    for number, start in enumerate(shape.starts[:-1]):
        own = slice(start, shape.starts[number + 1])
        triangles = shape.triangles[:, shape.triangles[0] >= start] - start
        triangles = triangles[:, triangles[0] < own.stop - start]
        if start < shape.body_vertices or not is_closed(triangles):
            continue
        points = positions[own]
        a, b, c = points[triangles]
        normals = [Vector(normal) for normal in np.cross(b - a, c - a).tolist()]
        near = ((vertices > points.min(axis=0)) & (vertices < points.max(axis=0))).all(axis=1)
        tree: Any = BVHTree.FromPolygons(points.tolist(), triangles.T.tolist())
        yield tree, normals, vertices[near]


def is_closed(triangles: Integers) -> bool:
    """Whether each edge of triangles (3, t) has two of them, one in each direction."""
    sides = np.concatenate([triangles[[0, 1]], triangles[[1, 2]], triangles[[2, 0]]], axis=1)
    there, back = (set(map(tuple, way.T.tolist())) for way in (sides, sides[::-1]))
    return len(there) == sides.shape[1] and there == back


@dataclass
class FrameMeasures:
    """Of one frame."""

    among_bodies: int = 0
    """Crossings of bodies with each other and themselves."""
    with_colliders: int = 0
    crossing_depth: float = 0.0
    """[m]"""
    inside: int = 0
    """Vertices inside of closed colliders."""
    inside_depth: float = 0.0
    """[m]"""
    stretch: float = 0.0
    nearly_all: float = 0.0
    """99th percentile."""


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
    inside: int = 0
    """Most vertices inside of closed colliders at any frame."""
    inside_depth: float = 0.0
    """[m]"""
    frames: list[FrameMeasures] = field(default_factory=list)
    """Of each, from the second on."""


def measure(scene: Scene, shape: Shape, frames: list[Floats]) -> Measures:
    """Measures all frames (n, 3), the first of which is the start."""
    found = Measures(crosses_at_start=sum(map(len, find_crossings(shape, frames[0]))))
    lengths = _lengths(shape, frames[0])
    for number, positions in enumerate(frames[1:], start=2):
        frame = measure_frame(shape, positions, lengths)
        crossings = frame.among_bodies + frame.with_colliders
        found.frames.append(frame)
        found.crossings += crossings
        found.crossed_frames += crossings > 0
        found.first_frame = found.first_frame or number * (crossings > 0)
        found.depth = max(found.depth, find_depth(shape, positions, scene.thickness))
    for name in ("crossing_depth", "stretch", "nearly_all", "inside", "inside_depth"):
        setattr(found, name, max(getattr(frame, name) for frame in found.frames))
    way = (frames[-1] - frames[-2])[: shape.body_vertices]
    found.speed = float(np.linalg.norm(way, axis=1).max()) * scene.fps
    return found


def measure_frame(shape: Shape, positions: Floats, lengths: Floats) -> FrameMeasures:
    """Measures a frame (n, 3); `lengths` (m,) are those of edges at the start [m]."""
    among, with_colliders = find_crossings(shape, positions)
    inside = find_inside(shape, positions)
    strains = _lengths(shape, positions) / lengths - 1.0 if len(lengths) else np.zeros(1)
    return FrameMeasures(
        among_bodies=len(among),
        with_colliders=len(with_colliders),
        crossing_depth=float(np.concatenate([among, with_colliders]).max(initial=0.0)),
        inside=len(inside),
        inside_depth=float(inside.max(initial=0.0)),
        stretch=float(strains.max()),
        nearly_all=float(np.percentile(strains, 99)),
    )


def _lengths(shape: Shape, positions: Floats) -> Floats:
    """(m,) of the edges that keep them [m]."""
    ends = positions[shape.edges[:, : shape.body_edges]]
    found: Floats = np.linalg.norm(ends[1] - ends[0], axis=1)
    return found
