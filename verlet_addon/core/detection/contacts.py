"""Contact detection in a step: pairs of a vertex and a triangle, or of two edges."""

from dataclasses import dataclass

import numpy as np

from ..arrays import SHORTEST, Booleans, Floats, Integers, selected
from ..geometry.sweep_and_prune import find_near_boxes
from .bvh_refit import activate, fit_all, refit, update_paths
from .bvh_traversal import ROUNDING_MARGIN
from .detected_rows import DetectedRows
from .kernels import gather_rows
from .row_search import find_rows
from .search_criteria import SearchCriteria
from .surfaces import Surfaces


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

    def chosen(self, which: Booleans | Integers) -> "Contacts":
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
    near = find_rows(surfaces, owners, criteria)
    surfaces.count_searches(owners)
    rows = without_exempt(surfaces, near)
    kind, first, second = rows[0]
    keys = (kind * surfaces.features + first) * surfaces.features + second
    order = np.argsort(keys)
    found = Contacts(*gather_rows(surfaces, *rows, order), keys.take(order))
    return _without_given_up(surfaces, found) if surfaces.given_up else found


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


def without_exempt(surfaces: Surfaces, rows: DetectedRows) -> DetectedRows:
    """Removes rows of features whose particles are all exempt from contact with the other owner."""
    if not surfaces.exempt.any():
        return rows
    kind, first, second = rows[0]
    passes, edges = np.zeros(len(kind), dtype=bool), surfaces.edges
    for of_kind, of_first, of_second in (
        (kind == 0, np.arange(len(surfaces.owners))[None], surfaces.triangles),
        (kind == 1, edges, edges),
    ):
        one, other = of_first[:, first[of_kind]], of_second[:, second[of_kind]]
        own = (surfaces.owners[one[0]] == surfaces.owners[other[0]]).astype(int)
        passes[of_kind] = surfaces.exempt[own, one].all(axis=0)
        passes[of_kind] |= surfaces.exempt[own, other].all(axis=0)
    features, weights, normals, gaps = rows
    return features[:, ~passes], weights[:, ~passes], normals[:, ~passes], gaps[~passes]


def overlapping_owners(surfaces: Surfaces, criteria: SearchCriteria) -> list[tuple[int, int]]:
    """Pairs of colliding owners whose swept boxes are within gap and skin.

    The BVHs must have been refitted. Those of distant owners are not traversed.
    """
    boxes = np.array([bvh.boxes[1] for bvh in surfaces.bvhs])
    widest = float(surfaces.gaps.max() * criteria.gap_share + np.max(criteria.skin))
    corners = boxes[:, :, :3].astype(float) * np.array([[1.0], [-1.0]])
    near = find_near_boxes(corners[:, 0], corners[:, 1], widest * (1.0 + ROUNDING_MARGIN))
    both = np.concatenate(
        [near, np.tile(np.flatnonzero(surfaces.collides.diagonal()), (2, 1))], axis=1
    )
    both = both[:, surfaces.collides[both[0], both[1]]]
    skin = criteria.skin if isinstance(criteria.skin, float) else criteria.skin[both[0], both[1]]
    margins = surfaces.gaps[both[0], both[1]] * criteria.gap_share + skin
    near = both[:, (boxes[both, 0] + boxes[both[::-1], 1] <= margins[:, None]).all(axis=(0, 2))]
    pairs = [(first, second) for first, second in near[:, np.lexsort(near[::-1])].T.tolist()]
    return [pair for pair in pairs if pair not in surfaces.given_up]


def update_bvh(surfaces: Surfaces, owner: int, start: Floats, end: Floats) -> None:
    """Refits the BVH of an owner to the motion from `start` to `end` (3, N) [m], if it changed."""
    start, end = np.ascontiguousarray(start), np.ascontiguousarray(end)
    if update_paths(surfaces, owner, start, end):
        refit(surfaces, surfaces.bvhs[owner])
