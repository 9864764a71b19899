"""The neighbour list: contacts found in former steps, searched anew only where something moved."""

from dataclasses import dataclass, fields

import numpy as np

from ..arrays import Floats, Integers
from .contacts import Contacts, find_contacts
from .surfaces import Surfaces

REFRESH_SHARE = 0.01
"""Contacts of a particle are searched anew once its path differs from the one of its last search by
more than this share of the skin, at either end. With 0.05 cloth on stairs is up to 4.1 mm nearer
than its gap of 5 mm, and with this 1.4, as if all were searched; layers at rest take a fifth less
with 0.02."""


@dataclass(eq=False)
class NeighbourList:
    """Contacts along the paths of N particles, as they were last searched.

    Neighbour lists: L. Verlet, Computer "experiments" on classical fluids I, 1967. Pairs that come
    near meanwhile are within the skin, as long as no particle moves by more than half of it.
    """

    starts: Floats
    """(3, N) start of the path for which each particle's contacts were searched [m]."""
    ends: Floats
    """(3, N) end of that path [m]."""
    contacts: Contacts
    """Contacts of all particles, in the order of their keys."""


def search_neighbours(
    known: NeighbourList | None,
    surfaces: Surfaces,
    start: Floats,
    end: Floats,
    skin: Floats,
    tolerances: Floats,
) -> NeighbourList:
    """The neighbour list for a step, of which parts that did not move are taken from `known`.

    Parameters
    ----------
    start, end : (3, N) positions at both ends of a straight motion [m].
    skin : distance beyond the gap within which pairs are found [m], (o, o) by owners.
    tolerances : (N,) distances that particles may move between searches [m].
    """
    active = np.ones(start.shape[1], dtype=bool)
    if known is not None:
        moved = np.maximum(np.abs(start - known.starts), np.abs(end - known.ends)).max(axis=0)
        active = ~(moved <= tolerances)  # also at NaN
        if not active.any():
            return known
    if known is None or surfaces.given_up or active.all():
        # Copies: the step changes its end where further contacts are searched.
        every = find_contacts(surfaces, start, end, skin)
        return NeighbourList(start.copy(), end.copy(), every)
    found = find_contacts(surfaces, start, end, skin, active)
    old = known.contacts
    return NeighbourList(
        np.where(active, start, known.starts),
        np.where(active, end, known.ends),
        _joined(
            old.chosen(np.flatnonzero(~active[old.particles].any(axis=0))),
            found,
        ),
    )


def _joined(first: Contacts, second: Contacts) -> Contacts:
    """Contacts of both, in the order of their keys."""
    order: Integers = np.argsort(np.concatenate([first.keys, second.keys]), kind="stable")
    return Contacts(
        *(
            np.concatenate([getattr(first, each.name), getattr(second, each.name)], axis=-1).take(
                order, axis=-1
            )
            for each in fields(Contacts)
        )
    )
