"""All bodies put into one mesh, which the rest of the build takes apart."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Booleans, Floats, Integers
from ..coloring import find_hubs
from ..geometry.faces import Corners, face_normals, read_corners
from ..geometry.graph import edge_keys, edge_lengths
from ..mesh import MeshData
from ..settings import BodySettings


@dataclass(frozen=True, eq=False)
class Scene:
    """All bodies as one mesh, with what the builders below share."""

    mesh: MeshData
    body: Integers
    """(n,) the body each particle belongs to."""
    settings: Sequence[BodySettings]
    corners: Corners
    areas: Floats
    """(f,)"""
    lengths: Floats
    """(m,) of the edges."""
    loose: Booleans
    """(m,) bool, edges that carry no face, as ropes do."""

    @property
    def particle_count(self) -> int:
        """How many particles all bodies have."""
        return len(self.mesh.positions)

    @property
    def hubs(self) -> Booleans:
        """(n,) bool, particles where very many edges meet."""
        return find_hubs(self.mesh.edges, self.particle_count)

    def per_particle(self, value: Callable[[BodySettings], float]) -> Floats:
        """(n,) one setting of each particle's body."""
        return np.array([value(settings) for settings in self.settings], dtype=float)[self.body]


def merge(meshes: Sequence[MeshData], settings: Sequence[BodySettings]) -> Scene:
    """Puts all bodies into one mesh; faces of ropes are left out."""
    counts = [len(mesh.positions) for mesh in meshes]
    offsets = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
    with_faces = [
        (mesh, offset)
        for mesh, offset, body in zip(meshes, offsets, settings, strict=True)
        if body.body_type != "ROPE"
    ]
    sizes = [np.diff(mesh.face_starts) for mesh, _ in with_faces]
    faces = [mesh.face_vertices + offset for mesh, offset in with_faces]
    mesh = MeshData(
        name="",
        positions=np.concatenate([mesh.positions for mesh in meshes]),
        edges=np.concatenate(
            [mesh.edges + offset for mesh, offset in zip(meshes, offsets, strict=True)]
        ),
        face_starts=np.concatenate([[0], np.cumsum(np.concatenate([[], *sizes]))]).astype(np.int64),
        face_vertices=np.concatenate([np.empty(0, dtype=np.int64), *faces]),
        pin_weights=np.concatenate([mesh.pin_weights for mesh in meshes]),
        velocities=np.concatenate([mesh.velocities for mesh in meshes]),
    )
    corners = read_corners(mesh)
    sides = edge_keys(corners.vertex, corners.following, len(mesh.positions))
    keys = edge_keys(mesh.edges[:, 0], mesh.edges[:, 1], len(mesh.positions))
    normals = face_normals(mesh.positions, corners, len(mesh.face_starts) - 1)
    return Scene(
        mesh=mesh,
        body=np.repeat(np.arange(len(meshes)), counts),
        settings=settings,
        corners=corners,
        areas=np.linalg.norm(normals, axis=1),
        lengths=edge_lengths(mesh.positions, mesh.edges),
        loose=~np.isin(keys, sides),
    )


def vertex_normals(scene: Scene) -> Floats:
    """(n, 3) unit normals, 0 without faces."""
    normals = face_normals(scene.mesh.positions, scene.corners, len(scene.areas))
    summed = np.zeros((scene.particle_count, 3))
    np.add.at(summed, scene.corners.vertex, normals[scene.corners.face])
    size = np.linalg.norm(summed, axis=1, keepdims=True)
    return np.asarray(summed / np.where(size > 0.0, size, 1.0))
