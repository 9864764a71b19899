"""Criteria of a search for contacts, with the distances within which pairs are detected."""

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import SHORTEST, Floats


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

    def for_pair(self, a: int, b: int) -> "SearchCriteria":
        """The criteria for two owners, with their skin as a number."""
        if isinstance(self.skin, np.ndarray):
            return replace(self, skin=float(self.skin[a, b]))
        return self


FLUSH_SHARE = 0.1
"""Corners and edges of a collider are flush, and not tested, if a flat surface that rests on them
is off the collider by no more than this share of the gap anywhere. The vertices of that surface
then suffice, and fine colliders have thousands of corners."""


def flush_limits(criteria: SearchCriteria, gap: float, longest: float) -> tuple[float, float]:
    """Largest angle [rad] and curvature [rad/m] of a collider's surface where it is flush.

    Below an edge of length L, a surface with one angle θ is up to L θ/4 away, and one of curvature
    κ up to L² κ/8. Both limits are −1 if no feature may be left out.

    Parameters
    ----------
    criteria : the criteria of the search.
    gap : gap of the pair of owners [m].
    longest : longest edge of the body [m].
    """
    if criteria.all_touching:
        return -1.0, -1.0
    off = FLUSH_SHARE * gap
    return 4.0 * off / max(longest, SHORTEST), 8.0 * off / max(longest, SHORTEST) ** 2
