"""Distances within which pairs are detected."""

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import SHORTEST, Floats


@dataclass(frozen=True)
class SearchCriteria:
    """A pair touches once it is as near as a share of its gap; beyond that it is only near."""

    skin: float | Floats
    """Pairs as much farther apart than touching at the end are found too, (o, o) if that depends on
    whose they are [m]."""
    gap_share: float = 1.0
    """The share of the gap."""
    start_share: float = 1e30
    """The share of the distance at the start that it is at most."""
    all_touching: bool = False
    """Whether to find all that touch on the way: where neighbours are nearer too, and where rows
    hold at the end."""

    def for_pair(self, a: int, b: int) -> "SearchCriteria":
        """That of two owners."""
        if isinstance(self.skin, np.ndarray):
            return replace(self, skin=float(self.skin[a, b]))
        return self


FLUSH_SHARE = 0.1
"""Where a collider leaves what lies flat on its corners by no more than this share of the gap,
these tell nothing that the lying one's own corners don't: fine colliders have thousands of them."""


def flush_limits(criteria: SearchCriteria, gap: float, longest: float) -> tuple[float, float]:
    """By what angle [rad], and how tightly [rad/m], a collider may turn for that; -1 for never.

    Under an edge of length L an angle θ of its surface lies up to L θ/4 off, and a bow of
    curvature κ by L² κ/8.
    """
    if criteria.all_touching:
        return -1.0, -1.0
    off = FLUSH_SHARE * gap
    return 4.0 * off / max(longest, SHORTEST), 8.0 * off / max(longest, SHORTEST) ** 2
