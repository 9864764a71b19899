"""The tunnelling guard: particles that would pass through a surface in a step are stopped."""

from collections.abc import Callable

import numpy as np

from ...arrays import Booleans, Floats, Integers, cross, dot, ranges, sum_by
from ...geometry.graph import find_components
from ..broad_phase.searches import TUNNELLING
from ..broad_phase.surfaces import Surfaces
from ..manifold.contacts import Contacts
from ..manifold.persistent_contacts import PersistentContacts, find_pairs
from ..sides.contact_filter import contact_penetration_states

SEPARATION = 3.0
"""Distance to which such pairs are separated, as a multiple of that. With half, sheets that cross
stretch by 4.1 % in place of 3.5 %; with twice, by 4.8 %, and come 4.3 mm too near in place of 3
mm."""
RESTORE_ROUNDS, PUSH_ROUNDS = 8, 16
"""Rounds in which other constraints are restored, and in which pairs are only separated along their
normals; if that changes nothing, impact zones come at once. With half of the first, pinched cloth
stretches by 16 % in place of 1.7 %, with twice, by 2.4 %; with half of the second, cloth in contact
lies 32 mm elsewhere, with twice, pinched cloth stretches by 31 %."""
MAX_ROUNDS = 64
"""Maximum rounds in all; pairs that still pass after them do pass. With half, pinched cloth lies 54
mm elsewhere, and stretches no more; twice as many give the same bakes."""
MOST_PAIRS = 4
"""Number of pairs per particle, summed over rounds, beyond which zones keep no relative motion:
there is no room. With room, rounds find a hundredth of that."""


def prevent_tunnelling(
    surfaces: Surfaces,
    start: Floats,
    end: Floats,
    inverse_masses: Floats,
    restore: Callable[[Floats], None] | None = None,
    known: PersistentContacts | None = None,
) -> Floats:
    """Returns end positions (3, N) [m] such that no pair passes through each other on the way.

    Particles go straight from `start` to `end`, both (3, N) [m]; particles without such pairs keep
    their `end`, and so do particles without inverse mass (N,) [1/kg]. In the first rounds pairs are
    separated along their normals, at first with `restore`, which projects the other constraints of
    positions (3, N), after each round. Pairs that still pass then move together (impact zones;
    Provot, Collision and self-collision handling in cloth model dedicated to design garments, 1997,
    without their rotation): each round halves their motion relative to the zone, so that they move
    as far as there is room. Pairs are searched, or tested where they are `known` to be near.
    """
    end, pushes, active = end.copy(), True, None
    zone_pairs: list[Integers] = []
    found = 0
    for number in range(MAX_ROUNDS):
        tunnelling = find_tunnelling(surfaces, start, end, inverse_masses, active, known)
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
    active: Booleans | None = None,
    known: PersistentContacts | None = None,
) -> Contacts:
    """Returns the pairs with a movable particle that pass on the way, or nearly.

    Pairs that cross at the start are left out, or they would stay crossed. Pairs without an active
    particle (N,) bool are known not to pass; None = all are active.
    """
    if known is None:
        found, _ = find_pairs(surfaces, start, end, TUNNELLING, active)
    else:
        found = known.find_tunnelling(surfaces, start, end, active)
    stopped = (inverse_masses[found.particles] > 0.0).any(axis=0)
    stopped &= contact_penetration_states(surfaces, found) == 0
    found = found.chosen(np.flatnonzero(stopped))
    if not len(found.gaps):  # the usual case
        return found
    return found.chosen(~_find_initial_crossings(surfaces, found, start))


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


def _find_initial_crossings(surfaces: Surfaces, pairs: Contacts, start: Floats) -> Booleans:
    """(k,) bool, pairs of which an edge at one feature passes through a triangle at the other.

    The edges at a vertex are all that end there, and the triangles at an edge those on both sides.

    Parameters
    ----------
    pairs : pairs of a vertex and a triangle before pairs of edges.
    start : (3, N) positions at the start of the step [m].
    """
    rest, second = np.divmod(pairs.keys, surfaces.features)
    kind, first = np.divmod(rest, surfaces.features)
    crossed = np.zeros(len(kind), dtype=bool)
    vertices, edges = np.flatnonzero(kind == 0), np.flatnonzero(kind == 1)
    which, ends = _edges_at(surfaces, pairs.particles[0, vertices])
    corners = pairs.particles[1:, vertices[which]]
    crossed[vertices[which[_pass_through(start, ends, corners)]]] = True
    for place, other in ((0, second), (1, first)):
        ends = pairs.particles[2 * place : 2 * place + 2, edges]
        others = pairs.particles[2 - 2 * place : 4 - 2 * place, edges]
        for wings in surfaces.wings[:, other[edges]]:
            there = np.flatnonzero(wings >= 0)
            corners = np.concatenate([others[:, there], wings[None, there]])
            crossed[edges[there[_pass_through(start, ends[:, there], corners)]]] = True
    return crossed


def _edges_at(surfaces: Surfaces, vertices: Integers) -> tuple[Integers, Integers]:
    """(e,) index into `vertices` and (2, e) ends of all edges at vertices."""
    wanted = np.zeros(len(surfaces.owners), dtype=bool)
    wanted[vertices] = True
    some = surfaces.edges[:, wanted[surfaces.edges].any(axis=0)]
    ends = np.concatenate([some, some[::-1]], axis=1)
    ends = ends[:, np.argsort(ends[0], kind="stable")]
    first, last = (np.searchsorted(ends[0], vertices, side=side) for side in ("left", "right"))
    which = np.repeat(np.arange(len(vertices)), last - first)
    return which, ends[:, ranges(first, last - first)]


def _pass_through(positions: Floats, ends: Integers, corners: Integers) -> Booleans:
    """(k,) bool, whether edges (2, k) pass through triangles (3, k) that they share no corner with.

    The ends are on different sides of the triangle, and its sides all turn the same way around the
    edge.
    """
    p, q = (positions[:, each] for each in ends)
    a, b, c = (positions[:, each] - p for each in corners)
    way, normal = q - p, cross(b - a, c - a)
    height = dot(normal, a)
    across = height * (height - dot(normal, way)) < 0.0
    turns = np.stack([dot(way, cross(*sides)) for sides in ((a, b), (b, c), (c, a))])
    apart = (ends[:, None] != corners[None]).all(axis=(0, 1))
    return np.asarray(apart & across & ((turns > 0.0).all(axis=0) | (turns < 0.0).all(axis=0)))
