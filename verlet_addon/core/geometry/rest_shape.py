"""A body at rest, taken apart once for everything that is built from it."""

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Booleans, Floats, Integers, sum_by
from ..mesh import MeshData
from ..settings import BodySettings
from .faces import Corners, face_normals, read_corners, vertex_areas, without_faces
from .graph import edge_lengths, find_components

FIRM_PIN = 0.999
"""From this weight on a pin holds its particle exactly."""


@dataclass(frozen=True, eq=False)
class RestShape:
    """A body's mesh and settings, and what its builders share; ropes have no faces."""

    mesh: MeshData
    """As it is at rest, without any images or motion."""
    settings: BodySettings
    corners: Corners
    areas: Floats
    """(f,) [m²]"""
    lengths: Floats
    """(m,) of the edges [m]."""
    loose: Booleans
    """(m,) bool, edges that carry no face, as ropes do."""
    in_rope: Booleans
    """(m,) bool, edges of components that have no face at all."""
    triangles: Integers
    """(3, t) all faces, each fanned out from its first corner, counter-clockwise from outside."""
    components: Integers
    """(n,) label of each connected part, from 0."""
    pinned: Booleans
    """(n,) bool, particles that follow their targets exactly."""
    masses: Floats
    """(n,) [kg]"""

    @property
    def particle_count(self) -> int:
        """How many particles the body has."""
        return len(self.mesh.positions)

    @property
    def rigid(self) -> Booleans:
        """(n,) bool, particles that are painted rigid."""
        weights = self.mesh.paint.rigid
        return (
            np.zeros(self.particle_count, bool) if weights is None else weights >= MIN_RIGID_WEIGHT
        )

    @property
    def thicknesses(self) -> Floats:
        """(n,) distances kept from what is touched [m]."""
        return self.settings.thickness * self.particle_shares(self.mesh.paint.thickness)

    def particle_shares(self, weights: Floats | None) -> Floats:
        """(n,) how much of a setting holds for each particle; all where nothing is painted."""
        solid = self.settings.body_type == "SOFT"
        return np.ones(self.particle_count) if weights is None or solid else weights

    @property
    def inverse_masses(self) -> Floats:
        """(n,) 0 for pinned particles [1/kg]."""
        return np.where(self.pinned, 0.0, 1.0 / self.masses)

    def rest_distances(self, pairs: Integers) -> Floats:
        """(m,) how far apart pairs (m, 2) of particles are at rest [m]."""
        return edge_lengths(self.mesh.positions, pairs) * self.shrinkage(pairs)

    def shrinkage(self, pairs: Integers) -> Floats:
        """(m,) what painted shrinking leaves of the lengths of pairs (m, 2)."""
        return _shrinkage(self.mesh, self.settings, pairs)


MIN_RIGID_WEIGHT = 0.5
"""From this weight on, a vertex belongs to a rigid piece."""


def build_rest_shape(mesh: MeshData, settings: BodySettings) -> RestShape:
    """Reads off the mesh what is needed again and again."""
    mesh = _at_rest(mesh, settings)
    if settings.body_type == "ROPE":
        none = np.zeros(0, dtype=np.int64)
        mesh = replace(mesh, face_starts=np.zeros(1, dtype=np.int64), face_vertices=none)
    n = len(mesh.positions)
    corners = read_corners(mesh)
    loose = without_faces(mesh.edges, corners, n)
    normals = face_normals(mesh.positions, corners, len(mesh.face_starts) - 1)
    areas = np.linalg.norm(normals, axis=1)
    lengths = edge_lengths(mesh.positions, mesh.edges)
    lengths *= _shrinkage(mesh, settings, mesh.edges)
    labels = find_components(n, np.concatenate([mesh.edges, mesh.seams]))
    surface = np.isin(labels, labels[corners.vertex])
    around = vertex_areas(corners, areas, n)
    ends = sum_by(mesh.edges[loose].ravel(), np.repeat(lengths[loose] / 2, 2), n)
    triangles = _fan(mesh, corners)
    # Beside faces, a loose edge counts as a band as wide as the body's edges are long.
    band = 1.0 if settings.body_type == "ROPE" else lengths.mean()
    shares = np.where(around > 0.0, around, ends * band)
    scale = 1.0 if mesh.paint.shrinking is not None else 1.0 - settings.shrinking
    return RestShape(
        mesh=mesh,
        settings=settings,
        corners=corners,
        areas=areas,
        lengths=lengths,
        loose=loose,
        triangles=triangles,
        components=labels,
        in_rope=~surface[mesh.edges[:, 0]],
        pinned=mesh.pin_weights >= FIRM_PIN,
        masses=_masses(_total_mass(settings, mesh.positions[triangles], shares, scale), shares),
    )


