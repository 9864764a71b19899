"""Collision surfaces of all bodies and colliders, joined."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from operator import attrgetter

import numpy as np

from ...arrays import Booleans, Floats, Integers, Singles, ranges
from ...geometry.graph import Graph, Neighbours, find_neighbours
from ...kernel import Struct
from .bvh import BVH, build_bvh
from .bvh_traversal import BVHPair, BVHPairs
from .searches import DetectedRows, NearPairs, SearchWork

MAX_TESTS_PER_PARTICLE = 192
"""Limit of a step's work for two owners: pairs of leaves that are tested, per particle of both.
With room there are at most 12 for cloths that cross at speed, 21 for cloth on a collider that
turns, and over 48 for loose cloth in a gale of 60 m/s. Owners that are given up pass each other."""


@dataclass(frozen=True, eq=False)
class Surface:
    """Collision surface of one body or collider; its n particles are numbered from 0."""

    rest: Floats
    """(3, n) positions at rest [m]."""
    triangles: Integers
    """(3, t) corners, counter-clockwise seen from the front."""
    edges: Integers
    """(2, e) edges, at least the loose ones."""
    single_sided: bool = False
    """Whether only the front touches."""
    is_collider: bool = False
    """Whether the surface is a collider; its flush corners and edges are not tested."""
    edges_touch: bool = True
    """Whether its edges touch others' edges; of hair, only points touch others' triangles."""
    exempt: Booleans | None = None
    """(2, n) bool, particles exempt from collisions with others, and from self-collision."""


@dataclass(frozen=True, eq=False)
class Surfaces:
    """All surfaces joined: the N particles of o owners (bodies, then colliders), owner by owner."""

    starts: Integers
    """(o + 1,) first particle of each owner; the last entry is N."""
    owners: Integers
    """(N,) the owner of each particle."""
    rest: Floats
    """(3, N) positions at rest [m]."""
    triangles: Integers
    """(3, t) corners."""
    edges: Integers
    """(2, e) ends of all edges of triangles, and of loose ones."""
    sides: Integers
    """(2, e) the triangles on both sides of each edge; −1 = none."""
    wings: Integers
    """(2, e) the third corners of those triangles; −1 = none."""
    opposite_edges: Integers
    """(3, t) the edge opposite to each corner of a triangle."""
    fans: Integers
    """Triangles around each particle, particle by particle."""
    fan_starts: Integers
    """(N + 1,) index of each particle's first triangle in `fans`."""
    near_starts: Integers
    """(N + 1,) index of each particle's first neighbour in `near`; none without self-collision."""
    near: Integers
    """Particles joined to each one by an edge."""
    collides: Booleans
    """(o, o) bool, symmetric: pairs of owners that collide; self-collision on the diagonal."""
    gaps: Floats
    """(o, o) distances kept between owners [m]."""
    single_sided: Booleans
    """(o,) bool, owners of which only the front touches."""
    colliders: Booleans
    """(o,) bool, owners that are colliders."""
    longest: Floats
    """(o,) longest edge at rest [m]."""
    bvhs: list[BVH]
    """The BVH of each owner."""
    edge_turns: Floats
    """(e, 2) angle [rad] and curvature [rad/m] of colliders' surfaces across edges; infinite for
    bodies. Written by `refit`."""
    corner_turns: Floats
    """(N, 2) the largest angle and curvature of any edge at a particle. Written by `refit`."""
    paths: Floats
    """(N, 2, 3) start and end positions of the motion that was last searched [m]."""
    skins: Floats
    """(N,) distances from that motion within which particles may end it [m]."""
    swept_boxes: Singles
    """(N, 2, 4) boxes of those motions within skins, in the form of `BVH.boxes` [m]. Compiled
    kernels only."""
    penetration_states: Integers
    """(N, o) penetration state of each particle and owner, 0 for none; changes."""
    exempt: Booleans
    """(2, N) bool, particles exempt from collisions with others, and from self-collision; a feature
    is exempt if all of its particles are."""
    buffers: list[tuple[DetectedRows, NearPairs]] = field(default_factory=list)
    """Room for rows and near pairs that no thread is using."""
    given_up: set[tuple[int, int]] = field(default_factory=set)
    """Pairs of owners, the lower first, that are not tested any more in this frame."""
    searches: dict[tuple[int, int], list[int]] = field(default_factory=dict)
    """Numbers of searches in this frame, and of tests in its former steps, by pair of owners, the
    lower first."""
    motion: Integers = field(default_factory=lambda: np.ones(1, dtype=np.int64))
    """(1,) number of the motion in `paths`; compiled kernels cache vectors at edges for one."""
    work: SearchWork = field(default_factory=SearchWork)
    """Work of all searches in this frame."""

    def pair_of(self, first: int, second: int) -> BVHPair:
        """The BVHs of two owners, or of one and itself."""
        bvhs = self.bvhs[first], self.bvhs[second]
        return BVHPair(first, second, *bvhs, int(self.max_tests[first, second]))

    @cached_property
    def all_pairs(self) -> BVHPairs:
        """The BVHs of all pairs of owners that collide, in order."""
        both = np.stack(np.nonzero(np.triu(self.collides))).T.tolist()
        return BVHPairs([self.pair_of(*pair) for pair in both])

    def fans_of(self, particles: Integers) -> tuple[Integers, Integers]:
        """(j,) indices of particles (k,), and (j,) numbers of the triangles around each."""
        starts = self.fan_starts[particles]
        counts = self.fan_starts[particles + 1] - starts
        return np.repeat(np.arange(len(particles)), counts), self.fans[ranges(starts, counts)]

    def take_searches(self) -> dict[tuple[int, int], tuple[int, int]]:
        """Numbers of searches and tests in a frame that ends, by pair of owners; counts anew."""
        found = {
            pair: (searches, tests + int(self.tests[pair]))
            for pair, (searches, tests) in self.searches.items()
        }
        for pair in found:
            self.tests[pair] = 0
        self.searches.clear()
        self.given_up.clear()
        return found

    def start_step(self) -> None:
        """Counts tests anew, except of owners that are given up."""
        for pair, counts in self.searches.items():
            if pair not in self.given_up:
                counts[1] += int(self.tests[pair])
                self.tests[pair] = 0

    def count_searches(self, owners: Integers) -> None:
        """Counts one more search of owners (2, p), and gives up those with too many tests."""
        self.work.contact_searches += 1
        for pair in map(tuple, owners.T.tolist()):
            self.searches.setdefault(pair, [0, 0])[0] += 1
            if self.tests[pair] > self.max_tests[pair]:
                self.given_up.add(pair)

    @property
    def any_penetrating(self) -> bool:
        """Whether any particle is in a penetration state."""
        return bool(self.penetration_states.max(initial=0) > 0)

    @property
    def features(self) -> int:
        """Number of particles, edges or triangles, whichever are most."""
        return max(len(self.owners), self.edges.shape[1], self.triangles.shape[1])

    @cached_property
    def active(self) -> Booleans:
        """(N,) bool, particles of which pairs are searched; written by `find_pairs`."""
        return np.ones(len(self.owners), dtype=bool)

    @cached_property
    def fitted(self) -> Booleans:
        """(o,) bool, owners with a BVH that is fitted to the motion in `paths`."""
        return np.zeros(len(self.bvhs), dtype=bool)

    @cached_property
    def tests(self) -> Integers:
        """(o, o) pairs of leaves tested in this step, by owners, the lower first; changes."""
        return np.zeros(self.gaps.shape, dtype=np.int64)

    @cached_property
    def max_tests(self) -> Integers:
        """(o, o) largest number of pairs of leaves that a step tests."""
        counts = np.diff(self.starts)
        return np.asarray(MAX_TESTS_PER_PARTICLE * np.add.outer(counts, counts))

    @cached_property
    def colliding_owners(self) -> list[int]:
        """Owners that collide with others, or with themselves."""
        found: list[int] = np.flatnonzero(self.collides.any(axis=1)).tolist()
        return found

    @cached_property
    def self_colliding(self) -> Integers:
        """Particles of owners with self-collision."""
        return np.flatnonzero(self.collides.diagonal()[self.owners])


