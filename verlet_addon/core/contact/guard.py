"""Nothing passes: what would on its way is held back, and what pushes it takes it along."""

from collections.abc import Callable

import numpy as np

from ..arrays import Booleans, Floats, Integers, dot, sum_by
from ..detection.contacts import Contacts, search
from ..detection.reach import Reach
from ..detection.surfaces import Surfaces
from ..geometry.graph import find_components
from ..overlap.overlaps import leaving

PASSING = Reach(beyond=0.0, of_gap=0.1, of_start=0.5, all_touching=True)
"""Pairs that come nearer than this count as passing."""
CLEAR = 3.0
"""How many times as far apart they are put."""
PUSHES = 8
"""Rounds in which pairs are only held apart along their normals."""
HALVINGS = 14
"""Rounds after these in which what passes keeps half of its motion against what it would pass…"""
MOST_ROUNDS = 40
"""…before it keeps none. What still passes after so many rounds in all does pass."""
MOST_PAIRS = 4
"""What has no room is not pushed about for long: it keeps none at once when all rounds together
have found so many pairs for each particle. Where there is room they find a hundredth of that."""


def guard(
    surfaces: Surfaces,
    start: Floats,
    end: Floats,
    inverse_masses: Floats,
    active: Booleans | None = None,
    keep: Callable[[Floats], None] | None = None,
) -> Floats:
    """Returns where particles end so that none of their pairs passes through another on the way.

    Particles go straight from `start` to `end`, both (3, N) [m]; what passes nothing ends where it
    was going. Those of no inverse mass (N,) [1/kg] are left alone. At first pairs are held apart
    along their normals. What still passes after that moves on together (impact zones; Provot,
    Collision and self-collision handling in cloth model dedicated to design garments, 1997,
    without their rotation): round by round it keeps half of its own motion, so that it goes on as
    far as there is room, and is not stuck for good. What is near no active particle (N,), where
    these are given, is known not to pass. What else has to hold of positions (3, N), `keep` puts
    right, as far as there is room.
    """
    end = end.copy()
    together: list[Integers] = []
    found = 0
    for number in range(MOST_ROUNDS):
        passing = find_passing(surfaces, start, end, inverse_masses, active)
        if not len(passing.gaps):
            break
        before = end.copy()
        found += len(passing.gaps)
        has_room = found <= MOST_PAIRS * end.shape[1]
        if number < PUSHES and has_room:
            _hold_apart(passing, end, inverse_masses)
        else:
            first, *others = passing.particles
            together += [np.stack([first, other], axis=1) for other in others]
            zones = find_components(end.shape[1], np.concatenate(together))
            gives_way = has_room and number < PUSHES + HALVINGS
            _move_as_one(zones, start, end, inverse_masses, 0.5 if gives_way else 0.0)
        if keep is not None and has_room and number < PUSHES + HALVINGS:
            keep(end)
        active = (end != before).any(axis=0)
        active[passing.particles] = True
    return end


def find_passing(
    surfaces: Surfaces,
    start: Floats,
    end: Floats,
    inverse_masses: Floats,
    active: Booleans | None,
) -> Contacts:
    """Returns the pairs that pass on the way, or nearly, of which something can give way."""
    found = search(surfaces, start, end, PASSING, active)
    stopped = (inverse_masses[found.particles] > 0.0).any(axis=0)
    stopped &= leaving(surfaces, found.particles, found.weights) == 0
    return found.chosen(np.flatnonzero(stopped))


def _hold_apart(contacts: Contacts, end: Floats, inverse_masses: Floats) -> None:
    """Puts pairs apart along their normals, one after the other, where they end."""
    for row in range(len(contacts.gaps)):
        particles, weights = contacts.particles[:, row], contacts.weights[:, row]
        normal = contacts.normals[:, row]
        now = float((dot(normal, end[:, particles]) * weights).sum())
        wanted = CLEAR * PASSING.of_gap * contacts.gaps[row]
        mobility = inverse_masses[particles] * weights
        resistance = float((mobility * weights).sum())
        if now < wanted and resistance > 0.0:
            end[:, particles] += normal[:, None] * mobility * ((wanted - now) / resistance)


def _move_as_one(
    zones: Integers, start: Floats, end: Floats, inverse_masses: Floats, share: float
) -> None:
    """Moves zones as their centres of mass move, or as what cannot be stopped in them does.

    What is left of each particle's own motion is a share.
    """
    members = np.flatnonzero(np.bincount(zones, minlength=len(zones))[zones] > 1)
    labels, free = zones[members], inverse_masses[members] > 0.0
    held = np.zeros(len(zones), dtype=bool)
    held[labels[~free]] = True
    masses = np.where(free, 1.0 / np.where(free, inverse_masses[members], 1.0), 1.0)
    masses[free & held[labels]] = 0.0
    total = sum_by(labels, masses, len(zones))[labels]
    for axis in range(3):
        way = (end[axis, members] - start[axis, members]) * masses
        mean = sum_by(labels, way, len(zones))[labels] / total
        there = start[axis, members] + mean
        astray = end[axis, members] - there
        end[axis, members[free]] = (there + share * astray)[free]
