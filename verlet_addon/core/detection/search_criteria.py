"""Criteria of a search for contacts, with the distances within which pairs are detected."""

from dataclasses import dataclass
from functools import cache

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

    def for_pair(self, a: int, b: int, gap: float, longest: float) -> "PairCriteria":
        """The criteria for two owners: those with this gap, and the longest edge of `a` [m]."""
        skin = self.skin if isinstance(self.skin, float) else float(self.skin[a, b])
        shares = self.gap_share, self.start_share
        return _pair_criteria(
            skin, gap, *shares, longest, self.all_touching, self.measures_clearances
        )


@dataclass(frozen=True)
class PairCriteria:
    """Criteria of a search for pairs of two owners; see `SearchCriteria`."""

    skin: float
    gap: float
    """Gap of the owners [m]."""
    gap_share: float
    start_share: float
    margin: float
    """Distance of features within which pairs are tested [m]."""
    flush_angle: float
    flush_curvature: float
    """Largest angle [rad] and curvature [rad/m] of a collider's surface where it is flush."""
    all_touching: bool
    measures_clearances: bool


FLUSH_SHARE = 0.1
"""Corners and edges of a collider are flush, and not tested, if a flat surface that rests on them
is off the collider by no more than this share of the gap anywhere. The vertices of that surface
then suffice, and fine colliders have thousands of corners."""


@cache
def _pair_criteria(
    skin: float,
    gap: float,
    gap_share: float,
    start_share: float,
    longest: float,
    all_touching: bool,
    measures_clearances: bool,
) -> PairCriteria:
    """The criteria of two owners, with the largest angle and curvature where colliders are flush.

    Below an edge of length L, a surface with one angle θ is up to L θ/4 away, and one of curvature
    κ up to L² κ/8. Both limits are −1 if no feature may be left out.
    """
    off, edge = FLUSH_SHARE * gap, max(longest, SHORTEST)
    return PairCriteria(
        skin=skin,
        gap=gap,
        gap_share=gap_share,
        start_share=start_share,
        margin=gap * gap_share + skin,
        flush_angle=-1.0 if all_touching else 4.0 * off / edge,
        flush_curvature=-1.0 if all_touching else 8.0 * off / edge**2,
        all_touching=all_touching,
        measures_clearances=measures_clearances,
    )
