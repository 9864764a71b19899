"""One body's mesh, as the core takes it from Blender, and the check that it can be simulated."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from .arrays import Booleans, Floats, Integers
from .errors import MeshError
from .scene import Plane


@dataclass(frozen=True, eq=False)
class Mirror:
    """A mirror plane of a mesh, with its merge distance, as of Blender's Mirror modifier."""

    plane: Plane
    """The plane at the first frame."""
    point_velocity: Floats
    """(3,) velocity of the plane's point at the first frame [m/s]."""
    normal_velocity: Floats
    """(3,) rate of change of the plane's normal at the first frame [1/s]."""
    merge_distance: float
    """Merge distance: vertices within it are on the plane [m]."""


@dataclass(frozen=True, eq=False)
class Paint:
    """Painted weights: per vertex (n,), a factor on a setting, 0 … 1; None = 1 everywhere."""

    stretch: Floats | None = None
    shear: Floats | None = None
    bend: Floats | None = None
    shrinking: Floats | None = None
    maximum_distance: Floats | None = None
    thickness: Floats | None = None
    pressure: Floats | None = None
    stiffness: Floats | None = None
    rigid: Floats | None = None
    """Not a factor: vertices with a weight of at least ½ belong to rigid pieces."""
    flesh: Floats | None = None
    """Not a factor: 0 = bone, which follows `Sample.targets` exactly … 1 = fat; None = all bone."""
    muscle: Floats | None = None
    """Not a factor: 0 … 1 = all muscle, whose fibres are as long as `muscle_length` says; None =
    no muscle."""
    object_collisions: Floats | None = None
    """Not a factor: vertices above 0 are exempt from collisions with colliders and other bodies."""
    self_collisions: Floats | None = None
    """Not a factor: vertices above 0 are exempt from self-collision."""


@dataclass(frozen=True, eq=False)
class Joints:
    """Joints of bones, in ropes each at the start of the edge to a vertex, seen from the pins.

    Cloth has no joints, but keeps the lengths of bones in compression too.
    """

    frequencies: Floats
    """(n,) frequency of the first mode of a rod whose joints all have it, whatever its size and
    mass [Hz]; infinite = rigid, as at pins that never let go."""
    damping_ratios: Floats
    """(n,) damping ratio of that mode, with the damping of the air; 1 = it does not overshoot."""
    angle_limits: Floats
    """(n,) largest angle by which an edge turns away from its rest direction, relative to the edge
    before; π = none [rad]."""
    bones: Integers
    """(b, 2) vertices at the ends of each bone."""


@dataclass(frozen=True, eq=False)
class MeshData:
    """One body's mesh in world space at the first frame."""

    name: str
    """The object's name, for messages."""
    positions: Floats
    """(n, 3) vertex positions [m]; also the rest shape, unless `rest_positions` is given."""
    edges: Integers
    """(m, 2) vertex indices of every edge: edges of faces, and loose edges."""
    face_starts: Integers
    """(f + 1,) index of each face's first corner in `face_vertices`; the last entry is c."""
    face_vertices: Integers
    """(c,) vertex indices of all face corners, face after face."""
    pin_weights: Floats
    """(n,) 0 = free, 1 = follows `Sample.targets` exactly, between = soft pin."""
    velocities: Floats
    """(n, 3) velocity at the first frame [m/s]."""
    mirrors: Sequence[Mirror] = ()
    """Mirrors in order, each of which also reflects the images of those before it; the arrays of
    this mesh have no images."""
    colliders: Sequence[int] = ()
    """Numbers of the colliders that the body collides with."""
    rest_positions: Floats | None = None
    """(n, 3) vertex positions of the rest shape [m]; None = `positions`."""
    paint: Paint = Paint()
    """Painted weights of settings."""
    seams: Integers = field(default_factory=lambda: np.empty((0, 2), np.int64))
    """(s, 2) pairs of vertices that are sewn together; they are not in `edges`."""
    holders: Mapping[str, Integers] = field(default_factory=dict)
    """By the name of each other object that holds some vertices, these; for messages."""
    joints: Joints | None = None
    """Joints of ropes without rings, in place of `bend_compliance`, `inner_damping` and
    `angle_limit`; None = these."""
    may_be_held: bool = False
    """Whether all vertices may be pinned, as hair that follows its groom."""
    fibres: Floats | None = None
    """(n, 3) directions of muscle fibres in the rest shape, unit vectors, or 0 where there are
    none. None = no fibres."""
    threads: Floats | None = None
    """(c, 2) UV coordinates of face corners in a map of threads: the warp runs along v, the weft
    along u. None = isotropic cloth."""

    @property
    def at_rest(self) -> Floats:
        """(n, 3) vertex positions of the rest shape [m]."""
        return self.positions if self.rest_positions is None else self.rest_positions

    @property
    def triangles(self) -> Integers:
        """(t, 3) triangles of the faces: each face is a fan around its first corner."""
        counts = np.maximum(np.diff(self.face_starts) - 2, 0)
        first = np.repeat(self.face_starts[:-1], counts)
        number = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        corners = np.stack((first, first + number + 1, first + number + 2), axis=1)
        return np.asarray(self.face_vertices[corners])

    @property
    def exempt(self) -> Booleans:
        """(2, n) bool, vertices exempt from collisions with others, and from self-collision."""
        none = np.zeros(len(self.positions))
        layers = (self.paint.object_collisions, self.paint.self_collisions)
        return np.stack([(none if layer is None else layer) > 0.0 for layer in layers])


