"""The tunnelling guard: particles that would pass through a surface in a step are stopped."""

from collections.abc import Callable

import numpy as np

from ..arrays import Booleans, Floats, Integers, dot, sum_by
from ..depenetration.penetration_states import contact_penetration_states
from ..detection.contacts import Contacts, find_pairs
from ..detection.searches import SearchCriteria
from ..detection.surfaces import Surfaces
from ..geometry.graph import find_components
from .initial_crossings import find_initial_crossings

TUNNELLING = SearchCriteria(skin=0.0, gap_share=0.1, start_share=0.5, all_touching=True)
"""Pairs that come nearer than this count as passing."""
SEPARATION = 3.0
"""Distance to which such pairs are separated, as a multiple of that."""
RESTORE_ROUNDS, PUSH_ROUNDS = 8, 16
"""Rounds in which other constraints are restored, and in which pairs are only separated along their
normals; if that changes nothing, impact zones come at once. What restoring undoes in every round
comes nearer from step to step otherwise, until it is not guarded any more."""
MAX_ROUNDS = 64
"""Maximum rounds in all; pairs that still pass after them do pass."""
MOST_PAIRS = 4
"""Number of pairs per particle, summed over rounds, beyond which zones keep no relative motion:
there is no room. With room, rounds find a hundredth of that."""


def prevent_tunnelling(
    surfaces: Surfaces,
    start: Floats,
    end: Floats,
    inverse_masses: Floats,
    restore: Callable[[Floats], None] | None = None,
    active: Booleans | None = None,
) -> Floats:
    """Returns end positions (3, N) [m] such that no pair passes through each other on the way.

    Particles go straight from `start` to `end`, both (3, N) [m]; particles without such pairs keep
    their `end`, and so do particles without inverse mass (N,) [1/kg]. In the first rounds pairs are
    separated along their normals, at first with `restore`, which projects the other constraints of
    positions (3, N), after each round. Pairs that still pass then move together (impact zones;
    Provot, Collision and self-collision handling in cloth model dedicated to design garments, 1997,
    without their rotation): each round halves their motion relative to the zone, so that they move
    as far as there is room. Pairs without an active particle (N,) bool are known not to pass; None
    = all are active.
    """
    end, pushes = end.copy(), True
    zone_pairs: list[Integers] = []
    found = 0
    for number in range(MAX_ROUNDS):
        tunnelling = find_tunnelling(surfaces, start, end, inverse_masses, active)
        if not len(tunnelling.gaps):
            break
        before = end.copy()
        found += len(tunnelling.gaps)
        has_room = found <= MOST_PAIRS * end.shape[1]
        pushes = pushes and has_room and number < PUSH_ROUNDS
        pushes = pushes and _push_apart(tunnelling, end, inverse_masses)
        if not pushes:
            first, *others = tunnelling.particles
            zone_pairs += [np.stack([first, other], axis=1) for other in others]
            zones = find_components(end.shape[1], np.concatenate(zone_pairs))
            _move_zones(zones, start, end, inverse_masses, 0.5 if has_room else 0.0)
        elif restore is not None and number < RESTORE_ROUNDS:
            restore(end)
        active = (end != before).any(axis=0)
        active[tunnelling.particles] = True
    return end


def find_tunnelling(
    surfaces: Surfaces,
    start: Floats,
    end: Floats,
    inverse_masses: Floats,
    active: Booleans | None,
) -> Contacts:
    """Returns the pairs with a movable particle that pass on the way, or nearly.

    Pairs that cross at the start are left out, or they would stay crossed.
    """
    found = find_pairs(surfaces, start, end, TUNNELLING, active)
    stopped = (inverse_masses[found.particles] > 0.0).any(axis=0)
    stopped &= contact_penetration_states(surfaces, found.particles, found.weights) == 0
    found = found.chosen(np.flatnonzero(stopped))
    if not len(found.gaps):  # the usual case
        return found
    return found.chosen(~find_initial_crossings(surfaces, found, start))


def _push_apart(contacts: Contacts, end: Floats, inverse_masses: Floats) -> bool:
    """Separates pairs along their normals at the end, one by one; returns whether any was near."""
    near = False
    for row in range(len(contacts.gaps)):
        particles, weights = contacts.particles[:, row], contacts.weights[:, row]
        normal = contacts.normals[:, row]
        now = float((dot(normal, end[:, particles]) * weights).sum())
        wanted = SEPARATION * TUNNELLING.gap_share * contacts.gaps[row]
        mobility = inverse_masses[particles] * weights
        resistance = float((mobility * weights).sum())
        if now < wanted and resistance > 0.0:
            near = True
            end[:, particles] += normal[:, None] * mobility * ((wanted - now) / resistance)
    return near


def _move_zones(
    zones: Integers, start: Floats, end: Floats, inverse_masses: Floats, share: float
) -> None:
    """Moves zones with their centres of mass, or fixed particles; `share` of the rest is kept."""
    members = np.flatnonzero(np.bincount(zones, minlength=len(zones))[zones] > 1)
    labels, free = zones[members], inverse_masses[members] > 0.0
    held = np.zeros(len(zones), dtype=bool)
    held[labels[~free]] = True
    masses = np.where(free, 1.0 / np.where(free, inverse_masses[members], 1.0), 1.0)
    masses[free & held[labels]] = 0.0
    total = sum_by(labels, masses, len(zones))[labels]
    for axis in range(3):
        displacements = (end[axis, members] - start[axis, members]) * masses
        mean_displacement = sum_by(labels, displacements, len(zones))[labels] / total
        there = start[axis, members] + mean_displacement
        deviations = end[axis, members] - there
        end[axis, members[free]] = (there + share * deviations)[free]
