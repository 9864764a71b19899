"""Brute force over all pairs of features: which come near, and which pass on their way.

Distances are those of `NEAREST` at many moments, and passages are changes of the sign of volumes.
Nothing here is taken from the search: neither trees and boxes, nor conservative advancement, nor
any filter of regions.
"""

from itertools import product

import numpy as np

from tests.core.random_motions import Motion
from verlet_addon.core.arrays import NONZERO, Booleans, Floats, Integers, cross, dot
from verlet_addon.core.contacts.broad_phase.surfaces import Surfaces
from verlet_addon.core.contacts.manifold.contacts import Contacts
from verlet_addon.core.contacts.narrow_phase.kernels import REST_GAP_SHARE
from verlet_addon.core.contacts.narrow_phase.proximity import NEAREST
from verlet_addon.core.geometry.graph import find_components

INSIDE = 1e-6
"""Features pass where they meet farther inside both than this share of them."""
AS_NEAR = 0.02
"""Pairs are as near as each other to this share of their gap: edges at angles below RIDGE, and
neighbours that hardly rise towards each other, are."""
ALMOST = 2.0
"""Pairs that end nearer than so many of their gaps have a row, if the skin reaches so far."""
FLAT_COSINE = 0.4
"""Least cosine between the triangles of a flat patch and one direction, below CONE_COSINE."""


def all_pairs(surfaces: Surfaces, kind: int) -> tuple[Integers, Integers]:
    """(2, k) features and (4, k) particles of all pairs of a kind that share no particle.

    Kind 0 is a vertex and a triangle, kind 1 two edges, the lower number first.
    """
    if kind:
        features = np.stack(np.triu_indices(surfaces.edges.shape[1], k=1))
        particles = surfaces.edges[:, features].swapaxes(0, 1).reshape(4, -1)
    else:
        features = np.indices((len(surfaces.owners), surfaces.triangles.shape[1])).reshape(2, -1)
        particles = np.concatenate([features[:1], surfaces.triangles[:, features[1]]])
    split = 2 if kind else 1
    apart = (particles[:split, None] != particles[None, split:]).all(axis=(0, 1))
    return features[:, apart], particles[:, apart]


def gaps_of(surfaces: Surfaces, kind: int, particles: Integers) -> Floats:
    """(k,) the distances that pairs are to keep: less within a surface if it is nearer at rest."""
    owners = surfaces.owners[particles[[0, 3]]]
    at_rest = NEAREST[kind](surfaces.rest[:, particles])[2]
    gaps = surfaces.gaps[tuple(owners)]
    return np.where(owners[0] == owners[1], np.minimum(gaps, REST_GAP_SHARE * at_rest), gaps)


def kinds_of(surfaces: Surfaces, contacts: Contacts) -> Integers:
    """(3, k) the kinds and the two features of contacts."""
    rest, second = np.divmod(contacts.keys, surfaces.features)
    return np.stack([*np.divmod(rest, surfaces.features), second])


def passing_pairs(motion: Motion, kind: int, moments: Floats) -> tuple[Integers, Integers]:
    """The features and particles of all pairs that pass through each other on the way."""
    features, particles = all_pairs(motion.surfaces, kind)
    volumes = np.stack([_volumes(motion.at(t)[:, particles]) for t in moments])
    moment, pair = np.nonzero(volumes[1:] * volumes[:-1] < 0.0)
    low, high = moments[moment], moments[moment + 1]
    begin = motion.start[:, particles[:, pair]]
    way, sign = motion.end[:, particles[:, pair]] - begin, np.sign(volumes[moment, pair])
    for _ in range(50):  # bisection
        middle = 0.5 * (low + high)
        same = _volumes(begin + middle * way) * sign > 0.0
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    met = np.unique(pair[_meet_inside(kind, begin + 0.5 * (low + high) * way)])
    return features[:, met], particles[:, met]


def _volumes(x: Floats) -> Floats:
    """(k,) six times the volumes of tetrahedra (3, 4, k) [m³]."""
    a, b, c = (x[:, corner] - x[:, 3] for corner in range(3))
    return np.asarray(dot(a, cross(b, c)))


def _meet_inside(kind: int, x: Floats) -> Booleans:
    """(k,) whether pairs (3, 4, k), whose particles are in a plane, meet inside both features."""
    weights, _, apart = NEAREST[kind](x)
    return np.asarray((np.abs(weights).min(axis=0) > INSIDE) & (apart < 1e-9))


class Elements:
    """The triangles and loose edges of surfaces, and how far any two are apart."""

    def __init__(self, surfaces: Surfaces) -> None:
        loose = np.flatnonzero(surfaces.sides[0] < 0)
        ends, none = surfaces.edges[:, loose], np.full(len(loose), -1)
        count = surfaces.triangles.shape[1]
        self.surfaces = surfaces
        self.corners = np.concatenate([surfaces.triangles, ends[[0, 1, 1]]], axis=1)
        self.triangles = np.concatenate([np.arange(count), none])
        own = np.stack([loose, none, none])
        self.edges = np.concatenate([surfaces.opposite_edges, own], axis=1)
        same = self.corners[:, None, :, None] == self.corners[None, :, None, :]
        self.joined: Booleans = same.any(axis=(0, 1))
        """(e, e) bool, elements with a common particle."""
        self.owners: Integers = surfaces.owners[self.corners[0]]
        self._pairs = [all_pairs(surfaces, kind) for kind in range(2)]
        self._gaps = [gaps_of(surfaces, *each) for each in enumerate(p for _, p in self._pairs)]

    def distances(self, positions: Floats) -> Floats:
        """(e, e) distances over gaps of features without common particles."""
        surfaces = self.surfaces
        vertices = np.full((len(surfaces.owners), surfaces.triangles.shape[1] + 1), np.inf)
        edges = np.full((surfaces.edges.shape[1] + 1,) * 2, np.inf)
        for kind, table in enumerate((vertices, edges)):
            features, particles = self._pairs[kind]
            apart = NEAREST[kind](positions[:, particles])[2]
            table[tuple(features)] = apart / self._gaps[kind]
        edges = np.minimum(edges, edges.T)
        one = np.min([vertices[corners][:, self.triangles] for corners in self.corners], axis=0)
        both = [edges[np.ix_(a, b)] for a in self.edges for b in self.edges]
        return np.asarray(np.min([one, one.T, *both], axis=0))

    def members(self, kind: int, place: int) -> Booleans:
        """(features, e) bool, the elements that have each feature at a place, 0 or 1, in pairs."""
        of_place = (self.edges, self.edges) if kind else (self.corners, self.triangles[None])
        numbers = np.arange(self.surfaces.features)
        return np.asarray((of_place[place][None] == numbers[:, None, None]).any(axis=1))


