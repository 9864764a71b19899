"""Searches for contacts: the criteria of a search, and the rows and near pairs that it finds."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from ...arrays import SHORTEST, Floats, Integers
from ...kernel import Struct

FLUSH_SHARE = 0.1
"""Corners and edges of a collider are flush, and not tested, if a flat surface that rests on them
is off the collider by no more than this share of the gap anywhere. The vertices of that surface
then suffice, and fine colliders have thousands of corners."""


@dataclass(frozen=True)
class SearchCriteria:
    """Criteria of a search: pairs touch within `gap_share` of their gap.

    Particles may end within their skins of the end of the motion: pairs are found that would touch
    then, and the near pairs that might tunnel then.
    """

    gap_share: float = 1.0
    """Share of the gap within which pairs touch."""
    start_share: float = 1e30
    """Upper bound of the touching distance, as a share of the pair's distance at the start."""
    all_touching: bool = False
    """Whether to find all pairs that touch at any time, even if a neighbouring pair is nearer, or
    they have parted at the end; used to detect tunnelling. Particles have no skins then, and no
    near pairs are found."""

    def for_pair(self, gap: float, longest: float) -> "PairCriteria":
        """The criteria for two owners with this gap, and the longest edge of the first [m]."""
        return PairCriteria(**vars(self) | {"gap": gap, "longest": longest})


Struct("search_criteria", SearchCriteria, reads="gap_share start_share all_touching")

TUNNELLING_SHARE = 0.1
"""Pairs that come nearer than this share of their gap count as passing through each other."""
TOUCH_TOLERANCE = 1.01
"""Factor on the touching distance within which advancement ends. With half of the excess, cloth
that is knocked over stretches by 15 % in place of 10 %, with twice, by 26 %; resting cloth does not
move."""
CONTACTS = SearchCriteria()
"""Criteria of contacts."""
TUNNELLING = SearchCriteria(gap_share=TUNNELLING_SHARE, start_share=0.5, all_touching=True)
"""Criteria of pairs that pass through each other."""

TUNNELLING_REACH = TOUCH_TOLERANCE * TUNNELLING_SHARE
"""Largest distance at which pairs may tunnel, as a share of their gap."""


@dataclass(frozen=True, kw_only=True)
class PairCriteria(SearchCriteria):
    """Criteria of a search for pairs of two owners."""

    gap: float
    """Gap of the owners [m]."""
    longest: float
    """Longest edge that rests on a collider [m]."""

    @property
    def margin(self) -> float:
        """Distance of features beyond their skins within which pairs are tested [m]."""
        return self.gap * self.gap_share

    @property
    def near_margin(self) -> float:
        """Distance along the way, beyond skins, of near pairs [m]; −∞ if there are none."""
        return -np.inf if self.all_touching else TUNNELLING_REACH * self.gap

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
        return -1.0 if self.all_touching else 8.0 * off / (edge * edge)


@dataclass(frozen=True, eq=False)
class FoundPairs:
    """Pairs of features that a search has found, or the room that it has for them."""

    features: Integers
    """(3, k) kinds (0 = vertex and triangle, 1 = two edges) and numbers of both features."""

    @property
    def capacity(self) -> int:
        """Largest number of pairs."""
        return self.features.shape[1]

    def first(self, count: int) -> Self:
        """The first `count` pairs, without a copy."""
        return type(self)(*(room[..., :count] for room in vars(self).values()))

    def write(self, before: int, pairs: Self) -> int:
        """Writes pairs after the first `before`, if there is room; returns the number of all."""
        count = before + pairs.capacity
        if count <= self.capacity:
            for room, part in zip(vars(self).values(), vars(pairs).values(), strict=True):
                room[..., before:count] = part
        return count


@dataclass(frozen=True, eq=False)
class DetectedRows(FoundPairs):
    """Rows that a search has found, or the room that it has for them."""

    weights: Floats
    """(4, k) of the particles of both features."""
    normals: Floats
    """(3, k) unit vectors."""
    gaps: Floats
    """(k,) distances to keep [m]."""


@dataclass(frozen=True, eq=False)
class NearPairs(FoundPairs):
    """Pairs that may tunnel along other ways than those that were searched, or room for them."""

    clearances: Floats
    """(k,) lower bounds of the distances along the way, less those within which pairs tunnel, but
    for the numerical tolerance [m]; below 0 if they may."""


Struct("rows", DetectedRows, reads="capacity", shares="features weights normals gaps")
Struct("near_pairs", NearPairs, reads="capacity", shares="features clearances")


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


def room_for_near_pairs(count: int) -> NearPairs:
    """Arrays for so many near pairs."""
    return NearPairs(np.empty((3, count), dtype=np.int64), np.empty(count))
