"""A mesh taken apart: shares of area and length, shear pairs, bend stencils, components.

All functions are pure; vertices are indices into one mesh.
"""

from dataclasses import dataclass

import numpy as np

from .mesh import Booleans, Floats, Integers, MeshData

STRAIGHT = 1e-3
"""A line of two edges counts as straight at rest when it turns by less than this [rad]."""


@dataclass(frozen=True, eq=False)
class Corners:
    """The face corners of a mesh, one row per corner."""

    vertex: Integers
    """(c,) the corner's vertex."""
    following: Integers
    """(c,) the next vertex around the face."""
    preceding: Integers
    """(c,) the vertex before, around the face."""
    face: Integers
    """(c,) the face."""
    size: Integers
    """(c,) how many corners that face has."""


@dataclass(frozen=True, eq=False)
class Hinges:
    """Pairs of faces across an edge (p, q): `first` walks p → q, `second` is the other face."""

    p: Integers
    q: Integers
    beyond_p: Integers
    """(h, 2) the vertex next to p in either face, away from the edge."""
    beyond_q: Integers
    """(h, 2) the vertex next to q in either face, away from the edge."""
    faces: Integers
    """(h, 2) the two faces."""
    sizes: Integers
    """(h, 2) their numbers of corners."""


@dataclass(frozen=True, eq=False)
class Lines:
    """Bend stencils of three vertices a – centre – b."""

    vertices: Integers
    """(k, 3) a, centre, b."""
    share: Floats
    """(k,) the area (surfaces) or length (ropes) whose bending each stands for [m² or m]."""


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
        face=face,
        size=size,
    )


def face_normals(positions: Floats, corners: Corners, face_count: int) -> Floats:
    """(f, 3) vectors normal to the faces, as long as their areas [m²] (Newell's formula)."""
    cross = np.cross(positions[corners.vertex], positions[corners.following])
    return 0.5 * np.stack(
        [np.bincount(corners.face, cross[:, axis], face_count) for axis in range(3)], axis=1
    )


def sum_by(labels: Integers, values: Floats, count: int) -> Floats:
    """(count,) the values added up label by label."""
    return np.bincount(labels, values, count).astype(np.float64, copy=False)


def vertex_areas(corners: Corners, areas: Floats, particle_count: int) -> Floats:
    """(n,) the area around each vertex: every face shared out evenly over its corners [m²]."""
    shares = areas / _sizes(corners, len(areas))
    return sum_by(corners.vertex, shares[corners.face], particle_count)


def _sizes(corners: Corners, face_count: int) -> Integers:
    """(f,) corners of each face, at least 1."""
    return np.maximum(np.bincount(corners.face, minlength=face_count), 1)


def edge_lengths(positions: Floats, edges: Integers) -> Floats:
    """(m,) rest lengths [m]."""
    return np.asarray(np.linalg.norm(positions[edges[:, 1]] - positions[edges[:, 0]], axis=1))


def edge_keys(a: Integers, b: Integers, particle_count: int) -> Integers:
    """One number for each undirected pair of vertices."""
    return np.asarray(np.minimum(a, b) * particle_count + np.maximum(a, b))


def edge_areas(edges: Integers, corners: Corners, areas: Floats, particle_count: int) -> Floats:
    """(m,) the area whose tension each edge carries: half of each quad, all of each triangle.

    With strain = compliance × tension, the edge's compliance is c L² / area; a grid of quads and
    the same grid cut into triangles then stretch alike [m²].
    """
    keys = edge_keys(edges[:, 0], edges[:, 1], particle_count)
    order = np.argsort(keys, kind="stable")
    corner_keys = edge_keys(corners.vertex, corners.following, particle_count)
    place = np.searchsorted(keys[order], corner_keys)
    part = areas[corners.face] * np.where(corners.size == 3, 1.0, 0.5)
    return sum_by(order[place], part, len(edges))


def among_triangles(edges: Integers, corners: Corners, particle_count: int) -> Booleans:
    """(m,) bool, edges that have faces, and triangles only."""
    keys = edge_keys(edges[:, 0], edges[:, 1], particle_count)
    corner_keys = edge_keys(corners.vertex, corners.following, particle_count)
    triangle = corners.size == 3
    wider = np.isin(keys, corner_keys[~triangle])
    return np.asarray(np.isin(keys, corner_keys[triangle]) & ~wider)


def find_hinges(corners: Corners, particle_count: int) -> Hinges:
    """Pairs up the faces that meet at an edge; where more than two meet, neighbours in the list."""
    keys = edge_keys(corners.vertex, corners.following, particle_count)
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    first, second = order[same], order[same + 1]
    after = _corner_after_next(corners)
    p, q = corners.vertex[first], corners.following[first]
    turned = corners.vertex[second] == q
    return Hinges(
        p=p,
        q=q,
        beyond_p=np.stack(
            [
                corners.preceding[first],
                np.where(turned, after[second], corners.preceding[second]),
            ],
            axis=1,
        ),
        beyond_q=np.stack(
            [after[first], np.where(turned, corners.preceding[second], after[second])], axis=1
        ),
        faces=np.stack([corners.face[first], corners.face[second]], axis=1),
        sizes=np.stack([corners.size[first], corners.size[second]], axis=1),
    )


