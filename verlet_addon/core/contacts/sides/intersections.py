"""Intersections: triangles that pass through solids, with all of their corners outside."""

from collections.abc import Sequence

import numpy as np

from ...arrays import Booleans, Floats, Integers
from ..broad_phase.bvh_refit import fit
from ..broad_phase.bvh_traversal import candidate_pairs, near_leaves
from ..broad_phase.surfaces import Surfaces
from ..manifold.contacts import Contacts
from .closed_surfaces import (
    DIRECTIONS,
    EMERGING,
    INSIDE,
    ClosedSurfaces,
    find_exit_distances,
    triangle_frames,
    winding_numbers,
)

RELEASE_SHARE = 0.9
"""Particles and triangles that are out by this share of their gap are released. With half, a sheet
that leaves a table's top lies 9 mm elsewhere; with twice, one that is held in a box is in it after
a second."""
SAMPLES_PER_SIDE = 6
"""Number of intervals between sample points along each side of a triangle. With half, cloth that
starts in jelly lies 13 mm elsewhere, with twice, 18 mm; with either a sheet held in a box is in it
after a second."""
_BARYCENTRIC = [
    (i, j, SAMPLES_PER_SIDE - i - j)
    for i in range(SAMPLES_PER_SIDE + 1)
    for j in range(SAMPLES_PER_SIDE + 1 - i)
]
SAMPLES = np.array(sorted(_BARYCENTRIC, key=max, reverse=True)).T / SAMPLES_PER_SIDE
"""(3, s) barycentric coordinates of sample points of a triangle, those nearest to corners first."""


def near_closed_surfaces(closed_surfaces: ClosedSurfaces, positions: Floats) -> Booleans:
    """(N,) bool, particles of bodies with edges near those of solids that they collide with."""
    surfaces, near = closed_surfaces.surfaces, np.zeros(positions.shape[1], dtype=bool)
    some = np.array([own.size > 0 for own in closed_surfaces.triangles])
    for owner in np.flatnonzero((surfaces.collides & some).any(axis=1) | some).tolist():
        fit(surfaces, owner, positions, positions, np.zeros_like(positions[0]))
    for owner, other in closed_surfaces.overlapping_pairs(positions):
        if owner < closed_surfaces.bodies:
            both = surfaces.bvhs[owner], surfaces.bvhs[other]
            edges = candidate_pairs(*both, near_leaves(*both, 0.0))[1]
            near[surfaces.edges[:, edges[0]]] = True
    return near


def find_intersections(
    closed_surfaces: ClosedSurfaces,
    chosen: Booleans,
    pinned: Booleans,
    positions: Floats,
    previous_rows: Sequence[Contacts] = (),
) -> list[Contacts]:
    """Rows that push out triangles and loose edges of bodies that pass through solids.

    Rows are kept until the triangle is out by RELEASE_SHARE of its gap, for between the sample
    points some of it may still be inside.

    Parameters
    ----------
    chosen : (N,) particles; only triangles with at least one of them are tested.
    pinned : (N,) pinned particles; triangles with any are skipped, for they could not come out.
    positions : (3, N) of all particles [m].
    previous_rows : the rows of the step before.
    """
    surfaces = closed_surfaces.surfaces
    previous_rows = [_unreleased_rows(surfaces, rows, positions) for rows in previous_rows]
    rows = [candidates for candidates in previous_rows if len(candidates.gaps)]
    if not chosen.any():
        return rows
    loose = surfaces.edges[:, surfaces.sides[0] < 0]
    corners = np.concatenate([surfaces.triangles, loose[[0, 1, 1]]], axis=1)
    touching = chosen[corners].any(axis=0) & ~pinned[corners].any(axis=0)
    corners = corners[:, touching & ~surfaces.exempt[0, corners].all(axis=0)]
    owners = surfaces.owners[corners[0]]
    tried = owners < closed_surfaces.bodies
    tried &= (surfaces.penetration_states[corners] < INSIDE).all(axis=(0, 2))
    for owner in np.unique(owners[tried]).tolist():
        candidates = corners[:, tried & (owners == owner)]
        points = np.einsum("cs,xck->xks", SAMPLES, positions[:, candidates])
        for other in closed_surfaces.obstacles_of(owner):
            turns = winding_numbers(
                points.reshape(3, -1), positions, closed_surfaces.triangles[other]
            )
            within = turns.reshape(points.shape[1:]) != 0
            through = within.any(axis=1) & ~within[:, :3].any(axis=1)
            if through.any():
                intersecting = candidates[:, through], points[:, through], within[through]
                rows.append(_push_out_rows(closed_surfaces, other, *intersecting, positions))
    return rows


def _unreleased_rows(surfaces: Surfaces, rows: Contacts, positions: Floats) -> Contacts:
    """Rows with triangles that are out at their deepest point, but by less than RELEASE_SHARE."""
    apart = np.einsum("pk,xpk->xk", rows.weights, positions[:, rows.particles])
    heights = (rows.normals * apart).sum(axis=0)
    kept = np.flatnonzero((heights >= 0.0) & (heights < RELEASE_SHARE * rows.gaps))
    surfaces.penetration_states[rows.particles[:3, kept], rows.owners[1, kept]] = EMERGING
    return rows.chosen(kept)


def _push_out_rows(
    closed_surfaces: ClosedSurfaces,
    other: int,
    corners: Integers,
    points: Floats,
    within: Booleans,
    positions: Floats,
) -> Contacts:
    """Rows that push triangles (3, k) out at the deepest of their sample points (3, k, s)."""
    surfaces, (count, samples) = closed_surfaces.surfaces, within.shape
    surfaces.penetration_states[corners, other] = EMERGING
    triangles = closed_surfaces.triangles[other]
    lengths, faces = find_exit_distances(points[:, within], positions, triangles)
    nearest = lengths.argmin(axis=0)
    depths = np.full(within.shape, -1.0)
    depths[within] = lengths.min(axis=0)
    deepest = depths.argmax(axis=1)
    column = np.cumsum(within).reshape(count, samples)[np.arange(count), deepest] - 1
    there = triangles[:, faces[nearest[column], column]]
    normals = triangle_frames(positions, there)[:, 2]
    normals *= np.sign((normals * DIRECTIONS[:, nearest[column]]).sum(axis=0))
    owners = np.stack([surfaces.owners[corners[0]], np.full(count, other)])
    weights = SAMPLES[:, deepest]
    line = corners[1] == corners[2]
    weights[1, line], weights[2, line] = weights[1:, line].sum(axis=0), 0.0
    return Contacts(
        particles=np.concatenate([corners, there[:1]]),
        weights=np.concatenate([weights, np.full((1, count), -1.0)]),
        normals=normals,
        gaps=surfaces.gaps[tuple(owners)],
        owners=owners,
        keys=np.full(count, -1),
    )
