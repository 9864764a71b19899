"""The rest shape of a body: the geometry and masses that its constraints are built from."""

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Booleans, Floats, Integers, sum_by
from ..mesh import MeshData
from ..settings import BodySettings
from .faces import Corners, face_normals, normalized, read_corners, vertex_areas, without_faces
from .graph import edge_keys, edge_lengths, find_components
from .holes import hole_lids, orient_alike

FIRM_PIN = 0.999
"""Pin weight from which on a particle follows its target exactly. The spring of a smaller one has
at most 630 rad/s, too fast for most steps; with twice the distance to 1, 450 rad/s, with half, 890
rad/s."""


@dataclass(frozen=True, eq=False)
class RestShape:
    """A body's mesh at rest, its settings, geometry and masses; ropes have no faces."""

    mesh: MeshData
    """The mesh at rest, without mirror images or motion."""
    settings: BodySettings
    corners: Corners
    areas: Floats
    """(f,) [m²]"""
    lengths: Floats
    """(m,) rest lengths of the edges [m]."""
    loose: Booleans
    """(m,) bool, edges without faces, as those of ropes."""
    in_rope: Booleans
    """(m,) bool, edges of connected components without faces."""
    triangles: Integers
    """(3, t) all faces as triangle fans from their first corner, counter-clockwise from outside; of
    a solid, also the lids over its holes."""
    components: Integers
    """(n,) label of each connected part, from 0."""
    pinned: Booleans
    """(n,) bool, particles that follow their targets exactly."""
    masses: Floats
    """(n,) [kg]"""

    @property
    def particle_count(self) -> int:
        """Number of particles of the body."""
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
        """(n,) collision distances [m]."""
        return self.settings.thickness * self.particle_shares(self.mesh.paint.thickness)

    def particle_shares(self, weights: Floats | None) -> Floats:
        """(n,) share of a setting for each particle; 1 without painted weights, and in solids."""
        if weights is None or self.settings.dimension == 3:
            return np.ones(self.particle_count)
        return weights

    @property
    def inverse_masses(self) -> Floats:
        """(n,) 0 for pinned particles [1/kg]."""
        return np.where(self.pinned, 0.0, 1.0 / self.masses)

    def rest_distances(self, pairs: Integers) -> Floats:
        """(m,) distances of pairs (m, 2) of particles at rest [m]."""
        return edge_lengths(self.mesh.positions, pairs) * self.shrinkage(pairs)

    def shrinkage(self, pairs: Integers) -> Floats:
        """(m,) factors of painted shrinking on the lengths of pairs (m, 2)."""
        return _shrinkage(self.mesh, self.settings, pairs)


MIN_RIGID_WEIGHT = 0.5
"""Weight from which on a vertex belongs to a rigid piece: the nearer one of 0 and 1."""


def build_rest_shape(mesh: MeshData, settings: BodySettings) -> RestShape:
    """The rest shape of a mesh with these settings."""
    mesh, dimension = _at_rest(mesh, settings), settings.dimension
    if dimension == 1:
        none = np.zeros(0, dtype=np.int64)
        mesh = replace(mesh, face_starts=np.zeros(1, dtype=np.int64), face_vertices=none)
    n = len(mesh.positions)
    corners = read_corners(mesh)
    loose = without_faces(mesh.edges, corners, n)
    normals = face_normals(mesh.positions, corners, len(mesh.face_starts) - 1)
    areas = np.linalg.norm(normals, axis=1)
    lengths = edge_lengths(mesh.positions, mesh.edges) * _shrinkage(mesh, settings, mesh.edges)
    labels = find_components(n, np.concatenate([mesh.edges, mesh.seams]))
    surface = np.isin(labels, labels[corners.vertex])
    around = vertex_areas(corners, areas, n)
    ends = sum_by(mesh.edges[loose].ravel(), np.repeat(lengths[loose] / 2, 2), n)
    triangles = _fan(mesh, corners)
    if dimension == 3:
        triangles = _without_holes(mesh.name, triangles, n)
    # In bodies with faces, a loose edge weighs as much as a band of the mean edge length.
    band = 1.0 if dimension == 1 else lengths.mean()
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