def _corner_after_next(corners: Corners) -> Integers:
    """(c,) the vertex two steps ahead around the face."""
    starts = np.flatnonzero(np.diff(corners.face, prepend=-1))
    start = starts[np.searchsorted(starts, np.arange(len(corners.face)), side="right") - 1]
    place = np.arange(len(corners.face)) - start
    return np.asarray(corners.vertex[start + (place + 2) % corners.size])


def face_diagonals(corners: Corners) -> tuple[Integers, Integers]:
    """Pairs two corners apart within each face of four or more, and the face of each pair."""
    pairs = np.stack([corners.preceding, corners.following], axis=1)
    wide = corners.size > 4
    starts = np.diff(corners.face, prepend=-1) > 0
    second = np.roll(starts, 1)
    chosen = wide | ((corners.size == 4) & (starts | second))
    return pairs[chosen], corners.face[chosen]


def triangle_pair_diagonals(hinges: Hinges) -> tuple[Integers, Integers]:
    """Opposite vertices of triangle pairs, and the hinge of each pair."""
    both = np.flatnonzero((hinges.sizes == 3).all(axis=1))
    return hinges.beyond_p[both], both


def surface_lines(hinges: Hinges, areas: Floats, positions: Floats) -> tuple[Lines, Integers]:
    """Straight lines across quads, and the hinges that they do not stand for.

    The hinge between two quads bends the two lines that cross its edge at p and at q. Where those
    are straight at rest, they bend like the hinge and cost less; the others stay hinges.
    """
    at_p = np.stack([hinges.beyond_p[:, 0], hinges.p, hinges.beyond_p[:, 1]], axis=1)
    at_q = np.stack([hinges.beyond_q[:, 0], hinges.q, hinges.beyond_q[:, 1]], axis=1)
    straight = (
        (hinges.sizes == 4).all(axis=1)
        & (line_turns(positions, at_p) < STRAIGHT)
        & (line_turns(positions, at_q) < STRAIGHT)
    )
    triples = np.concatenate([at_p[straight], at_q[straight]])
    quarter = areas[hinges.faces[straight]].sum(axis=1) / 4
    swapped = triples[:, 0] > triples[:, 2]
    triples[swapped] = triples[swapped][:, ::-1]
    unique, place = np.unique(triples, axis=0, return_inverse=True)
    share = sum_by(place.ravel(), np.concatenate([quarter, quarter]), len(unique))
    return Lines(unique.reshape(-1, 3), share), np.flatnonzero(~straight)


def line_turns(positions: Floats, triples: Integers) -> Floats:
    """(k,) |unit(a − centre) + unit(b − centre)| = 2 sin(turn / 2)."""
    towards_a = positions[triples[:, 0]] - positions[triples[:, 1]]
    towards_b = positions[triples[:, 2]] - positions[triples[:, 1]]
    towards_a /= np.linalg.norm(towards_a, axis=1, keepdims=True)
    towards_b /= np.linalg.norm(towards_b, axis=1, keepdims=True)
    return np.asarray(np.linalg.norm(towards_a + towards_b, axis=1))


def rope_lines(positions: Floats, edges: Integers) -> Lines:
    """The bends of ropes: at each vertex the edges that go on through it, two by two.

    Where more than two edges meet, those within about 25° of straight go on through.
    """
    neighbours: list[list[int]] = [[] for _ in range(len(positions))]
    for a, b in edges.tolist():
        neighbours[a].append(b)
        neighbours[b].append(a)
    triples = [
        (around[i], centre, around[j])
        for centre, around in enumerate(neighbours)
        for i in range(len(around))
        for j in range(i + 1, len(around))
    ]
    vertices = np.array(triples, dtype=np.int64).reshape(-1, 3)
    degree = np.bincount(edges.ravel(), minlength=len(positions))
    through = (degree[vertices[:, 1]] == 2) | (line_turns(positions, vertices) < 0.43)
    vertices = vertices[through]
    lengths = np.linalg.norm(positions[vertices[:, [0, 2]]] - positions[vertices[:, [1]]], axis=2)
    return Lines(vertices, lengths.mean(axis=1))


def find_components(particle_count: int, edges: Integers) -> Integers:
    """(n,) a label for each vertex, equal within a connected component, counted from 0."""
    label = np.arange(particle_count)
    while True:
        lowest = label.copy()
        np.minimum.at(lowest, edges[:, 0], label[edges[:, 1]])
        np.minimum.at(lowest, edges[:, 1], label[edges[:, 0]])
        lowest = lowest[lowest]
        if np.array_equal(lowest, label):
            return np.asarray(np.unique(label, return_inverse=True)[1].reshape(-1))
        label = lowest
