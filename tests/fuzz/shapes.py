"""Meshes of every kind, small: what people simulate, and what imports and mistakes leave behind.

Each is vertices, edges and faces; edges of faces come by themselves.
"""

from collections.abc import Callable
from typing import Any

import bmesh
import numpy as np
from mathutils import Vector
from mathutils.geometry import delaunay_2d_cdt

from tests.fuzz.draw import Draw

Shape = tuple[list[Any], list[Any], list[Any]]


def _grid(across: int, along: int) -> tuple[Any, Any]:
    """Places (n, 2) of a grid's vertices, and the four corners (f, 4) of its faces."""
    count = across + 1
    rows, columns = np.divmod(np.arange(count * (along + 1)), count)
    first = (np.arange(along)[:, None] * count + np.arange(across)).reshape(-1, 1)
    return np.stack((columns, rows), axis=1), first + np.array((0, 1, count + 1, count))


def quads(draw: Draw) -> Shape:
    """A sheet, even or uneven."""
    places, faces = _grid(draw.whole(1, 6), draw.whole(1, 6))
    points = np.pad(places / places.max(), ((0, 0), (0, 1)))
    points += draw.random.normal(size=points.shape) * draw.one_of((0.0, 0.0, 0.03))
    return points.tolist(), [], faces.tolist()


def triangles(draw: Draw) -> Shape:
    """A sheet whose quads are cut, all one way or each its own."""
    points, _, faces = quads(draw)
    halves = [
        (f[:3], [f[0], *f[2:]]) if draw.chance(0.7) else (f[1:], [*f[:2], f[3]]) for f in faces
    ]
    return points, [], [half for pair in halves for half in pair]


def strewn(draw: Draw) -> Shape:
    """Triangles between points that are strewn over a square."""
    places = [Vector(point) for point in draw.random.random((draw.whole(4, 40), 2))]
    found: Any = delaunay_2d_cdt(places, [], [], 0, 1e-6)
    return [(*point, 0.0) for point in found[0]], [], [list(face) for face in found[2]]


def rope(draw: Draw) -> Shape:
    """Edges in a row, or with branches."""
    count = draw.whole(1, 20)
    points = np.outer(np.linspace(0, 1, count + 1), (1, 0, 0))
    branches = draw.chance(0.3)
    starts = [draw.whole(0, n) if branches else n for n in range(count)]
    points[1:, 1] += branches * draw.random.normal(size=count) * 0.1
    return points.tolist(), [(start, n + 1) for n, start in enumerate(starts)], []


def ring(draw: Draw) -> Shape:
    """A rope that is closed."""
    angles = np.arange(draw.whole(3, 16))
    turns = angles * 2 * np.pi / len(angles)
    points = np.stack((np.cos(turns), np.sin(turns), 0 * turns), axis=1)
    return points.tolist(), [(n, (n + 1) % len(angles)) for n in angles.tolist()], []


def tube(draw: Draw) -> Shape:
    """A sleeve, open at both ends."""
    sides, length = draw.whole(3, 8), draw.whole(1, 5)
    rows, columns = np.divmod(np.arange(sides * (length + 1)), sides)
    turns = columns * 2 * np.pi / sides
    points = np.stack((0.3 * np.cos(turns), 0.3 * np.sin(turns), rows / length), axis=1)
    faces = [
        [
            r * sides + c,
            r * sides + (c + 1) % sides,
            (r + 1) * sides + (c + 1) % sides,
            (r + 1) * sides + c,
        ]
        for r in range(length)
        for c in range(sides)
    ]
    return points.tolist(), [], faces


def box(draw: Draw) -> Shape:
    """A cube of one or more quads a side."""
    cuts = draw.whole(0, 2)

    def make(mesh: Any) -> None:
        bmesh.ops.create_cube(mesh, size=1.0)
        if cuts:
            bmesh.ops.subdivide_edges(mesh, edges=mesh.edges[:], cuts=cuts, use_grid_fill=True)

    return _made(make)


