"""Triangles that pass through solids although all of their corners are outside."""

from collections.abc import Sequence

import numpy as np

from ..arrays import Booleans, Floats, Integers
from ..detection.contacts import Contacts, fit
from ..detection.numpy_walk import near_pairs
from ..detection.surfaces import Surfaces
from .overlaps import BURIED, EMERGING
from .solids import WAYS, Solids, find_exits, frames_of, inside

LET_GO = 0.9
"""What is out by this share of its gap is let go."""
FINE = 6
"""Triangles are tested at places as far apart as this part of their sides."""
_PLACES = [(i, j, FINE - i - j) for i in range(FINE + 1) for j in range(FINE + 1 - i)]
SAMPLES = np.array(sorted(_PLACES, key=max, reverse=True)).T / FINE
"""(3, s) those places, by the shares of the corners, the corners first."""


def near_solids(solids: Solids, places: Floats) -> Booleans:
    """(N,) whether particles of bodies belong to edges near those of solids that they meet."""
    surfaces, near = solids.surfaces, np.zeros(places.shape[1], dtype=bool)
    some = np.array([own.size > 0 for own in solids.triangles])
    for owner in np.flatnonzero((surfaces.meets & some).any(axis=1) | some).tolist():
        fit(surfaces, owner, places, places)
    for owner in range(solids.bodies):
        for other in solids.met(owner):
            edges = near_pairs(surfaces.trees[owner], surfaces.trees[other], 0.0, flat=True)[1]
            near[surfaces.edges[:, edges[0]]] = True
    return near


def find_pierced(
    solids: Solids,
    chosen: Booleans,
    held: Booleans,
    places: Floats,
    former: Sequence[Contacts] = (),
) -> list[Contacts]:
    """Rows that push out triangles and loose edges of bodies that pass through solids.

    What has just come out is held until it is clear, for between the places that are tested some of
    it may still be inside.

    Parameters
    ----------
    chosen : (N,) particles, of which a triangle has one at least.
    held : (N,) pinned ones, of which it has none: what hangs beside a pin could never come out.
    places : (3, N) where all particles are [m].
    former : the rows of the step before.
    """
    surfaces = solids.surfaces
    former = [_just_out(surfaces, rows, places) for rows in former]
    rows = [its for its in former if len(its.gaps)]
    if not chosen.any():
        return rows
    loose = surfaces.edges[:, surfaces.sides[0] < 0]
    corners = np.concatenate([surfaces.triangles, loose[[0, 1, 1]]], axis=1)
    touching = chosen[corners].any(axis=0) & ~held[corners].any(axis=0)
    corners = corners[:, touching & ~surfaces.exempt[0, corners].all(axis=0)]
    owners = surfaces.owners[corners[0]]
    tried = owners < solids.bodies
    tried &= (surfaces.leaving[corners] < BURIED).all(axis=(0, 2))
    for owner in np.unique(owners[tried]).tolist():
        its = corners[:, tried & (owners == owner)]
        points = np.einsum("cs,xck->xks", SAMPLES, places[:, its])
        for other in solids.met(owner):
            turns = inside(points.reshape(3, -1), places, solids.triangles[other])
            within = turns.reshape(points.shape[1:]) != 0
            through = within.any(axis=1) & ~within[:, :3].any(axis=1)
            if through.any():
                found = its[:, through], points[:, through], within[through]
                rows.append(_push_out(solids, other, *found, places))
    return rows


def _just_out(surfaces: Surfaces, rows: Contacts, places: Floats) -> Contacts:
    """Those rows whose triangles are out where they were deepest, but not by their gap."""
    apart = np.einsum("pk,xpk->xk", rows.weights, places[:, rows.particles])
    heights = (rows.normals * apart).sum(axis=0)
    kept = np.flatnonzero((heights >= 0.0) & (heights < LET_GO * rows.gaps))
    surfaces.leaving[rows.particles[:3, kept], rows.owners[1, kept]] = EMERGING
    return rows.chosen(kept)


def _push_out(
    solids: Solids,
    other: int,
    corners: Integers,
    points: Floats,
    within: Booleans,
    places: Floats,
) -> Contacts:
    """Rows that push triangles (3, k) out where they are deepest, of places (3, k, s) in them."""
    surfaces, (count, samples) = solids.surfaces, within.shape
    surfaces.leaving[corners, other] = EMERGING
    triangles = solids.triangles[other]
    lengths, faces = find_exits(points[:, within], places, triangles)
    nearest = lengths.argmin(axis=0)
    depths = np.full(within.shape, -1.0)
    depths[within] = lengths.min(axis=0)
    deepest = depths.argmax(axis=1)
    column = np.cumsum(within).reshape(count, samples)[np.arange(count), deepest] - 1
    there = triangles[:, faces[nearest[column], column]]
    normals = frames_of(places, there)[:, 2]
    normals *= np.sign((normals * WAYS[:, nearest[column]]).sum(axis=0))
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
