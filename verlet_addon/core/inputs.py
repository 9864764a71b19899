"""Inputs of a simulation that are made in Python: meshes of faces, and scenes that stand still."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Floats
from .errors import MeshError
from .mesh import MeshData
from .scene import Plane, Sample

EARTH = (0.0, 0.0, -9.81)
"""Physical constant: gravity of the Earth [m/s²]."""
FLOOR = Plane(point=np.zeros(3), normal=np.array([0.0, 0.0, 1.0]))
"""Level ground at height 0."""


def mesh_from_faces(
    positions: ArrayLike,
    faces: Sequence[Sequence[int]] = (),
    *,
    edges: ArrayLike = (),
    pinned: Sequence[int] = (),
    colliders: Sequence[int] = (),
    name: str = "Body",
) -> MeshData:
    """A mesh at rest.

    Parameters
    ----------
    positions
        (n, 3) vertex positions [m].
    faces
        Vertex indices of each face, of three or more, counter-clockwise seen from outside.
    edges
        (m, 2) vertex indices of edges without faces, as those of a rope.
    pinned
        Indices of the vertices that are held.
    colliders
        Numbers of the colliders that the body collides with.
    name
        The body's name, for messages.

    Raises
    ------
    MeshError
        If a face, an edge or a pin has the index of no vertex.
    """
    points = np.array(positions, np.float64).reshape(-1, 3)
    loose = np.array(edges, np.int64).reshape(-1, 2)
    corners = np.array([vertex for face in faces for vertex in face], np.int64)
    held = np.array(pinned, np.int64)
    for what, indices in (("a face", corners), ("an edge", loose), ("a pin", held)):
        wrong = indices[(indices < 0) | (indices >= len(points))]
        if len(wrong):
            raise MeshError(
                f"'{name}' has {what} at vertex {wrong[0]}, but vertices 0 to {len(points) - 1}; "
                "correct its index"
            )
    around = [(face[k - 1], face[k]) for face in faces for k in range(len(face))]
    pairs = np.array([*around, *loose.tolist()], np.int64).reshape(-1, 2)
    weights = np.zeros(len(points))
    weights[held] = 1.0
    return MeshData(
        name=name,
        positions=points,
        edges=np.unique(np.sort(pairs, axis=1), axis=0),
        face_starts=np.cumsum([0, *map(len, faces)], dtype=np.int64),
        face_vertices=corners,
        pin_weights=weights,
        velocities=np.zeros_like(points),
        colliders=tuple(colliders),
    )


def sheet(
    columns: int,
    rows: int,
    *,
    width: float = 1.0,
    height: float = 0.0,
    pinned: Sequence[int] = (),
    colliders: Sequence[int] = (),
    name: str = "Sheet",
) -> MeshData:
    """A level sheet of squares, (rows + 1)(columns + 1) vertices, centred above the origin.

    Parameters
    ----------
    columns, rows
        Numbers of squares along X and Y; vertices are numbered along X, row by row.
    width
        Size along X [m].
    height
        Z coordinate of all vertices [m].
    pinned, colliders, name
        As for `mesh_from_faces`.

    Raises
    ------
    MeshError
        If a pin has the index of no vertex.
    """
    y, x = np.mgrid[0 : rows + 1, 0 : columns + 1].reshape(2, -1).astype(np.float64)
    step = width / columns
    positions = np.stack(
        [(x - columns / 2) * step, (y - rows / 2) * step, np.full_like(x, height)], axis=1
    )
    first = np.arange(rows)[:, None] * (columns + 1) + np.arange(columns)
    square = np.array([0, 1, columns + 2, columns + 1])
    faces = (first.reshape(-1, 1) + square).tolist()
    return mesh_from_faces(positions, faces, pinned=pinned, colliders=colliders, name=name)


def sphere(
    rings: int,
    *,
    radius: float = 0.5,
    center: ArrayLike = (0.0, 0.0, 0.0),
    pinned: Sequence[int] = (),
    colliders: Sequence[int] = (),
    name: str = "Sphere",
) -> MeshData:
    """A closed ball: as many rings of twice as many vertices, between two poles of triangles.

    Parameters
    ----------
    rings
        Number of rings, 2 or more. The first vertex is the upper pole, and the last one the lower.
    radius, center
        Its size [m], and (3,) its middle [m].
    pinned, colliders, name
        As for `mesh_from_faces`.

    Raises
    ------
    MeshError
        If there are less than two rings, or a pin has the index of no vertex.
    """
    if rings < 2:
        raise MeshError(f"'{name}' has {rings} rings; give it 2 or more")
    around, last = 2 * rings, 2 * rings**2 + 1
    height = np.pi * np.arange(1, rings + 1)[:, None] / (rings + 1)
    turn = 2.0 * np.pi * np.arange(around) / around
    rounds = np.sin(height) * np.cos(turn), np.sin(height) * np.sin(turn), np.cos(height) + 0 * turn
    unit = np.concatenate([[[0, 0, 1]], np.stack(rounds, axis=2).reshape(-1, 3), [[0, 0, -1]]])
    ring, place = np.mgrid[0 : rings - 1, 0:around].reshape(2, -1)
    here, there = 1 + ring * around + place, 1 + ring * around + (place + 1) % around
    sides = np.stack([here, here + around, there + around, there], axis=1).tolist()
    ahead = [(k + 1) % around for k in range(around)]
    upper = [(0, 1 + k, 1 + ahead[k]) for k in range(around)]
    lower = [(last, last - around + ahead[k], last - around + k) for k in range(around)]
    return mesh_from_faces(
        np.asarray(center) + radius * unit,
        [*upper, *sides, *lower],
        pinned=pinned,
        colliders=colliders,
        name=name,
    )


def still_scene(
    meshes: Sequence[MeshData],
    frames: int,
    *,
    frame_rate: float = 24.0,
    gravity: ArrayLike = EARTH,
    ground: Plane | None = FLOOR,
    colliders: Sequence[Floats] = (),
) -> Iterator[Sample]:
    """Samples of a scene in which pins, ground and colliders stand still.

    What moves or changes is set by `dataclasses.replace` on its samples.

    Parameters
    ----------
    meshes
        The bodies.
    frames
        Number of samples; the first is the start.
    frame_rate
        Frames per second [1/s].
    gravity
        (3,) acceleration [m/s²].
    ground
        The ground plane; None for none.
    colliders
        Per collider (v, 3) vertex positions [m].
    """
    targets = [mesh.positions for mesh in meshes]
    for frame in range(1, frames + 1):
        yield Sample(
            frame=frame,
            duration=1.0 / frame_rate,
            gravity=np.array(gravity, np.float64),
            targets=targets,
            ground=ground,
            colliders=colliders,
        )
