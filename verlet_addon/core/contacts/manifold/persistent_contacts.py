"""Contact detection in a step, and persistent contacts, which are kept from step to step."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...arrays import (
    SHORTEST,
    Booleans,
    Floats,
    concatenated,
    selected,
)
from ..broad_phase.bvh_refit import activate_all, fit_all, update_all_paths, widen_leaves
from ..broad_phase.paths import find_deviations, renew_paths, total_displacement
from ..broad_phase.searches import (
    CONTACTS,
    TUNNELLING,
    DetectedRows,
    NearPairs,
    SearchCriteria,
    room_for_near_pairs,
    room_for_rows,
)
from ..broad_phase.skins import SkinLimits
from ..broad_phase.surfaces import Surfaces
from ..narrow_phase.near_pairs import are_active, find_rows_of_near, pair_deviations
from ..narrow_phase.row_search import candidate_owners, find_rows, without_exempt
from .contacts import NO_CONTACTS, Contacts, merged, sorted_contacts

FEW_ROWS = 64
"""Size: room for rows of pairs that tunnel, of which there are hardly any."""


def find_contacts(
    surfaces: Surfaces,
    start: Floats,
    end: Floats,
    skin: float,
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
    skin : distance beyond the gap [m].
    active : (N,) bool; only pairs with an active particle are searched. None = all.

    Returns
    -------
    The contacts, pairs of a vertex and a triangle before pairs of edges.
    """
    skins = np.full(start.shape[1], 0.5 * skin)
    return find_pairs(surfaces, start, end, CONTACTS, active, skins)[0]


def find_pairs(
    surfaces: Surfaces,
    start: Floats,
    end: Floats,
    criteria: SearchCriteria,
    active: Booleans | None,
    skins: Floats | None = None,
) -> tuple[Contacts, NearPairs]:
    """Finds all pairs that satisfy the criteria, and near ones, of particles with skins (N,) [m].

    Other parameters as `find_contacts`.
    """
    _fit(surfaces, start, end, np.zeros(start.shape[1]) if skins is None else skins)
    return _search(surfaces, criteria, active, 0.0)


def _fit(surfaces: Surfaces, start: Floats, end: Floats, skins: Floats) -> Floats:
    """Fits BVHs to a motion (3, N), less the common displacement (3,) that is returned [m]."""
    common = _common_displacement(surfaces, start, end)
    end = end - common[:, None] if common.any() else end
    fit_all(surfaces, np.ascontiguousarray(start), np.ascontiguousarray(end), skins)
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
    return _contacts_of(surfaces, rows), near


def _contacts_of(surfaces: Surfaces, rows: DetectedRows) -> Contacts:
    """Contacts of rows, without those of owners that are given up."""
    found = sorted_contacts(surfaces, rows)
    found = _without_given_up(surfaces, found) if surfaces.given_up else found
    surfaces.work.contact_rows += len(found.gaps)
    return found