Struct(
    "surfaces",
    Surfaces,
    reads="owners starts triangles edges sides wings opposite_edges fans fan_starts near_starts "
    "near gaps longest single_sided colliders bvhs",
    shares="paths skins edge_turns corner_turns motion active fitted",
    particle_count=(int, lambda surfaces: len(surfaces.owners)),
    triangle_count=(int, lambda surfaces: surfaces.triangles.shape[1]),
    edge_count=(int, lambda surfaces: surfaces.edges.shape[1]),
    rest_points=(Floats, lambda surfaces: surfaces.rest.T),
    swept_boxes=("struct box", attrgetter("swept_boxes")),
    owner_count=(int, lambda surfaces: len(surfaces.gaps)),
    colliding_owner_numbers=(
        Integers,
        lambda surfaces: np.array(surfaces.colliding_owners, np.int64),
    ),
    colliding_count=(int, lambda surfaces: len(surfaces.colliding_owners)),
)


def join_surfaces(surfaces: Sequence[Surface], collides: Booleans, gaps: Floats) -> Surfaces:
    """Joins surfaces: numbers their particles consecutively, and builds their topology and BVHs.

    Parameters
    ----------
    surfaces : surfaces of the bodies, then of the colliders.
    collides : (o, o) bool, symmetric, pairs of owners that collide.
    gaps : (o, o) symmetric, distances kept between owners [m].
    """
    starts = np.cumsum([0, *(surface.rest.shape[1] for surface in surfaces)])
    count, rest = int(starts[-1]), np.concatenate([surface.rest for surface in surfaces], axis=1)
    shifted = list(zip(surfaces, starts.tolist(), strict=False))
    own_triangles = [_without_degenerate(surface.triangles) + start for surface, start in shifted]
    own_edges = [_all_edges(surface) + start for surface, start in shifted]
    triangles, edges = (np.concatenate(own, axis=1) for own in (own_triangles, own_edges))
    opposite_edges = _opposite_edges(edges, triangles, count)
    sides = _sides(opposite_edges, edges.shape[1])
    owners = np.repeat(np.arange(len(surfaces)), np.diff(starts))
    near = _joined(edges[:, collides.diagonal()[owners[edges[0]]]], count)
    apart = np.where(collides.diagonal(), gaps.diagonal(), -1.0).tolist()
    parts = _parts(surfaces, own_triangles, own_edges, apart)
    return Surfaces(
        starts=starts,
        owners=owners,
        rest=rest,
        triangles=triangles,
        edges=edges,
        sides=sides,
        wings=_wings(edges, sides, triangles),
        opposite_edges=opposite_edges,
        fans=np.argsort(triangles, axis=None, kind="stable") % max(triangles.shape[1], 1),
        fan_starts=np.searchsorted(np.sort(triangles, axis=None), np.arange(count + 1)),
        near_starts=near.starts,
        near=near.others,
        collides=collides,
        gaps=np.ascontiguousarray(gaps, dtype=float),
        single_sided=np.array([surface.single_sided for surface in surfaces], dtype=bool),
        colliders=np.array([surface.is_collider for surface in surfaces], dtype=bool),
        longest=np.array([_longest(rest, own) for own in own_edges]),
        edge_turns=np.full((edges.shape[1], 2), np.inf),
        corner_turns=np.full((count, 2), np.inf),
        bvhs=[build_bvh(rest, triangles, edges, sides, *part) for part in parts],
        paths=np.full((count, 2, 3), np.nan),
        skins=np.zeros(count),
        swept_boxes=np.full((count, 2, 4), np.nan, dtype=np.float32),
        penetration_states=np.zeros((count, len(surfaces)), dtype=np.int8),
        exempt=np.concatenate([_exempt(surface) for surface in surfaces], axis=1),
    )


