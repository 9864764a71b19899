"""Searches for contacts: the criteria of a search, and the rows that it finds."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ..arrays import SHORTEST, Floats, Integers

FLUSH_SHARE = 0.1
"""Corners and edges of a collider are flush, and not tested, if a flat surface that rests on them
is off the collider by no more than this share of the gap anywhere. The vertices of that surface
then suffice, and fine colliders have thousands of corners."""


@dataclass(frozen=True)
class SearchCriteria:
    """Criteria of a search: pairs touch within `gap_share` of their gap, and are near in a skin."""

    skin: float | Floats
    """Distance beyond touching within which pairs are found at the end of the motion [m], (o, o) by
    owners or one for all."""
    gap_share: float = 1.0
    """Share of the gap within which pairs touch."""
    start_share: float = 1e30
    """Upper bound of the touching distance, as a share of the pair's distance at the start."""
    all_touching: bool = False
    """Whether to find all pairs that touch at any time, even if a neighbouring pair is nearer, or
    they have parted at the end; used to detect tunnelling."""
    measures_clearances: bool = False
    """Whether to lower `Surfaces.clearances` in place of finding pairs."""

    def for_pair(self, a: int, b: int, gap: float, longest: float) -> "PairCriteria":
        """The criteria for two owners: those with this gap, and the longest edge of `a` [m]."""
        skin = self.skin if isinstance(self.skin, float) else float(self.skin[a, b])
        return _known_criteria(**vars(self) | {"skin": skin, "gap": gap, "longest": longest})


@dataclass(frozen=True, kw_only=True)
class PairCriteria(SearchCriteria):
    """Criteria of a search for pairs of two owners."""

    skin: float
    gap: float
    """Gap of the owners [m]."""
    longest: float
    """Longest edge that rests on a collider [m]."""

    @property
    def margin(self) -> float:
        """Distance of features within which pairs are tested [m]."""
        return self.gap * self.gap_share + self.skin

    @property
    def flush_angle(self) -> float:
        """Largest angle of a collider's surface where it is flush [rad], −1 if nothing is.

        Below an edge of length L, a surface with one angle θ is up to L θ/4 away.
        """
        off, edge = FLUSH_SHARE * self.gap, max(self.longest, SHORTEST)
        return -1.0 if self.all_touching else 4.0 * off / edge

    @property
    def flush_curvature(self) -> float:
        """Largest curvature κ of a collider that is flush [rad/m], −1 if nothing is.

        A surface with curvature κ is up to L² κ/8 away from an edge of length L.
        """
        off, edge = FLUSH_SHARE * self.gap, max(self.longest, SHORTEST)
        return -1.0 if self.all_touching else 8.0 * off / edge**2


@cache
def _known_criteria(**members: Any) -> PairCriteria:
    """One object for equal criteria, so that its struct is made once."""
    return PairCriteria(**members)


@dataclass(frozen=True, eq=False)
class DetectedRows:
    """Rows that a search has found, or the room that it has for them."""

    features: Integers
    """(3, k) kinds (0 = vertex and triangle, 1 = two edges) and numbers of both features."""
    weights: Floats
    """(4, k) of the particles of both features."""
    normals: Floats
    """(3, k) unit vectors."""
    gaps: Floats
    """(k,) distances to keep [m]."""

    @property
    def capacity(self) -> int:
        """Largest number of rows."""
        return len(self.gaps)

    def first(self, count: int) -> "DetectedRows":
        """The first `count` rows, without a copy."""
        return DetectedRows(*(room[..., :count] for room in vars(self).values()))

    def write(self, before: int, rows: "DetectedRows") -> int:
        """Writes rows after the first `before`, if there is room; returns the number of all."""
        count = before + len(rows.gaps)
        if count <= self.capacity:
            for room, part in zip(vars(self).values(), vars(rows).values(), strict=True):
                room[..., before:count] = part
        return count


@dataclass(eq=False)
class SearchWork:
    """Work of searches since it was last taken; the number of threads does not change it."""

    contact_searches: int = 0
    """Number of searches, each for the pairs of any number of owners."""
    leaf_tests: int = 0
    """Number of pairs of leaves that were tested, up to the limit of each pair of owners."""
    pair_tests: int = 0
    """Number of pairs of features that were tested: those with swept boxes near each other."""
    contact_rows: int = 0
    """Number of rows that were found."""


def room_for_rows(count: int) -> DetectedRows:
    """Arrays for so many rows."""
    features, weights = np.empty((3, count), dtype=np.int64), np.empty((4, count))
    return DetectedRows(features, weights, np.empty((3, count)), np.empty(count))
