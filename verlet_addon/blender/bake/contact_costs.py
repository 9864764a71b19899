"""The pairs of objects on which a bake spends most of its searches for contacts."""

from collections.abc import Collection, Mapping

from ...core.remark import Remark
from ...core.scene import ContactSearch

NAMED = 2
"""Number of pairs that are named."""
LEAST_SHARE = 0.1
"""Share of all tests from which on a pair is named."""
FEW_TESTS = 20_000
"""Tests a frame up to which searches are no matter: about a millisecond."""


def costly_pairs(
    searches: Mapping[tuple[str, str], ContactSearch], bodies: Collection[str], frames: int
) -> list[Remark]:
    """A sentence on the two pairs with most tests for contacts, and how to have fewer; or none.

    Parameters
    ----------
    searches
        By the names of two objects, the searches of the bake.
    bodies
        Names of the bodies; all others are colliders.
    frames
        Number of simulated frames.
    """
    every = sum(search.tests for search in searches.values())
    if every <= FEW_TESTS * frames:
        return []
    ranked = sorted(searches, key=lambda pair: (-searches[pair].tests, pair))[:NAMED]
    costly = [pair for pair in ranked if searches[pair].tests >= LEAST_SHARE * every]
    shares = [f"{_pair_text(*pair)} ({searches[pair].tests / every:.0%})" for pair in costly]
    remedies = list(dict.fromkeys(_remedy(*pair, bodies=bodies) for pair in costly))
    return [
        Remark(
            f"Most tests for contacts: {', then '.join(shares)}; for a faster bake, "
            f"{', and '.join(remedies)}",
            grade="INFO",
        )
    ]


def _pair_text(one: str, other: str) -> str:
    """Words on two objects, or on an object and itself."""
    return f"{one} with {'itself' if one == other else other}"


def _remedy(one: str, other: str, *, bodies: Collection[str]) -> str:
    """What makes for fewer tests between two objects."""
    if one == other:
        return f"lower the Thickness of {one}"
    if one in bodies and other in bodies:
        return f"lower the Thickness of {one} and {other}"
    collider = other if one in bodies else one
    return f"give {collider} fewer faces, or a simpler collider in its place"
