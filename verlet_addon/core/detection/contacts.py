"""Contact detection in a step, and persistent contacts, which are kept from step to step."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np

from ..arrays import (
    SHORTEST,
    Booleans,
    Floats,
    Integers,
    concatenated,
    cross,
    magnitudes,
    selected,
)
from .bvh_refit import activate_all, fit_all, update_all_paths, widen_leaves
from .kernels import find_rows_of_near, pair_particles
from .row_search import candidate_owners, find_rows, without_exempt
from .searches import (
    DEVIATION_SHARE,
    TUNNELLING,
    DetectedRows,
    NearPairs,
    SearchCriteria,
    room_for_rows,
)
from .surfaces import Surfaces

REFRESH_SHARE = 0.01
"""Contacts of a particle are searched anew once its path differs from the one of its last search by
more than this share of the skin, at either end. With 0.05 cloth on stairs is up to 4.1 mm nearer
than its gap of 5 mm, and with this 1.4, as if all were searched; layers at rest take a fifth less
with 0.02."""
FEW_ROWS = 64
"""Size: room for rows of pairs that tunnel, of which there are hardly any."""
TURN_SHARE = 0.25
"""Distance that particles may deviate, as a share of the least height of their triangles. Connected
triangles too flat to touch are not searched: their normals are within 60° of one direction, and
turn by less than 30° by such deviations, so that they stay too flat."""


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


NO_CONTACTS = Contacts(
    np.empty((4, 0), dtype=np.int64),
    np.empty((4, 0)),
    np.empty((3, 0)),
    np.empty(0),
    np.empty((2, 0), dtype=np.int64),
    np.empty(0, dtype=np.int64),
)
"""No contacts."""


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
    return find_pairs(surfaces, start, end, SearchCriteria(skin=skin), active)[0]


def find_pairs(
    surfaces: Surfaces,
    start: Floats,
    end: Floats,
    criteria: SearchCriteria,
    active: Booleans | None,
) -> tuple[Contacts, NearPairs]:
    """Finds all pairs that satisfy the criteria, and near ones; parameters as `find_contacts`."""
    _fit(surfaces, start, end)
    return _search(surfaces, criteria, active, 0.0)


def _fit(surfaces: Surfaces, start: Floats, end: Floats) -> Floats:
    """Fits BVHs to a motion (3, N), less the common displacement (3,) that is returned [m]."""
    common = _common_displacement(surfaces, start, end)
    end = end - common[:, None] if common.any() else end
    fit_all(surfaces, np.ascontiguousarray(start), np.ascontiguousarray(end))
    return common


def _search(
    surfaces: Surfaces, criteria: SearchCriteria, active: Booleans | None, slack: float
) -> tuple[Contacts, NearPairs]:
    """Pairs that satisfy the criteria along `surfaces.paths`, and near ones.

    BVHs contain these paths, but for a slack [m].
    """
    surfaces.active[:] = True if active is None else active
    activate_all(surfaces)
    pairs = candidate_owners(surfaces, criteria, slack)
    rows, near = find_rows(surfaces, pairs, criteria, slack)
    return _sorted_contacts(surfaces, rows), near


def _sorted_contacts(surfaces: Surfaces, rows: DetectedRows) -> Contacts:
    """Contacts of rows in the order of their keys, without those of owners that are given up."""
    if not rows.capacity:  # most searches after the first of a step
        return NO_CONTACTS
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
    """Contacts and near pairs, with the paths of N particles for which they were searched.

    Contacts are kept from step to step: pairs that come near meanwhile are within the skin, as long
    as no particle moves by more than half of it. Neighbour lists: L. Verlet, Computer "experiments"
    on classical fluids I, 1967.
    """

    starts: Floats
    """(3, N) start of the path for which each particle's contacts were searched [m]."""
    ends: Floats
    """(3, N) end of that path [m]."""
    contacts: Contacts
    """Contacts of all particles, in the order of their keys."""
    near: NearPairs
    """Pairs that may tunnel along ways that deviate by no more than `limits`."""
    limits: Floats
    """(N,) deviations beyond which a particle's near pairs are not all listed [m]."""
    tolerances: Floats
    """(N,) distances that particles may move between searches [m]."""
    common: Floats
    """(3,) common displacement in those searches [m]."""

    def find_contacts(
        self, surfaces: Surfaces, start: Floats, end: Floats, skin: Floats, active: Booleans
    ) -> Contacts:
        """Contacts of active particles (N,) along another way; parameters as `find_contacts`."""
        deviations = self._follow(surfaces, start, end)
        return self._search(surfaces, SearchCriteria(skin=skin), active, deviations)

    def find_tunnelling(
        self, surfaces: Surfaces, start: Floats, end: Floats, active: Booleans | None
    ) -> Contacts:
        """Pairs that tunnel along another way, from `start` to `end` (3, N) [m].

        Near pairs are tested, and pairs of particles that deviate beyond their limits are searched.
        Pairs without an active particle (N,) are left out; None = all are active.
        """
        deviations = self._follow(surfaces, start, end)
        beyond = deviations > self.limits
        if active is not None and beyond.any():
            return self._search(surfaces, TUNNELLING, active, deviations)
        surfaces.active[:] = True if active is None else active
        found = self._test_near(surfaces, deviations, beyond)
        if not beyond.any():
            return found
        both = concatenated(found, self._search(surfaces, TUNNELLING, beyond, deviations), axis=-1)
        return both.chosen(np.argsort(both.keys, kind="stable"))

    def _follow(self, surfaces: Surfaces, start: Floats, end: Floats) -> Floats:
        """Sets the paths of surfaces; returns how far they are from those searched, (N,) [m]."""
        moved = np.maximum(magnitudes(start - self.starts), magnitudes(end - self.ends))
        end = end - self.common[:, None] if self.common.any() else end
        update_all_paths(surfaces, np.ascontiguousarray(start), np.ascontiguousarray(end))
        return np.nan_to_num(moved)  # colliders without area are at NaN

    def _search(
        self,
        surfaces: Surfaces,
        criteria: SearchCriteria,
        active: Booleans,
        deviations: Floats,
    ) -> Contacts:
        """Pairs of active particles (N,) that satisfy criteria; BVHs are widened, not refitted."""
        beyond = deviations > self.limits
        for bvh, (first, last) in zip(surfaces.bvhs, pairwise(surfaces.starts), strict=True):
            if beyond[first:last].any():
                widen_leaves(surfaces, bvh, beyond)
        slack = float((deviations + self.tolerances)[~beyond].max(initial=0.0))
        return _search(surfaces, criteria, active, slack)[0]

    def _test_near(self, surfaces: Surfaces, deviations: Floats, skipped: Booleans) -> Contacts:
        """Near pairs that tunnel, without those of skipped particles (N,)."""
        given = surfaces, self.near, TUNNELLING, deviations, skipped
        rows = room_for_rows(FEW_ROWS)
        while True:
            tests = np.zeros(1, dtype=np.int64)
            count = find_rows_of_near(*given, rows, tests)
            if count <= rows.capacity:
                surfaces.work.pair_tests += int(tests[0])
                return _sorted_contacts(surfaces, without_exempt(surfaces, rows.first(count)))
            rows = room_for_rows(count)


