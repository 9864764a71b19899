"""Ways out of solids for what starts inside of them."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Booleans, Floats, Integers, cofactors, concatenated, dot, magnitudes, selected
from ..detection.surfaces import Surfaces
from ..geometry.graph import find_components
from .closed_surfaces import DIRECTIONS, ClosedSurfaces, find_exit_distances, triangle_frames

MAX_SEPARATION = 4.0
"""A patch takes one way out where its nearest ways would take neighbours apart by more than this
many times their distance…"""
MAX_DETOUR = 1.5
"""…or where one way for all is no longer than this many times the longest of the nearest ways."""
UPWARD_BONUS = 0.2
"""Share by which a way for all counts as shorter if it leads straight up, and longer if down."""


@dataclass(frozen=True, eq=False)
class Penetrations:
    """Ways out of solids: each vertex is led along one until it is beyond a place on a triangle."""

    vertices: Integers
    """(k,) particles of all owners in one array."""
    corners: Integers
    """(3, k) of the triangle."""
    weights: Floats
    """(3, k) of the place on it."""
    local_directions: Floats
    """(3, k) the way, in terms of two sides of the triangle and its normal, with which it moves."""
    depths: Floats
    """(k,) how long the way was when it was found [m]."""
    ages: Floats
    """(k,) time since then [s]; they change."""

    def chosen(self, which: Booleans | Integers) -> "Penetrations":
        """Some of them."""
        return selected(self, which)

    def directions(self, positions: Floats) -> Floats:
        """(3, k) unit vectors, of positions (3, N) [m]; nan where a triangle is squashed flat."""
        way = np.einsum(
            "xsk,sk->xk", triangle_frames(positions, self.corners), self.local_directions
        )
        with np.errstate(invalid="ignore"):
            return np.asarray(way / magnitudes(way))

    def heights(self, positions: Floats) -> Floats:
        """(k,) how far vertices are beyond their places along their ways; below 0 inside [m]."""
        place = np.einsum("ck,xck->xk", self.weights, positions[:, self.corners])
        apart = positions[:, self.vertices] - place
        return np.asarray((self.directions(positions) * apart).sum(axis=0))


NO_PENETRATIONS = Penetrations(
    np.empty(0, np.int64),
    np.empty((3, 0), np.int64),
    np.empty((3, 0)),
    np.empty((3, 0)),
    np.empty(0),
    np.empty(0),
)
"""No exits."""


def find_penetrations(
    closed_surfaces: ClosedSurfaces, inside: Integers, positions: Floats
) -> Penetrations:
    """The ways of buried vertices: for each the nearest, or one for all of a patch.

    What keeps its shape takes one way, and so does what the nearest ways would tear apart.
    """
    patches, penetrations = _patches(closed_surfaces, inside), [NO_PENETRATIONS]
    owners = closed_surfaces.surfaces.owners[inside]
    for patch in np.unique(patches):
        vertices = inside[patches == patch]
        own = owners[patches == patch]
        tables = [(owner, vertices[own == owner]) for owner in np.unique(own)]
        distances = [
            _exit_distances(closed_surfaces, owner, members, positions) for owner, members in tables
        ]
        # What is inside of each other goes opposite ways.
        lengths = np.concatenate(
            [members[0][:: 1 - 2 * (k > 0)] for k, members in enumerate(distances)], axis=1
        )
        together = patch < 0 or _share_one_direction(
            closed_surfaces.surfaces, vertices, positions, lengths
        )
        common = int((lengths.max(axis=1) * (1.0 - UPWARD_BONUS * DIRECTIONS[2])).argmin())
        for number, ((_, members), (own_lengths, corners)) in enumerate(
            zip(tables, distances, strict=True)
        ):
            chosen = own_lengths.argmin(axis=0)
            if together:
                chosen[:] = len(DIRECTIONS.T) - 1 - common if number else common
            penetrations.append(
                _make_penetrations(members, own_lengths, corners, chosen, positions, along=together)
            )
    return concatenated(*penetrations, axis=-1)


def _patches(closed_surfaces: ClosedSurfaces, inside: Integers) -> Integers:
    """(k,) labels of buried vertices that may go out together.

    They are those that hang together, or, below 0, those of a pair of which one keeps its shape.
    """
    surfaces = closed_surfaces.surfaces
    count = len(surfaces.owners)
    inside_of, own = surfaces.penetration_states[inside].argmax(axis=1), surfaces.owners[inside]
    is_inside = np.zeros(count, dtype=bool)
    is_inside[inside] = True
    edges = surfaces.edges[:, is_inside[surfaces.edges].all(axis=0)]
    labels = find_components(count, edges.T)[inside]
    low, high = np.minimum(own, inside_of), np.maximum(own, inside_of)
    pairs = -1 - (low * len(closed_surfaces.keeps_shape) + high)
    return np.where(
        closed_surfaces.keeps_shape[own] | closed_surfaces.keeps_shape[inside_of], pairs, labels
    )


def _exit_distances(
    closed_surfaces: ClosedSurfaces, owner: int, vertices: Integers, positions: Floats
) -> tuple[Floats, Integers]:
    """(26, k) how far it is out of all that an owner meets, and the corners (3, 26, k) there."""
    soup = np.concatenate(
        [closed_surfaces.triangles[other] for other in closed_surfaces.obstacles_of(owner)], axis=1
    )
    lengths, triangles = find_exit_distances(positions[:, vertices], positions, soup)
    return lengths, soup[:, triangles]


def _share_one_direction(
    surfaces: Surfaces, vertices: Integers, positions: Floats, lengths: Floats
) -> bool:
    """Whether one way is nearly as short as the nearest, or these lead neighbours far apart."""
    if lengths.max(axis=1).min() <= MAX_DETOUR * lengths.min(axis=0).max():
        return True
    ends = positions.copy()
    ends[:, vertices] += DIRECTIONS[:, lengths.argmin(axis=0)] * lengths.min(axis=0)
    among = np.zeros(positions.shape[1], dtype=bool)
    among[vertices] = True
    edges = surfaces.edges[:, among[surfaces.edges].all(axis=0)]
    before, after = (x[:, edges[1]] - x[:, edges[0]] for x in (positions, ends))
    return bool(
        ((after * after).sum(axis=0) > MAX_SEPARATION**2 * (before * before).sum(axis=0)).any()
    )


def _make_penetrations(
    vertices: Integers,
    lengths: Floats,
    corners: Integers,
    chosen: Integers,
    positions: Floats,
    *,
    along: bool,
) -> Penetrations:
    """The exits of vertices by chosen ways (k,): along these, or along normals of the triangles.

    Those without any way out have none.
    """
    column = np.arange(len(vertices))
    depths = lengths[chosen, column]
    free = np.flatnonzero(np.isfinite(depths))
    vertices, depths, directions = vertices[free], depths[free], DIRECTIONS[:, chosen[free]]
    corners = corners[:, chosen[free], free]
    frames = triangle_frames(positions, corners)
    local_directions = _to_local(frames, directions)
    # The place where the way comes out, from the first corner along two sides.
    offsets = positions[:, vertices] + directions * depths - positions[:, corners[0]]
    b, c, _ = _to_local(frames, offsets)
    if not along:
        local_directions[:2] = 0.0
        depths = depths * np.abs((frames[:, 2] * directions).sum(axis=0))
    weights = np.stack([1.0 - b - c, b, c])
    return Penetrations(vertices, corners, weights, local_directions, depths, np.zeros(len(free)))


def _to_local(frames: Floats, vectors: Floats) -> Floats:
    """(3, k) how much vectors (3, k) have of each vector of frames (3, 3, k) (G. Cramer, 1750)."""
    across, volumes = cofactors(frames.transpose(2, 1, 0))
    parts = np.stack([dot(each, vectors) for each in across.transpose(1, 2, 0)])
    return np.asarray(parts / np.where(volumes, volumes, 1.0))
