"""Clearances: how far particles may go until they might pass through a surface."""

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Booleans, Floats, cross, magnitudes
from ..detection.contacts import find_pairs
from ..detection.surfaces import Surfaces
from .tunnelling_guard import TUNNELLING

HEIGHT_SHARE = 0.1
"""Largest clearance as a share of the least height of a particle's triangles at rest: connected
triangles that are too flat to touch are not searched, and stay flat as far as that."""
CALM_SHARE = 1 / 8
"""Clearances are measured where half of the particles without any move by less than this share of
their largest one in a step. Faster ones would use them up before they have paid for the search."""


@dataclass(eq=False)
class Clearances:
    """Distances from a position within which each particle passes through nothing.

    Two features stay apart as long as neither moves by half of their distance (conservative bounds:
    M. Li and others, Incremental potential contact, 2020, section 4.4; per particle: A. H. Chen and
    others, Offset geometric contact, 2025).
    """

    positions: Floats
    """(3, N) where each particle's clearance was measured [m]."""
    distances: Floats
    """(N,) clearances [m]; −1 where none is known."""
    most: Floats
    """(N,) largest clearances [m], by skins and the heights of triangles."""

    def exceeded(self, positions: Floats) -> Booleans:
        """(N,) bool, particles that positions (3, N) [m] put beyond their clearance, or nowhere."""
        return ~(magnitudes(positions - self.positions) <= self.distances)


def build_clearances(surfaces: Surfaces, skins: Floats) -> Clearances:
    """Clearances of which none is known yet; `skins` (N,) within which they are searched [m]."""
    a, b, c = (surfaces.rest[:, corner] for corner in surfaces.triangles)
    sides = np.stack([magnitudes(b - a), magnitudes(c - b), magnitudes(a - c)])
    with np.errstate(invalid="ignore", divide="ignore"):  # some are at NaN, or have no area
        heights = magnitudes(cross(b - a, c - a)) / sides.max(axis=0)
    least = np.full(len(surfaces.owners), np.inf)
    for corner in surfaces.triangles:
        np.minimum.at(least, corner, np.nan_to_num(heights))
    least[~surfaces.collides.diagonal()[surfaces.owners]] = np.inf
    most = np.minimum(skins / 2, HEIGHT_SHARE * least)
    return Clearances(surfaces.rest.copy(), np.full(len(most), -1.0), most)


def find_endangered(
    clearances: Clearances, surfaces: Surfaces, skins: Floats, start: Floats, end: Floats
) -> Booleans:
    """(N,) bool, particles that leave their clearance on the way from `start` to `end` (3, N) [m].

    Clearances are measured anew where they are used up by calm particles; `skins` (o, o) is the
    distance beyond touching up to which pairs are searched [m].
    """
    beyond = clearances.exceeded(end)
    calm = magnitudes(end - start) <= CALM_SHARE * clearances.most
    if 2 * np.count_nonzero(calm & beyond) <= np.count_nonzero(beyond):
        return beyond
    surfaces.clearances[:] = np.inf
    measuring = replace(TUNNELLING, skin=skins, measures_clearances=True)
    # Along the way, to which trees are fitted for the guard in any case.
    find_pairs(surfaces, start, end, measuring, beyond)
    clearances.positions[:, beyond] = start[:, beyond]
    clearances.distances[beyond] = clearances.most[beyond]
    moved = magnitudes(start - clearances.positions)
    clearances.distances[:] = np.minimum(clearances.distances, surfaces.clearances - moved)
    return clearances.exceeded(end)