def _without_holes(name: str, triangles: Integers, n: int) -> Integers:
    """(3, t) triangles of a surface, and lids over holes; a surface without holes as it is."""
    sides = np.stack([triangles, np.roll(triangles, -1, axis=0)])
    if (np.unique(edge_keys(sides.reshape(2, -1), n), return_counts=True)[1] > 1).all():
        return triangles
    faces = orient_alike(
        triangles, complaint=f"'{name}' is open, and", remedy="set its type to Cloth"
    )
    return np.concatenate([faces, hole_lids(faces, n)], axis=1)


def _at_rest(mesh: MeshData, settings: BodySettings) -> MeshData:
    """The mesh in its rest shape, shrunk as a whole; painted shrinking changes lengths instead."""
    positions = mesh.at_rest
    if mesh.paint.shrinking is None:
        positions = positions * (1.0 - settings.shrinking)
    return replace(mesh, positions=positions)


def rest_lengths(mesh: MeshData, settings: BodySettings) -> Floats:
    """(m,) rest lengths of a mesh's edges after shrinking [m]."""
    lengths = edge_lengths(_at_rest(mesh, settings).positions, mesh.edges)
    return lengths * _shrinkage(mesh, settings, mesh.edges)


def _shrinkage(mesh: MeshData, settings: BodySettings, pairs: Integers) -> Floats:
    """(m,) factors of painted shrinking on the lengths of pairs (m, 2) in a mesh at rest."""
    if mesh.paint.shrinking is None:
        return np.ones(len(pairs))
    return 1.0 - settings.shrinking * painted_shares(mesh.paint.shrinking, pairs)


def painted_shares(weights: Floats | None, members: Integers) -> Floats:
    """(k,) share of a setting for particles (k, m): their mean weight, or 1 without weights."""
    return np.ones(len(members)) if weights is None else weights[members].mean(axis=1)


def without_edges(shape: RestShape) -> RestShape:
    """The rest shape without edges and faces: the same particles and masses, unconnected."""
    none = np.zeros(0, dtype=np.int64)
    bare = remeshed(shape, np.zeros(len(shape.lengths), dtype=bool), none, none, np.zeros(0))
    return replace(bare, triangles=none.reshape(3, 0), components=np.arange(shape.particle_count))


def remeshed(
    shape: RestShape, edges: Booleans, sizes: Integers, vertices: Integers, areas: Floats
) -> RestShape:
    """The rest shape with some of its edges and other faces; particles and masses are the same.

    Parameters
    ----------
    edges : (m,) bool, edges to keep.
    sizes, areas : (f,) number of corners and area of each face [m²].
    vertices : (c,) vertices of all face corners, face after face.
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
    """(3, t) all faces as triangle fans around their first corner."""
    first = mesh.face_vertices[mesh.face_starts[:-1]][corners.face]
    is_triangle = (corners.vertex != first) & (corners.following != first)
    return np.stack([row[is_triangle] for row in (first, corners.vertex, corners.following)])


def _total_mass(settings: BodySettings, triangles: Floats, shares: Floats, scale: float) -> float:
    """Mass of a body: the setting, or density times volume, area or length before shrinking [kg].

    Triangles (3, t, 3) and shares (n,) of area or length are those after shrinking by `scale`.
    """
    if not settings.use_density:
        return settings.mass
    size, (a, b, c) = shares.sum(), triangles
    if settings.dimension == 3:
        size = abs((a * np.cross(b, c)).sum()) / 6.0 or size
    return settings.density * float(size) / scale**settings.dimension


def _masses(total: float, shares: Floats) -> Floats:
    """(n,) masses in proportion to shares (n,), and their mean for those with share 0 [kg]."""
    known = shares > 0.0
    shares[~known] = shares[known].mean() if known.any() else 1.0
    return np.asarray(total * shares / shares.sum())


def vertex_normals(shape: RestShape) -> Floats:
    """(n, 3) unit normals at vertices; 0 at those without faces."""
    normals = face_normals(shape.mesh.positions, shape.corners, len(shape.areas))
    summed = np.zeros((shape.particle_count, 3))
    np.add.at(summed, shape.corners.vertex, normals[shape.corners.face])
    return normalized(summed)