def _at_rest(mesh: MeshData, settings: BodySettings) -> MeshData:
    """The mesh in its rest shape, shrunk as a whole; where that is painted, lengths alone are."""
    positions = mesh.at_rest
    if mesh.paint.shrinking is None:
        positions = positions * (1.0 - settings.shrinking)
    return replace(mesh, positions=positions)


def _shrinkage(mesh: MeshData, settings: BodySettings, pairs: Integers) -> Floats:
    """(m,) what shrinking leaves of the lengths of pairs (m, 2) in a mesh at rest."""
    if mesh.paint.shrinking is None:
        return np.ones(len(pairs))
    return 1.0 - settings.shrinking * painted_shares(mesh.paint.shrinking, pairs)


def painted_shares(weights: Floats | None, members: Integers) -> Floats:
    """(k,) how much of a setting holds for particles (k, m) together; all if nothing is painted."""
    return np.ones(len(members)) if weights is None else weights[members].mean(axis=1)


def without_edges(shape: RestShape) -> RestShape:
    """The same particles, of the same masses, that nothing joins."""
    none = np.zeros(0, dtype=np.int64)
    bare = remeshed(shape, np.zeros(len(shape.lengths), dtype=bool), none, none, np.zeros(0))
    return replace(bare, triangles=none.reshape(3, 0), components=np.arange(shape.particle_count))


def remeshed(
    shape: RestShape, edges: Booleans, sizes: Integers, vertices: Integers, areas: Floats
) -> RestShape:
    """The same particles, joined by some of the edges (m,), with other faces (f,).

    Parameters
    ----------
    sizes, areas : (f,) corners of each face, and its area [m²].
    vertices : (c,) of all face corners, face after face.
    """
    mesh = replace(
        shape.mesh,
        edges=shape.mesh.edges[edges],
        face_starts=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        face_vertices=vertices,
    )
    return replace(
        shape,
        mesh=mesh,
        corners=read_corners(mesh),
        areas=areas,
        lengths=shape.lengths[edges],
        loose=shape.loose[edges],
        in_rope=shape.in_rope[edges],
    )


def _fan(mesh: MeshData, corners: Corners) -> Integers:
    """(3, t) every face as triangles around its first corner."""
    first = mesh.face_vertices[mesh.face_starts[:-1]][corners.face]
    is_triangle = (corners.vertex != first) & (corners.following != first)
    return np.stack([row[is_triangle] for row in (first, corners.vertex, corners.following)])


def _total_mass(settings: BodySettings, triangles: Floats, shares: Floats, scale: float) -> float:
    """What a body weighs whose triangles (3, t, 3) and shares (n,) of size are known [kg].

    They may be those of the shrunk body: what shrinks to this scale keeps its weight.
    """
    if not settings.use_density:
        return settings.mass
    size, dimension = shares.sum(), 1 if settings.body_type == "ROPE" else 2
    if settings.body_type == "SOFT":
        a, b, c = triangles
        size, dimension = abs((a * np.cross(b, c)).sum()) / 6.0 or size, 3
    return settings.density * float(size) / scale**dimension


def _masses(total: float, shares: Floats) -> Floats:
    """(n,) the total by shares; what has no edge or area weighs as much as the average [kg]."""
    known = shares > 0.0
    shares[~known] = shares[known].mean() if known.any() else 1.0
    return np.asarray(total * shares / shares.sum())


def vertex_normals(shape: RestShape) -> Floats:
    """(n, 3) unit normals, 0 without faces."""
    normals = face_normals(shape.mesh.positions, shape.corners, len(shape.areas))
    summed = np.zeros((shape.particle_count, 3))
    np.add.at(summed, shape.corners.vertex, normals[shape.corners.face])
    size = np.linalg.norm(summed, axis=1, keepdims=True)
    return np.asarray(summed / np.where(size > 0.0, size, 1.0))
