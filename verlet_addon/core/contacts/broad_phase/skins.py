"""Skins: how far from its path each particle may end a step, and still what it touches is found."""

from dataclasses import dataclass

import numpy as np

from ...arrays import Floats, cross, magnitudes
from .surfaces import Surfaces

SKIN_FACTOR = 3.0
"""Skins as a multiple of how far particles deviated from their paths in the last step. With 2,
three of eight skirts that hands push into hips stretch by up to 27 % in place of 1.4 %; with 6, a
spinning torus under cloth takes a quarter more tests."""
LEAST_SKIN_SHARE = 0.15
"""Least skin, as a share of the largest. With half, cloth on stairs takes more searches by a
twentieth; with twice, a dressed figure takes a quarter more tests."""
REFRESH_SHARE = 0.01
"""Contacts of a particle are searched anew once its path differs from the one of its last search by
more than this share of the skin, at either end. With 0.05 cloth on stairs is up to 4.1 mm nearer
than its gap of 5 mm, and with this 1.4, as if all were searched; layers at rest take a fifth less
with 0.02."""
TURN_SHARE = 0.25
"""Distance that particles may deviate, as a share of the least height of their triangles. Connected
triangles too flat to touch are not searched: their normals are within 60° of one direction, and
turn by less than 30° by such deviations, so that they stay too flat."""


@dataclass(frozen=True, eq=False)
class SkinLimits:
    """How far N particles may be from the paths for which contacts were searched."""

    largest: Floats
    """(N,) largest skins [m]."""
    tolerances: Floats
    """(N,) distances that particles may move between searches [m]."""
    turns: Floats
    """(N,) deviations by which triangles too flat to touch stay too flat [m]."""

    def by_motion(self, deviations: Floats) -> Floats:
        """(N,) skins of a step, from deviations (N,) from the paths of the last one [m]."""
        skins = np.clip(SKIN_FACTOR * deviations, LEAST_SKIN_SHARE * self.largest, self.largest)
        return np.asarray(np.maximum(skins, 2.0 * self.tolerances))


def skin_limits(surfaces: Surfaces, skins: Floats) -> SkinLimits:
    """The limits of particles whose owners have these largest skins (o,) [m].

    Colliders, which have none, keep to their paths.
    """
    least = skins[skins > 0.0].min(initial=np.inf)
    tolerances = REFRESH_SHARE * np.where(skins > 0.0, skins, least)[surfaces.owners]
    largest = np.maximum(skins[surfaces.owners], 2.0 * tolerances)
    return SkinLimits(largest, tolerances, _flat_deviations(surfaces))


def _flat_deviations(surfaces: Surfaces) -> Floats:
    """(N,) deviations of particles by which triangles too flat to touch stay too flat [m]."""
    a, b, c = (surfaces.rest[:, corner] for corner in surfaces.triangles)
    sides = np.stack([magnitudes(b - a), magnitudes(c - b), magnitudes(a - c)])
    with np.errstate(invalid="ignore", divide="ignore"):  # some are at NaN, or have no area
        heights = magnitudes(cross(b - a, c - a)) / sides.max(axis=0)
    least = np.full(len(surfaces.owners), np.inf)
    for corner in surfaces.triangles:
        np.minimum.at(least, corner, np.nan_to_num(heights))
    least[~surfaces.collides.diagonal()[surfaces.owners]] = np.inf
    return np.asarray(TURN_SHARE * least)