def _parts(
    surfaces: Sequence[Surface],
    triangles: Sequence[Integers],
    edges: Sequence[Integers],
    apart: Sequence[float],
) -> list[tuple[Integers, Integers, Integers, float]]:
    """Per surface, arguments of `build_bvh`: triangles, edges, those that touch, and the gap."""
    numbers = zip(surfaces, _numbers(triangles), _numbers(edges), apart, strict=True)
    return [
        (own, lines, lines if surface.edges_touch else lines[:0], gap)
        for surface, own, lines, gap in numbers
    ]


def _joined(edges: Integers, count: int) -> Neighbours:
    """The particles at the other ends of edges (2, e)."""
    return find_neighbours(Graph(edges.T, np.zeros(edges.shape[1])), count)


def _exempt(surface: Surface) -> Booleans:
    """(2, n) bool, `surface.exempt`, or False for all."""
    none = np.zeros((2, surface.rest.shape[1]), dtype=bool)
    return none if surface.exempt is None else surface.exempt


def _numbers(parts: Sequence[Integers]) -> list[Integers]:
    """Indices of each part's columns in the concatenation of all parts."""
    ends = np.cumsum([0, *(part.shape[1] for part in parts)]).tolist()
    return [np.arange(first, last) for first, last in pairwise(ends)]


