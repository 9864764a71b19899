"""Contact detection in a step, and persistent contacts, which are kept from step to step."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from ..arrays import SHORTEST, Booleans, Floats, Integers, concatenated, selected
from .bvh_refit import activate, fit_all
from .row_search import find_rows, overlapping_owners
from .searches import DetectedRows, SearchCriteria
from .surfaces import Surfaces

REFRESH_SHARE = 0.01
"""Contacts of a particle are searched anew once its path differs from the one of its last search by
more than this share of the skin, at either end. With 0.05 cloth on stairs is up to 4.1 mm nearer
than its gap of 5 mm, and with this 1.4, as if all were searched; layers at rest take a fifth less
with 0.02."""


@dataclass(frozen=True, eq=False)
class Contacts:
    """k contacts: normal · Σ weights x ≥ gap over the four particles of each; Σ weights = 0."""

    particles: Integers
    """(4, k) a vertex and the corners of a triangle, or the ends of two edges."""
    weights: Floats
    """(4, k) positive for the first feature (vertex or edge), negative for the second."""
    normals: Floats
    """(3, k) unit vectors from the second feature to the first, on the side where the first was as
    the step began."""
    gaps: Floats
    """(k,) distances that the features are kept apart [m]."""
    owners: Integers
    """(2, k) owners of the first and of the second feature."""
    keys: Integers
    """(k,) keys of the two features, the same from step to step; −1 for none."""

    def chosen(self, which: Booleans | Integers) -> Self:
        """The contacts at these indices, or in this mask."""
        return selected(self, which)


def find_contacts(
    surfaces: Surfaces,
    start: Floats,
    end: Floats,
    skin: float | Floats,
    active: Booleans | None = None,
) -> Contacts:
    """Finds contacts in a step: pairs nearer than their gap, and speculative contacts in a skin.

    The normal and the weights of a pair are measured at the first moment of the step at which its
    distance is at most its gap, or at the end if there is none. Pairs are returned if their
    distance at the end, along that normal, is less than gap + skin.

    Parameters
    ----------
    surfaces : all surfaces, with o owners and N particles.
    start, end : (3, N) positions at both ends of a straight motion [m].
    skin : distance beyond the gap [m], (o, o) by owners or one for all.
    active : (N,) bool; only pairs with an active particle are searched. None = all.

    Returns
    -------
    The contacts, pairs of a vertex and a triangle before pairs of edges.
    """
    return find_pairs(surfaces, start, end, SearchCriteria(skin=skin), active)


def find_pairs(
    surfaces: Surfaces,
    start: Floats,
    end: Floats,
    criteria: SearchCriteria,
    active: Booleans | None,
) -> Contacts:
    """Finds all pairs that satisfy the criteria; parameters as for `find_contacts`."""
    common = _common_displacement(surfaces, start, end)
    if common.any():
        end = end - common[:, None]
    surfaces.active[:] = True if active is None else active
    for bvh in surfaces.bvhs:
        if active is None:
            bvh.active[:] = True
        else:
            activate(bvh, active)
    fit_all(surfaces, np.ascontiguousarray(start), np.ascontiguousarray(end))
    owners = overlapping_owners(surfaces, criteria)
    rows = find_rows(surfaces, owners, criteria)
    surfaces.count_searches(owners)
    kind, first, second = rows.features
    keys = (kind * surfaces.features + first) * surfaces.features + second
    order = np.argsort(keys)
    found = _gather_contacts(surfaces, selected(rows, order), keys.take(order))
    found = _without_given_up(surfaces, found) if surfaces.given_up else found
    surfaces.work.contact_rows += len(found.gaps)
    return found


def _gather_contacts(surfaces: Surfaces, rows: DetectedRows, keys: Integers) -> Contacts:
    """Contacts of rows, those of vertices first, and their keys (k,)."""
    kind, first, second = rows.features
    by_vertex = int(np.searchsorted(kind, 1))
    particles = np.empty((4, len(kind)), dtype=np.int64)
    particles[0, :by_vertex] = first[:by_vertex]
    particles[1:, :by_vertex] = surfaces.triangles.take(second[:by_vertex], axis=1)
    particles[:2, by_vertex:] = surfaces.edges.take(first[by_vertex:], axis=1)
    particles[2:, by_vertex:] = surfaces.edges.take(second[by_vertex:], axis=1)
    owners = surfaces.owners.take(particles[[0, 3]])
    return Contacts(particles, rows.weights, rows.normals, rows.gaps, owners, keys)


def _common_displacement(surfaces: Surfaces, start: Floats, end: Floats) -> Floats:
    """(3,) mean displacement of surfaces with self-collision, in multiples of their longest edge.

    Contacts depend on relative motion alone. Without it, the swept boxes of a sheet that a gale
    carries farther than it is wide would all overlap, in a search for its contacts with itself.
    """
    members = surfaces.self_colliding
    if not len(members):
        return np.zeros(3)
    longest = max(float(surfaces.longest[surfaces.collides.diagonal()].max()), SHORTEST)
    with np.errstate(invalid="ignore"):  # some are at NaN
        mean = (end.take(members, axis=1) - start.take(members, axis=1)).mean(axis=1)
        return np.asarray(np.where(np.isfinite(mean), np.round(mean / longest), 0.0) * longest)


def _without_given_up(surfaces: Surfaces, contacts: Contacts) -> Contacts:
    """Removes contacts of owners of which too many pairs of leaves were tested."""
    given_up = np.zeros(surfaces.collides.shape, dtype=bool)
    for first, second in surfaces.given_up:
        given_up[[first, second], [second, first]] = True
    return contacts.chosen(np.flatnonzero(~given_up[tuple(contacts.owners)]))


@dataclass(eq=False)
class PersistentContacts:
    """Contacts kept from step to step, with the paths of N particles for which they were searched.

    Pairs that come near meanwhile are within the skin, as long as no particle moves by more than
    half of it. Neighbour lists: L. Verlet, Computer "experiments" on classical fluids I, 1967.
    """

    starts: Floats
    """(3, N) start of the path for which each particle's contacts were searched [m]."""
    ends: Floats
    """(3, N) end of that path [m]."""
    contacts: Contacts
    """Contacts of all particles, in the order of their keys."""


def refresh_contacts(
    known: PersistentContacts | None,
    surfaces: Surfaces,
    start: Floats,
    end: Floats,
    skin: Floats,
    tolerances: Floats,
) -> PersistentContacts:
    """Contacts for a step; those of particles that did not move are taken from `known`.

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
        return PersistentContacts(start.copy(), end.copy(), every)
    found = find_contacts(surfaces, start, end, skin, active)
    kept = np.flatnonzero(~active[known.contacts.particles].any(axis=0))
    both = concatenated(known.contacts.chosen(kept), found, axis=-1)
    return PersistentContacts(
        np.where(active, start, known.starts),
        np.where(active, end, known.ends),
        both.chosen(np.argsort(both.keys, kind="stable")),
    )
