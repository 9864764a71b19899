"""Closed surfaces: what is inside of them, and how far it is to the outside."""

from dataclasses import dataclass

import numpy as np

from ...arrays import NONZERO, Booleans, Floats, Integers, cross, magnitudes, sum_by
from ...geometry.ray_casting import cast_rays, find_winding_numbers
from ...geometry.sweep_and_prune import find_near_boxes
from ..broad_phase.surfaces import Surfaces

DIRECTIONS = 1.0 - np.array([way for way in np.ndindex(3, 3, 3) if way != (1, 1, 1)]).T
DIRECTIONS /= np.sqrt((DIRECTIONS * DIRECTIONS).sum(axis=0))
"""(3, 26) unit directions of exit: to the sides, edges and corners of a cube."""

EMERGING, INSIDE, PINCHED = 1, 2, 3
"""Numbers of the states of a particle and an owner in `Surfaces.penetration_states`: out, but not
its neighbours; inside; pinched, so that it touches colliders on one face of its cloth alone."""


@dataclass(frozen=True, eq=False)
class ClosedSurfaces:
    """Closed parts of all surfaces, the insides of which are kept empty."""

    surfaces: Surfaces
    triangles: list[Integers]
    """Per owner (3, t), triangles of closed components, with normals outwards."""
    given_triangles: list[Integers]
    """The triangles in the given order of corners; a surface with inward normals is a room."""
    keeps_shape: Booleans
    """(o,) bool, owners that depenetrate rigidly: all vertices in the same direction."""
    bodies: int
    """Number of owners that are bodies; they come first."""

    @property
    def first_collider_particle(self) -> int:
        """The first particle of colliders."""
        return int(self.surfaces.starts[self.bodies])

    def obstacles_of(self, owner: int) -> list[int]:
        """Other owners with closed surfaces that this owner collides with."""
        others = np.flatnonzero(self.surfaces.collides[owner]).tolist()
        return [other for other in others if other != owner and self.triangles[other].size]

    def overlapping_pairs(self, positions: Floats) -> list[tuple[int, int]]:
        """Sorted pairs of an owner and one of its obstacles with overlapping boxes.

        Boxes are those of particles at positions (3, N) [m]; owners in no pair touch no obstacle.
        """
        closed = np.array([own.size > 0 for own in self.triangles])
        filled = np.flatnonzero(np.diff(self.surfaces.starts))
        lowest, highest = np.full((len(closed), 3), np.inf), np.full((len(closed), 3), -np.inf)
        for corners, extreme in ((lowest, np.minimum), (highest, np.maximum)):
            corners[filled] = extreme.reduceat(positions, self.surfaces.starts[filled], axis=1).T
        near = find_near_boxes(lowest, highest, 0.0)
        both = np.concatenate([near, near[::-1]], axis=1)
        both = both[:, self.surfaces.collides[both[0], both[1]] & closed[both[1]]]
        return list(zip(*both[:, np.lexsort(both[::-1])].tolist(), strict=True))

    def contain(self, points: Floats, asked: Booleans, positions: Floats) -> Booleans:
        """(o, k) bool, whether points (3, k) are inside of owners, where `asked` (o, k).

        Particles are at positions (3, N) [m].
        """
        found = np.zeros(asked.shape, dtype=bool)
        for owner, own in enumerate(self.triangles):
            some = np.flatnonzero(asked[owner])
            if len(some):
                found[owner, some] = winding_numbers(points[:, some], positions, own) != 0
        return found


def winding_numbers(points: Floats, positions: Floats, triangles: Integers) -> Integers:
    """(k,) winding numbers of closed triangles (3, t), at positions (3, N), round points (3, k)."""
    found = np.zeros(points.shape[1], dtype=np.int64)
    if not triangles.size:
        return found
    around = positions[:, triangles.min() : triangles.max() + 1]
    low, high = around.min(axis=1)[:, None], around.max(axis=1)[:, None]
    near = np.flatnonzero(((points > low) & (points < high)).all(axis=0))
    found[near] = find_winding_numbers(points[:, near], positions, triangles)
    return found


def find_exit_distances(
    points: Floats, positions: Floats, triangles: Integers
) -> tuple[Floats, Integers]:
    """(26, k) distances of points (3, k) to the outside along DIRECTIONS, and triangles there.

    Solids are closed triangles (3, t) at positions (3, N). Distances are infinite without an exit.
    """
    count = points.shape[1]
    lengths = np.full((DIRECTIONS.shape[1], count), np.inf)
    faces = np.zeros(lengths.shape, dtype=np.int64)
    for number, way in enumerate(DIRECTIONS.T):
        through = cast_rays(points, positions, triangles, way, upwards=True)
        order = np.lexsort((through.heights, through.points))
        point, turns = through.points[order], through.turns[order]
        # A ray is outside where the rest of it enters as often as it leaves.
        left = sum_by(point, turns, count)[point] - _cumulative_turns(point, turns)
        out = np.flatnonzero(np.abs(left) < 0.5)
        first = out[np.unique(point[out], return_index=True)[1]]
        lengths[number, point[first]] = through.heights[order[first]]
        faces[number, point[first]] = through.triangles[order[first]]
    return lengths, faces


def orient_outwards(positions: Floats, triangles: Integers) -> Integers:
    """The triangles (3, t) of a solid, reversed if their normals point inwards."""
    a, b, c = (positions[:, corner] - positions[:, triangles[0, :1]] for corner in triangles)
    inwards = (a * cross(b, c)).sum() < 0.0
    return triangles[::-1] if inwards else triangles


def _cumulative_turns(point: Integers, turns: Floats) -> Floats:
    """(k,) cumulative sums of turns of each point, inclusive; points are sorted."""
    total = np.cumsum(turns)
    first = np.searchsorted(point, point)
    return np.asarray(total - (total - turns)[first])


def triangle_frames(positions: Floats, corners: Integers) -> Floats:
    """(3, 3, k) two sides of triangles (3, k), and their unit normals."""
    a, b, c = (positions[:, corner] for corner in corners)
    normal = cross(b - a, c - a)
    length = magnitudes(normal)
    return np.stack([b - a, c - a, normal / np.maximum(length, NONZERO)], axis=1)