def _without_degenerate(triangles: Integers) -> Integers:
    """(3, t) the triangles with three different corners."""
    a, b, c = triangles
    return np.asarray(triangles[:, (a != b) & (b != c) & (c != a)])


def _all_edges(surface: Surface) -> Integers:
    """(2, e) all edges of triangles and loose ones, each once."""
    a, b, c = surface.triangles
    ends = np.concatenate([np.stack([a, b]), np.stack([b, c]), np.stack([c, a])], axis=1)
    ends = np.sort(np.concatenate([ends, surface.edges], axis=1), axis=0)
    return np.asarray(np.unique(ends[:, ends[0] != ends[1]], axis=1).astype(np.int64))


def _longest(rest: Floats, edges: Integers) -> float:
    """Length of the longest edge of (2, e) [m]."""
    lengths = np.linalg.norm(rest[:, edges[1]] - rest[:, edges[0]], axis=0)
    return float(lengths[np.isfinite(lengths)].max(initial=0.0))


def _wings(edges: Integers, sides: Integers, triangles: Integers) -> Integers:
    """(2, e) the third corners of the triangles on both sides of edges; −1 = none."""
    sums = np.append(triangles.sum(axis=0), 0)  # the last entry is for −1
    return np.where(sides < 0, -1, sums[sides] - edges.sum(axis=0))


def _opposite_edges(edges: Integers, triangles: Integers, count: int) -> Integers:
    """(3, t) the edge between the other two corners of a triangle."""
    keys = edges[0] * count + edges[1]
    order = np.argsort(keys, kind="stable")
    ends = np.sort(triangles[[[1, 2], [2, 0], [0, 1]]], axis=1)
    return np.asarray(order[np.searchsorted(keys[order], ends[:, 0] * count + ends[:, 1])])


def _sides(opposite_edges: Integers, count: int) -> Integers:
    """(2, e) the first two triangles at each of `count` edges; −1 = none."""
    by_edge = np.argsort(opposite_edges.T, axis=None, kind="stable") // 3
    found = np.bincount(opposite_edges.ravel(), minlength=count)
    first, place = np.cumsum(found) - found, np.arange(2)[:, None]
    return np.where(place < found, np.append(by_edge, [-1, -1])[first + place], -1)