class KnownDistances:
    """How far elements are apart, as contacts tell."""

    def __init__(self, elements: Elements, contacts: Contacts) -> None:
        self._count = len(elements.owners)
        self._kinds = kinds_of(elements.surfaces, contacts)[0]
        self._particles, pairs = contacts.particles, []
        self._gaps = np.empty(len(self._kinds))
        for kind, (_, first, second) in enumerate(
            kinds_of(elements.surfaces, contacts)[:, self._kinds == each] for each in range(2)
        ):
            rows = np.flatnonzero(self._kinds == kind)
            self._gaps[rows] = gaps_of(elements.surfaces, kind, contacts.particles[:, rows])
            one, other = elements.members(kind, 0)[first], elements.members(kind, 1)[second]
            row, a, b = np.nonzero(one[:, :, None] & other[:, None])
            pairs.append(np.stack([rows[row], a, b]))
        self._pairs = np.concatenate(pairs, axis=1)

    def at(self, positions: Floats) -> Floats:
        """(e, e) distances over gaps; infinite where there is no contact."""
        apart = np.empty(len(self._kinds))
        for kind in range(2):
            rows = self._kinds == kind
            apart[rows] = NEAREST[kind](positions[:, self._particles[:, rows]])[2]
        found = np.full((self._count, self._count), np.inf)
        row, a, b = self._pairs
        np.minimum.at(found, (a, b), (apart / self._gaps)[row])
        return np.minimum(found, found.T)


def uncovered(motion: Motion, contacts: Contacts, moments: Floats) -> list[tuple[int, int]]:
    """Elements that come within their gap, or end near it, while no contact covers them.

    At the moment at which they do, or at the end, there is a contact between features of theirs
    that are as near, or steps to neighbours which are as near lead to such features, or to
    elements that came within their gap before, or that are joined. What lies in one flat patch of a
    surface cannot meet.
    """
    elements = Elements(motion.surfaces)
    places = [motion.at(moment) for moment in moments]
    shares = np.stack([elements.distances(each) for each in places])
    since = np.where((shares < 0.999).any(axis=0), (shares < 0.999).argmax(axis=0), len(moments))
    strides = np.linalg.norm(motion.end - motion.start, axis=0).max() / max(len(moments) - 1, 1)
    as_near = AS_NEAR + 2.0 * strides / motion.surfaces.gaps.min()
    told = KnownDistances(elements, contacts)
    known = np.stack([told.at(each) for each in places])
    moment, here = np.minimum(since, len(moments) - 1), np.indices(since.shape)
    reach = shares[moment, *here] + as_near
    own = known[moment, *here] <= reach
    near = (shares[-1] < ALMOST) | (since < len(moments))
    found = []
    for a, b in np.argwhere(np.triu(near & ~own)).tolist():
        then = moment[a, b]
        goals = (known[then] <= reach[a, b]) | elements.joined | (since < since[a, b])
        passable = (shares[then] <= reach[a, b]) | elements.joined
        if not _leads_to(goals & passable, a, b, elements.joined, passable):
            found.append((a, b))
    return [
        (a, b)
        for a, b in found
        if not any(in_flat_patch(motion, *pair) for pair in product(*elements.corners[:, [a, b]].T))
    ]


def _leads_to(goals: Booleans, a: int, b: int, joined: Booleans, passable: Booleans) -> bool:
    """Whether steps to neighbours, all of them passable, lead from two elements to a goal."""
    seen, waiting = {(a, b)}, [(a, b)]
    while waiting:
        one, other = waiting.pop()
        if goals[one, other]:
            return True
        around = joined[one][:, None] & joined[other] & passable
        for pair in zip(*(each.tolist() for each in np.nonzero(around)), strict=True):
            if pair not in seen:
                seen.add(pair)
                waiting.append(pair)
    return False


def in_flat_patch(motion: Motion, first: int, second: int) -> bool:
    """Whether triangles that lead from one particle to another all face one way, at both ends."""
    surfaces = motion.surfaces
    corners = (motion.at(moment)[:, surfaces.triangles] for moment in (0.0, 1.0))
    normals = np.stack([cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]) for x in corners])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), NONZERO)
    across = surfaces.sides[:, (surfaces.sides >= 0).all(axis=0)].T
    around = [(surfaces.triangles == each).any(axis=0) for each in (first, second)]
    for way in normals[:, :, around[0] | around[1]].transpose(0, 2, 1).reshape(-1, 3):
        flat = (np.einsum("a,tak->tk", way, normals) > FLAT_COSINE).all(axis=0)
        patches = find_components(len(flat), across[flat[across].all(axis=1)])
        if np.intersect1d(*(patches[flat & each] for each in around)).size:
            return True
    return False