def refresh_contacts(
    known: PersistentContacts | None,
    surfaces: Surfaces,
    start: Floats,
    end: Floats,
    skin: Floats,
    tolerances: Floats,
    limits: Floats,
) -> PersistentContacts:
    """Contacts for a step; those of particles that did not move are taken from `known`.

    Parameters
    ----------
    start, end : (3, N) positions at both ends of a straight motion [m].
    skin : distance beyond the gap within which pairs are found [m], (o, o) by owners.
    tolerances : (N,) distances that particles may move between searches [m].
    limits : (N,) deviations beyond which a particle's near pairs are not all listed [m].
    """
    criteria = SearchCriteria(skin=skin, lists_near=True)
    active = np.ones(start.shape[1], dtype=bool)
    if known is not None:
        moved = np.maximum(np.abs(start - known.starts), np.abs(end - known.ends)).max(axis=0)
        active = ~(moved <= tolerances)  # also at NaN
        if not active.any():
            return known
    those = limits, tolerances, _fit(surfaces, start, end)
    if known is None or surfaces.given_up or active.all():
        # Copies: the step changes its end where further contacts are searched.
        every = _search(surfaces, criteria, None, 0.0)
        return PersistentContacts(start.copy(), end.copy(), *every, *those)
    found, near = _search(surfaces, criteria, active, 0.0)
    kept = np.flatnonzero(~active[known.contacts.particles].any(axis=0))
    both = concatenated(known.contacts.chosen(kept), found, axis=-1)
    return PersistentContacts(
        np.where(active, start, known.starts),
        np.where(active, end, known.ends),
        both.chosen(np.argsort(both.keys, kind="stable")),
        concatenated(_without(surfaces, known.near, active), near, axis=-1),
        *those,
    )


def _without(surfaces: Surfaces, near: NearPairs, active: Booleans) -> NearPairs:
    """Near pairs without those of an active particle (N,)."""
    kept = np.empty(near.capacity, dtype=bool)
    for kind in (0, 1):
        own = near.features[0] == kind
        particles = pair_particles(surfaces, kind, near.features[1:, own])
        kept[own] = ~active[particles].any(axis=0)
    return selected(near, kept)


def deviation_limits(surfaces: Surfaces, skins: Floats) -> Floats:
    """(N,) deviations up to which near pairs are all that a particle may pass through [m].

    `skins` (N,) are those within which contacts are searched [m].
    """
    a, b, c = (surfaces.rest[:, corner] for corner in surfaces.triangles)
    sides = np.stack([magnitudes(b - a), magnitudes(c - b), magnitudes(a - c)])
    with np.errstate(invalid="ignore", divide="ignore"):  # some are at NaN, or have no area
        heights = magnitudes(cross(b - a, c - a)) / sides.max(axis=0)
    least = np.full(len(surfaces.owners), np.inf)
    for corner in surfaces.triangles:
        np.minimum.at(least, corner, np.nan_to_num(heights))
    least[~surfaces.collides.diagonal()[surfaces.owners]] = np.inf
    return np.minimum(DEVIATION_SHARE * skins, TURN_SHARE * least)