def sphere(draw: Draw) -> Shape:
    """A ball of triangles; the least of them is no finer than an icosahedron."""
    finer = draw.whole(1, 2)
    return _made(lambda mesh: bmesh.ops.create_icosphere(mesh, subdivisions=finer, radius=0.5))


def octahedron(_draw: Draw) -> Shape:
    """The coarsest ball."""
    points = np.repeat(np.eye(3), 2, axis=0)
    points[1::2] *= -1
    faces = [(x, y, z) for x in (0, 1) for y in (2, 3) for z in (4, 5)]
    return points.tolist(), [], [face if sum(face) % 2 else face[::-1] for face in faces]


def monkey(_draw: Draw) -> Shape:
    """Blender's head, which has loose eyes, boundaries and folds."""
    return _made(bmesh.ops.create_monkey)


def _made(make: Callable[[Any], Any]) -> Shape:
    """What Blender makes."""
    mesh = bmesh.new()
    make(mesh)
    mesh.verts.index_update()
    points = [vertex.co[:] for vertex in mesh.verts]
    faces = [[vertex.index for vertex in face.verts] for face in mesh.faces]
    mesh.free()
    return points, [], faces


def empty(_draw: Draw) -> Shape:
    """No vertex."""
    return [], [], []


def loose(draw: Draw) -> Shape:
    """Vertices without edges, or only one."""
    return draw.random.random((draw.whole(1, 5), 3)).tolist(), [], []


def edge(draw: Draw) -> Shape:
    """A single edge, which may have no length."""
    return [(0, 0, 0), (draw.one_of((1.0, 0.0, 1e-8)), 0, 0)], [(0, 1)], []


def fan(draw: Draw) -> Shape:
    """Three and more faces at one edge."""
    count = draw.whole(3, 6)
    turns = np.arange(count) * 2 * np.pi / count
    wings = [(np.cos(turn), np.sin(turn), 0.5) for turn in turns]
    return [(0, 0, 0), (0, 0, 1), *wings], [], [(0, 1, n + 2) for n in range(count)]


def apart(draw: Draw) -> Shape:
    """Faces and edges that hang together nowhere, and a vertex beside them."""
    points = draw.random.random((3 * draw.whole(1, 4) + 3, 3))
    faces = [(n, n + 1, n + 2) for n in range(0, len(points) - 3, 3)]
    return points.tolist(), [(len(points) - 3, len(points) - 2)], faces


def polygon(draw: Draw) -> Shape:
    """One face of many corners."""
    points, edges, _ = ring(draw)
    return points, [], [[first for first, _ in edges]]


def sewn(draw: Draw) -> Shape:
    """Two sheets with loose edges between them."""
    points, _, faces = quads(draw)
    count = len(points)
    over = [(x, y, z + 0.3) for x, y, z in points]
    second = [[corner + count for corner in face[::-1]] for face in faces]
    return points + over, [(n, n + count) for n in range(0, count, 2)], faces + second


def spoilt(draw: Draw) -> Shape:
    """Another shape with vertices in one place, faces twice, or coordinates that are no numbers."""
    points, edges, faces = draw.one_of((quads, triangles, rope, sphere, tube))(draw)
    victim = draw.whole(0, len(points) - 1)
    kind = draw.whole(0, 3)
    if kind == 0:
        points[victim] = points[draw.whole(0, len(points) - 1)]
    elif kind == 1:
        points[victim] = (draw.one_of((np.nan, np.inf, 1e20, 1e30)), 0.0, 0.0)
    elif kind == 2:
        faces = [*faces, *faces[:2]]
    else:
        points = [points[0]] * len(points)
    return points, edges, faces


USUAL = (quads, quads, triangles, strewn, rope, rope, ring, tube, box, sphere, octahedron, sewn)
ODD = (empty, loose, edge, fan, apart, polygon, spoilt, spoilt, spoilt)


def shape(draw: Draw) -> tuple[str, Shape]:
    """A shape of either kind, and its name."""
    make: Any = draw.one_of(USUAL if draw.chance(0.75) else ODD)
    make = monkey if draw.chance(0.02) else make
    return make.__name__, make(draw)
