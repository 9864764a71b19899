"""One body's mesh, as the core takes it from Blender, and whether it can be simulated."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from .arrays import Booleans, Floats, Integers
from .errors import MeshError
from .scene import Plane


@dataclass(frozen=True, eq=False)
class Mirror:
    """A plane behind which a body shows once more, joined to itself where it touches the plane."""

    plane: Plane
    """At the first frame."""
    point_velocity: Floats
    """(3,) how fast the plane's point moves there [m/s]."""
    normal_velocity: Floats
    """(3,) how fast its normal turns there [1/s]."""
    reach: float
    """Vertices as near to the plane as this are on it [m]."""


@dataclass(frozen=True, eq=False)
class Paint:
    """Per vertex (n,), what share of a setting holds there, 0 … 1; None where all of it does."""

    stretch: Floats | None = None
    shear: Floats | None = None
    bend: Floats | None = None
    shrinking: Floats | None = None
    thickness: Floats | None = None
    pressure: Floats | None = None
    stiffness: Floats | None = None
    rigid: Floats | None = None
    """Not a share: what is painted at least half moves as one."""
    object_collisions: Floats | None = None
    """Not a share: what is painted at all passes through colliders and other bodies."""
    self_collisions: Floats | None = None
    """Likewise through the body itself."""


@dataclass(frozen=True, eq=False)
class MeshData:
    """One body's mesh in world space, as it stands at the first frame."""

    name: str
    """The object's name, for messages."""
    positions: Floats
    """(n, 3) vertex positions [m]; they are also the rest shape, if there is no other."""
    edges: Integers
    """(m, 2) vertex indices of every edge, those of faces and loose ones."""
    face_starts: Integers
    """(f + 1,) where each face begins in `face_vertices`; the last entry is its length."""
    face_vertices: Integers
    """(c,) vertex indices of all face corners, face after face."""
    pin_weights: Floats
    """(n,) 0 = free, 1 = follows `Sample.targets` exactly, between = drawn towards it."""
    velocities: Floats
    """(n, 3) velocity at the first frame [m/s]."""
    mirrors: Sequence[Mirror] = ()
    """Each shows what the mesh and those before it show; the mesh above is without any image."""
    colliders: Sequence[int] = ()
    """Numbers of the colliders that the body meets."""
    rest_positions: Floats | None = None
    """(n, 3) where vertices are while nothing is stretched or bent [m]; None = as above."""
    paint: Paint = Paint()
    """Where settings hold in part."""
    seams: Integers = field(default_factory=lambda: np.empty((0, 2), np.int64))
    """(s, 2) vertices that are sewn to each other; they are no edges."""
    threads: Floats | None = None
    """(c, 2) where a map shows each face corner: threads run up in it, and across. None = cloth is
    alike every way."""

    @property
    def at_rest(self) -> Floats:
        """(n, 3) where vertices are while nothing is stretched or bent [m]."""
        return self.positions if self.rest_positions is None else self.rest_positions

    @property
    def exempt(self) -> Booleans:
        """(2, n) bool, which vertices pass through all else, and through their own body."""
        none = np.zeros(len(self.positions))
        layers = (self.paint.object_collisions, self.paint.self_collisions)
        return np.stack([(none if layer is None else layer) > 0.0 for layer in layers])


MAX_COORDINATE = 1e6
"""Coordinates beyond this are taken for damage: a shape key's float32 is 0.1 m coarse there [m]."""
SHORTEST_EDGE = 1e-9
"""Edges shorter than this have no direction [m]."""


def check_mesh(mesh: MeshData) -> None:
    """Raises MeshError, in one sentence, if the mesh cannot be simulated as it is."""
    for problem in (_positions_problem, _edges_problem, _faces_problem, _pins_problem):
        text = problem(mesh)
        if text:
            raise MeshError(f"'{mesh.name}' {text}")


def _positions_problem(mesh: MeshData) -> str | None:
    """What is wrong with the coordinates."""
    if not len(mesh.positions):
        return "has no vertices; add some, or remove its soft body"
    wrong = np.flatnonzero(~(np.abs(mesh.positions) < MAX_COORDINATE).all(axis=1))
    if len(wrong):
        place = ", ".join(f"{value:g}" for value in mesh.positions[wrong[0]])
        return (
            f"has {len(wrong)} of its vertices at impossible coordinates, vertex {wrong[0]} at "
            f"({place}); move or delete them"
        )
    if not np.isfinite(mesh.velocities).all():
        return "moves at an infinite speed before the first frame; look at its animation there"
    return None


def _edges_problem(mesh: MeshData) -> str | None:
    """What is wrong with the edges."""
    if not len(mesh.edges):
        return "has no edges, so nothing holds it together; add edges, or remove its soft body"
    if short := _without_length(mesh.positions, mesh.edges):
        return f"has edges of no length ({short} of them); use Merge by Distance in Edit Mode"
    if mesh.rest_positions is not None:
        if not (np.abs(mesh.rest_positions) < MAX_COORDINATE).all():
            return "has a rest shape with impossible coordinates; choose another shape key"
        if short := _without_length(mesh.rest_positions, mesh.edges):
            edges = f"edges of no length ({short} of them)"
            return f"has {edges} in its rest shape; choose another shape key"
    return None


def _without_length(positions: Floats, edges: Integers) -> int:
    """How many edges have no direction."""
    return int(np.count_nonzero(_spans(positions, edges) < SHORTEST_EDGE))


def _spans(positions: Floats, edges: Integers) -> Floats:
    """(m,) how long edges are [m]."""
    ends = positions[edges]
    return np.asarray(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1))


def _faces_problem(mesh: MeshData) -> str | None:
    """What is wrong with the faces."""
    if doubled := len(doubled_faces(mesh.face_starts, mesh.face_vertices)):
        return f"has {doubled} faces twice over; delete the duplicates in Edit Mode"
    return None


def doubled_faces(starts: Integers, vertices: Integers) -> Integers:
    """Lists the faces that have the same vertices as one before them.

    Parameters
    ----------
    starts
        (f + 1,) where the corners of each face begin, and where the last end.
    vertices
        (c,) the vertex at each corner.
    """
    sizes, doubled = np.diff(starts), []
    for size in np.unique(sizes):
        alike = np.flatnonzero(sizes == size)
        faces = np.sort(vertices[starts[alike, None] + np.arange(size)], axis=1)
        order = np.lexsort(faces.T)  # which leaves the first of equals first
        faces = faces[order]
        doubled.append(alike[order[1:][(faces[1:] == faces[:-1]).all(axis=1)]])
    return np.sort(np.concatenate([*doubled, np.zeros(0, np.int64)]))


def _pins_problem(mesh: MeshData) -> str | None:
    """What is wrong with the pins."""
    if (mesh.pin_weights >= 1.0).all():
        return "has every vertex pinned, so nothing can move; lower some weights of its pin group"
    return None