def _common_displacement(surfaces: Surfaces, start: Floats, end: Floats) -> Floats:
    """(3,) mean displacement of surfaces with self-collision, in multiples of their longest edge.

    Contacts depend on relative motion alone. Without it, the swept boxes of a sheet that a gale
    carries farther than it is wide would all overlap, in a search for its contacts with itself.
    """
    members = surfaces.self_colliding
    if not len(members):
        return np.zeros(3)
    longest = max(float(surfaces.longest[surfaces.collides.diagonal()].max()), SHORTEST)
    mean = total_displacement(start, end, members) / len(members)
    with np.errstate(invalid="ignore"):  # some are at NaN
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

    Each particle has a skin, a distance within which it may end its path: whatever it touches then
    has been found. Contacts are kept from step to step where paths are those of the step before.
    Neighbour lists: L. Verlet, Computer "experiments" on classical fluids I, 1967.
    """

    starts: Floats
    """(3, N) start of the path for which each particle's contacts were searched [m]."""
    ends: Floats
    """(3, N) end of that path [m]."""
    skins: Floats
    """(N,) skins for which they were searched [m]."""
    contacts: Contacts
    """Contacts of all particles, in the order of their keys."""
    near: NearPairs
    """Pairs that may tunnel along ways that deviate by no more than `most`."""
    limits: SkinLimits
    """How far particles may be from these paths."""
    common: Floats
    """(3,) common displacement in those searches [m]."""
    deviations: Floats
    """(N,) largest deviations from these paths in the last step [m]."""

    @property
    def most(self) -> Floats:
        """(N,) deviations beyond which a particle's near pairs are not all listed [m]."""
        return np.minimum(self.skins, self.limits.turns)

    def find_contacts(
        self, surfaces: Surfaces, start: Floats, end: Floats, displaced: Booleans
    ) -> Contacts:
        """Contacts of displaced particles (N,) along another way, `start` to `end` (3, N) [m]."""
        deviations, beyond = self._follow(surfaces, start, end)
        active = displaced | beyond
        if not active.any():
            return NO_CONTACTS
        found = self._renew(surfaces, start, end, active, beyond, deviations)
        return found.chosen(np.flatnonzero(displaced.take(found.particles).any(axis=0)))

    def find_tunnelling(
        self, surfaces: Surfaces, start: Floats, end: Floats, active: Booleans | None
    ) -> Contacts:
        """Pairs that tunnel along another way, from `start` to `end` (3, N) [m].

        Near pairs are tested, after those of particles that deviate beyond their limits are
        searched anew. Pairs without an active particle (N,) are left out; None = all are active.
        """
        deviations, beyond = self._follow(surfaces, start, end)
        if beyond.any():
            self._renew(surfaces, start, end, beyond, beyond, deviations)
        surfaces.active[:] = True if active is None else active
        rows = room_for_rows(FEW_ROWS)
        while True:
            tests = np.zeros(1, dtype=np.int64)
            given = surfaces, self.near, TUNNELLING, deviations
            count = find_rows_of_near(*given, rows, tests)
            if count <= rows.capacity:
                surfaces.work.pair_tests += int(tests[0])
                found = concatenated(rows.first(count), axis=-1)
                return _contacts_of(surfaces, without_exempt(surfaces, found))
            rows = room_for_rows(count)

    def _follow(self, surfaces: Surfaces, start: Floats, end: Floats) -> tuple[Floats, Booleans]:
        """Sets the paths of surfaces; returns how far they are from those searched, (N,) [m].

        And (N,) bool, particles beyond their limits, whose skins grow to the largest.
        """
        deviations = find_deviations(self.starts, self.ends, start, end)
        np.maximum(self.deviations, deviations, out=self.deviations)
        beyond = deviations > self.most
        np.copyto(self.skins, self.limits.largest, where=beyond)
        end = end - self.common[:, None] if self.common.any() else end
        update_all_paths(surfaces, start, end, self.skins)
        return deviations, beyond

    def _renew(
        self,
        surfaces: Surfaces,
        start: Floats,
        end: Floats,
        active: Booleans,
        beyond: Booleans,
        deviations: Floats,
    ) -> Contacts:
        """Searches particles (N,) along the paths of surfaces; returns their contacts.

        Their contacts and near pairs replace the former ones, and their `deviations` (N,) [m] are 0
        then. BVHs are widened, not refitted.
        """
        for bvh, (first, last) in zip(surfaces.bvhs, pairwise(surfaces.starts), strict=True):
            if beyond[first:last].any():
                widen_leaves(surfaces, bvh, beyond)
        slack = float((deviations + self.limits.tolerances)[~beyond].max(initial=0.0))
        found, near = _search(surfaces, CONTACTS, active, slack)
        deviations[active] = 0.0
        near.clearances[:] -= pair_deviations(surfaces, near, deviations)
        self._replace(surfaces, active, found, near)
        np.copyto(self.starts, start, where=active)
        np.copyto(self.ends, end, where=active)
        return found

    def _replace(
        self, surfaces: Surfaces, active: Booleans, found: Contacts, near: NearPairs
    ) -> None:
        """Replaces contacts and near pairs of active particles (N,)."""
        kept = np.flatnonzero(~active.take(self.contacts.particles).any(axis=0))
        self.contacts = merged(self.contacts.chosen(kept), found)
        others = selected(self.near, np.flatnonzero(~are_active(surfaces, self.near, active)))
        self.near = concatenated(others, near, axis=-1)


def without_contacts(limits: SkinLimits) -> PersistentContacts:
    """No contacts, and paths that were never searched, after a step in which nothing touched."""
    nowhere, still = np.full((3, len(limits.largest)), np.nan), np.zeros_like(limits.largest)
    return PersistentContacts(
        nowhere,
        nowhere.copy(),
        limits.largest.copy(),
        NO_CONTACTS,
        room_for_near_pairs(0),
        limits,
        np.zeros(3),
        still,
    )


def refresh_contacts(
    known: PersistentContacts | None,
    surfaces: Surfaces,
    start: Floats,
    end: Floats,
    skins: Floats,
    limits: SkinLimits,
) -> PersistentContacts:
    """Contacts for a step; those of particles that did not move are taken from `known`.

    Parameters
    ----------
    start, end : (3, N) positions at both ends of a straight motion [m].
    skins : (N,) distances from the end within which contacts are searched [m].
    limits : how far particles may be from paths that were searched.
    """
    if known is not None and not surfaces.given_up:
        moved = np.empty(start.shape[1], dtype=bool)
        count = renew_paths(known.starts, known.ends, start, end, limits.tolerances, moved)
        known.deviations[:] = 0.0
        if not count:
            return known
        np.copyto(known.skins, skins, where=moved)
        known.common = _fit(surfaces, start, end, known.skins)
        if count < len(moved):
            known._replace(surfaces, moved, *_search(surfaces, CONTACTS, moved, 0.0))
        else:
            known.contacts, known.near = _search(surfaces, CONTACTS, None, 0.0)
        return known
    common = _fit(surfaces, start, end, skins)
    found = _search(surfaces, CONTACTS, None, 0.0)
    # Copies: the step changes its end where further contacts are searched.
    paths = start.copy(), end.copy(), skins.copy()
    return PersistentContacts(*paths, *found, limits, common, np.zeros_like(skins))
