"""Penetrations: directions and depths of vertices that start inside of solids."""

from dataclasses import dataclass

import numpy as np

from ...arrays import Floats, Integers, apply_matrices, cofactors, concatenated, magnitudes
from ...geometry.graph import find_components
from ..broad_phase.surfaces import Surfaces
from .closed_surfaces import DIRECTIONS, ClosedSurfaces, find_exit_distances, triangle_frames
from .depenetration import InitialDepths


@dataclass(frozen=True, eq=False)
class Penetrations(InitialDepths):
    """Penetrations: each vertex moves along a direction, out beyond a point on a triangle."""

    vertices: Integers
    """(k,) numbers of particles in the world."""
    corners: Integers
    """(3, k) corners of the triangle."""
    weights: Floats
    """(3, k) barycentric coordinates of the point on it."""
    local_directions: Floats
    """(3, k) direction in the frame of two sides of the triangle and its normal, moving with it."""

    def directions(self, positions: Floats) -> Floats:
        """(3, k) unit vectors, at positions (3, N) [m]; nan where a triangle has no area."""
        way = np.einsum(
            "xsk,sk->xk", triangle_frames(positions, self.corners), self.local_directions
        )
        with np.errstate(invalid="ignore"):
            return np.asarray(way / magnitudes(way))

    def heights(self, positions: Floats) -> Floats:
        """(k,) heights of vertices above their points along directions; below 0 inside [m]."""
        place = np.einsum("ck,xck->xk", self.weights, positions[:, self.corners])
        apart = positions[:, self.vertices] - place
        return np.asarray((self.directions(positions) * apart).sum(axis=0))


NO_PENETRATIONS = Penetrations(
    np.empty(0),
    np.empty(0),
    np.empty(0, np.int64),
    np.empty((3, 0), np.int64),
    np.empty((3, 0)),
    np.empty((3, 0)),
)
"""No penetrations."""


def find_penetrations(
    closed_surfaces: ClosedSurfaces, inside: Integers, positions: Floats
) -> Penetrations:
    """Penetrations of vertices inside: in the nearest direction, or a common one of a patch.

    Rigidly depenetrating owners, and patches that the nearest directions would tear apart, take a
    common direction.
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
        # Owners inside of each other move in opposite directions.
        lengths = np.concatenate(
            [members[0][:: 1 - 2 * (k > 0)] for k, members in enumerate(distances)], axis=1
        )
        together = patch < 0 or _share_one_direction(
            closed_surfaces.surfaces, vertices, positions, lengths
        )
        # Rather upwards: a napkin inside of a box comes to lie on it.
        common = int((lengths.max(axis=1) * (1.0 - 0.2 * DIRECTIONS[2])).argmin())
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
    """(k,) patch labels of vertices inside: components, or, below 0, pairs with a rigid owner."""
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
    """(26, k) distances out of all obstacles of an owner, and corners (3, 26, k) there."""
    soup = np.concatenate(
        [closed_surfaces.triangles[other] for other in closed_surfaces.obstacles_of(owner)], axis=1
    )
    lengths, triangles = find_exit_distances(positions[:, vertices], positions, soup)
    return lengths, soup[:, triangles]


def _share_one_direction(
    surfaces: Surfaces, vertices: Integers, positions: Floats, lengths: Floats
) -> bool:
    """Whether a patch takes one common direction.

    It does if that is hardly longer, else a sheet comes out of a ball with speed; and if the
    nearest ones would tear neighbours apart, else a curtain comes out of a table downwards.
    """
    if lengths.max(axis=1).min() <= 1.5 * lengths.min(axis=0).max():
        return True
    ends = positions.copy()
    ends[:, vertices] += DIRECTIONS[:, lengths.argmin(axis=0)] * lengths.min(axis=0)
    among = np.zeros(positions.shape[1], dtype=bool)
    among[vertices] = True
    edges = surfaces.edges[:, among[surfaces.edges].all(axis=0)]
    before, after = (x[:, edges[1]] - x[:, edges[0]] for x in (positions, ends))
    return bool(((after * after).sum(axis=0) > 4.0**2 * (before * before).sum(axis=0)).any())


def _make_penetrations(
    vertices: Integers,
    lengths: Floats,
    corners: Integers,
    chosen: Integers,
    positions: Floats,
    *,
    along: bool,
) -> Penetrations:
    """Penetrations along chosen directions (k,), or else triangle normals; none without exit."""
    column = np.arange(len(vertices))
    depths = lengths[chosen, column]
    free = np.flatnonzero(np.isfinite(depths))
    vertices, depths, directions = vertices[free], depths[free], DIRECTIONS[:, chosen[free]]
    corners = corners[:, chosen[free], free]
    frames = triangle_frames(positions, corners)
    local_directions = _to_local(frames, directions)
    # The exit point, relative to the first corner, in terms of two sides.
    offsets = positions[:, vertices] + directions * depths - positions[:, corners[0]]
    b, c, _ = _to_local(frames, offsets)
    if not along:
        local_directions[:2] = 0.0
        depths = depths * np.abs((frames[:, 2] * directions).sum(axis=0))
    weights = np.stack([1.0 - b - c, b, c])
    return Penetrations(depths, np.zeros(len(free)), vertices, corners, weights, local_directions)


def _to_local(frames: Floats, vectors: Floats) -> Floats:
    """(3, k) coordinates of vectors (3, k) in frames (3, 3, k) (Cramer's rule)."""
    across, volumes = cofactors(frames.transpose(2, 1, 0))
    return np.asarray(apply_matrices(across, vectors) / np.where(volumes, volumes, 1.0))
