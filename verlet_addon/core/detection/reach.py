"""How near pairs have to come to be found."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Reach:
    """A pair touches once it is as near as a share of its gap; beyond that it is only near."""

    beyond: float
    """Pairs as much farther apart than touching at the end are found too [m]."""
    of_gap: float = 1.0
    """The share of the gap."""
    of_start: float = 1e30
    """The share of the distance at the start that it is at most."""
    all_touching: bool = False
    """Whether to find all that touch on the way: where neighbours are nearer too, and where rows
    hold at the end."""