MAX_COORDINATE = 1e6
"""Limit of inputs: larger coordinates are rejected [m], for the float32 of a shape key resolves
only 0.1 m there."""
SHORTEST_EDGE = 1e-9
"""Rounding: edges shorter than this have no direction [m]."""


def check_mesh(mesh: MeshData) -> None:
    """Raises MeshError, in one sentence, if the mesh cannot be simulated as it is."""
    for problem in (_positions_problem, _edges_problem, _faces_problem, _pins_problem):
        text = problem(mesh)
        if text:
            raise MeshError(f"'{mesh.name}' {text}")


def _positions_problem(mesh: MeshData) -> str | None:
    """The end of an error message about coordinates or velocities, if they are invalid."""
    if not len(mesh.positions):
        return "has no vertices; add some, or remove its soft body"
    wrong = np.flatnonzero(~(np.abs(mesh.positions) < MAX_COORDINATE).all(axis=1))
    if len(wrong):
        place = ", ".join(f"{value:g}" for value in mesh.positions[wrong[0]])
        return (
            f"has {len(wrong)} of its vertices at invalid coordinates, vertex {wrong[0]} at "
            f"({place}); move or delete them"
        )
    if not np.isfinite(mesh.velocities).all():
        return "moves at an infinite speed before the first frame; correct its animation there"
    return None


def _edges_problem(mesh: MeshData) -> str | None:
    """The end of an error message about edges or the rest shape, if they are invalid."""
    if not len(mesh.edges):
        return "has no edges, so nothing holds it together; add edges, or remove its soft body"
    if short := count_short(mesh.positions, mesh.edges):
        return f"has edges of length 0 ({short} of them); use Merge by Distance in Edit Mode"
    if mesh.rest_positions is not None:
        if not (np.abs(mesh.rest_positions) < MAX_COORDINATE).all():
            return "has a rest shape with invalid coordinates; choose another shape key"
        if short := count_short(mesh.rest_positions, mesh.edges):
            edges = f"edges of length 0 ({short} of them)"
            return f"has {edges} in its rest shape; choose another shape key"
    return None


def count_short(positions: Floats, edges: Integers) -> int:
    """Number of edges (m, 2) shorter than SHORTEST_EDGE, for vertices at positions (n, 3) [m]."""
    spans = positions[edges[:, 1]] - positions[edges[:, 0]]
    return int(np.count_nonzero(np.linalg.norm(spans, axis=1) < SHORTEST_EDGE))


def _faces_problem(mesh: MeshData) -> str | None:
    """The end of an error message about duplicate faces, if there are any."""
    if doubled := len(doubled_faces(mesh.face_starts, mesh.face_vertices)):
        return f"has duplicate faces ({doubled} of them); delete them in Edit Mode"
    return None


def doubled_faces(starts: Integers, vertices: Integers) -> Integers:
    """Lists the faces that have the same vertices as an earlier face.

    Parameters
    ----------
    starts
        (f + 1,) index of each face's first corner; the last entry is c.
    vertices
        (c,) vertex at each corner.
    """
    sizes, doubled = np.diff(starts), []
    for size in np.unique(sizes):
        alike = np.flatnonzero(sizes == size)
        faces = np.sort(vertices[starts[alike, None] + np.arange(size)], axis=1)
        order = np.lexsort(faces.T)  # stable, so equal faces stay in ascending order
        faces = faces[order]
        doubled.append(alike[order[1:][(faces[1:] == faces[:-1]).all(axis=1)]])
    return np.sort(np.concatenate([*doubled, np.zeros(0, np.int64)]))


def _pins_problem(mesh: MeshData) -> str | None:
    """The end of an error message about pins, if no vertex is free.

    Joints and hair may be held to their animation for a time, which weights in samples end.
    """
    if mesh.joints is None and not mesh.may_be_held and (mesh.pin_weights >= 1.0).all():
        return "has every vertex pinned, so nothing can move; lower some weights of its pin group"
    return None
