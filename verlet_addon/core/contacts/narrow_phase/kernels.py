"""Narrow phase: times, weights and normals of pairs that touch during their motion."""

from collections.abc import Sequence

import numpy as np

from ...arrays import SHORTEST, Booleans, Floats, Integers, dot
from ...kernel import kernel
from ..broad_phase.bvh import BVH
from ..broad_phase.bvh_refit import find_ridges
from ..broad_phase.bvh_traversal import (
    BVHPair,
    BVHPairs,
    are_roots_near,
    box_margin,
    candidate_pairs,
    near_leaves,
)
from ..broad_phase.searches import (
    TOUCH_TOLERANCE,
    TUNNELLING_REACH,
    DetectedRows,
    NearPairs,
    PairCriteria,
    SearchCriteria,
)
from ..broad_phase.surfaces import Surfaces
from .proximity import NEAREST
from .voronoi_regions import closest_edges, is_behind, is_closest_on_triangles, is_hidden

REST_GAP_SHARE = 0.9
"""Upper bound of the gap of self-collision, as a share of the pair's distance at rest. Half and
twice as much give the same bakes of cloth."""
LEAST_GAP = 1e-9
"""Pairs with a smaller gap, such as coincident features at rest, do not collide [m]."""
MIN_START_SHARE = 1e-4
"""Pairs that start nearer than this share of their gap are not guarded against tunnelling, because
the side on which they start is uncertain. Half and twice as much give the same bakes."""
UNGUARDED_GAP_SHARE = 0.5
"""Pairs joined by an edge, with a smaller share of its gap by REST_GAP_SHARE, are not guarded: the
mesh is much finer there than the surface is thick, and guarding it against folding over would
stretch edges of a millimetre to twice their length. With none of them a scan with edges of 0.25 mm,
10 mm thick, is stretched by 40 %; with 1 thick cloth in a gale folds through itself at single
edges; with 0.2 such edges are stretched by 10 %."""
MAX_ADVANCES = 100
"""Rounds of conservative advancement, after which a pair counts as touching. Long edges that turn
about their contact need many: with 12 the guard holds cloth to letters that spin."""
GRAZING_SHARE = 0.25
"""Pairs that touch, but are apart along that normal at the end, count as tunnelling only if they
come as near as this share of the touching distance. Half and twice as much give the same bakes."""

TouchResult = tuple[Floats, Floats, Floats, Floats, Booleans]
"""(k,) times 0 … 1, (4, k) weights, (3, k) normals, (k,) distances [m], (k,) bool, pairs that
touch."""


@kernel()
def find_near_rows(
    surfaces: Surfaces,
    pairs: BVHPairs,
    criteria: SearchCriteria,
    slack: float,
    progress: Integers,
    found: Sequence[DetectedRows],
    near: Sequence[NearPairs],
    counts: Integers,
) -> None:
    """Finds rows and near pairs between pairs of owners with swept boxes near each other.

    The BVHs must have been refitted to the motion, or to one that is within a slack. Those beyond
    the capacity of their room are only counted. Rows of a pair of owners are of no use if more
    pairs of leaves are tested than it allows. Threads share the work: each has room of its own, and
    takes the next pair of nodes.

    Parameters
    ----------
    slack : largest deviation of particles from the motion that BVHs were fitted to [m].
    progress : (p, 3) of each pair of owners: the number of pairs of nodes taken, of pairs of leaves
        tested, and of pairs of features tested.
    found, near : room for rows and near pairs, of as many threads as may share the work.
    counts : (threads, 2) the numbers of rows and of near pairs found, 0 at first.
    """
    for owners, done in zip(pairs.pairs, progress, strict=True):
        own = criteria_for(surfaces, owners, criteria)
        if done[0] < owners.part_count and are_roots_near(owners, own.margin + slack):
            done[0] = owners.part_count
            room = found[0], near[0], counts[0]
            _find_rows_of_owners(surfaces, owners, own, slack, done, *room)


def criteria_for(surfaces: Surfaces, owners: BVHPair, criteria: SearchCriteria) -> PairCriteria:
    """The criteria of a search for two owners."""
    a, b = owners.first, owners.second
    return criteria.for_pair(float(surfaces.gaps[a, b]), float(surfaces.longest[a]))


def _find_rows_of_owners(
    surfaces: Surfaces,
    owners: BVHPair,
    criteria: PairCriteria,
    slack: float,
    progress: Integers,
    found: DetectedRows,
    near: NearPairs,
    counts: Integers,
) -> None:
    """Finds rows and near pairs between two owners; parameters as `find_near_rows`."""
    a, b = owners.one, owners.other
    leaves = near_leaves(a, b, criteria.margin + slack)
    progress[1] += leaves.shape[1]
    if progress[1] > owners.max_tests:
        return
    start, end = np.ascontiguousarray(surfaces.paths.transpose(1, 2, 0))
    for kind, features in enumerate(candidate_pairs(a, b, leaves)):
        pairs, near_ones, has_row = _choose(surfaces, kind, a, b, features, criteria, slack)
        progress[2] += pairs.shape[1]
        rows = rows_of_pairs(surfaces, kind, pairs[:, has_row], start, end, criteria)
        counts[0] = found.write(int(counts[0]), rows)
        if not criteria.all_touching:
            listed = _near(surfaces, kind, pairs[:, near_ones], start, end, criteria, slack)
            counts[1] = near.write(int(counts[1]), listed)


def _choose(
    surfaces: Surfaces,
    kind: int,
    a: BVH,
    b: BVH,
    pairs: Integers,
    criteria: PairCriteria,
    slack: float,
) -> tuple[Integers, Booleans, Booleans]:
    """The pairs of features (2, k) to test, which of them may be near, and which may have rows.

    Flush features, and edges that other features cover, have no rows.
    """
    start, end = np.ascontiguousarray(surfaces.paths.transpose(1, 2, 0))
    limits = np.array([criteria.flush_angle, criteria.flush_curvature])
    turns = surfaces.edge_turns[pairs] if kind else surfaces.corner_turns[pairs[:1]]
    flush = (turns <= limits).all(axis=2).any(axis=0)
    close, near = (
        _are_close(surfaces, kind, pairs, start, end, box_margin(a, b, margin))
        for margin in (criteria.margin + slack, criteria.near_margin + slack)
    )
    chosen = np.where(flush, near, close)
    pairs, near, flush = pairs[:, chosen], near[chosen], flush[chosen]
    if not kind or criteria.all_touching:
        return pairs, near, ~flush
    covered = ~find_ridges(surfaces, pairs, start).any(axis=0)
    covered |= is_hidden(surfaces, pairs, start, end)
    chosen = near | ~covered
    return pairs[:, chosen], near[chosen], ~(flush | covered)[chosen]


def _near(
    surfaces: Surfaces,
    kind: int,
    pairs: Integers,
    start: Floats,
    end: Floats,
    criteria: PairCriteria,
    slack: float,
) -> NearPairs:
    """The pairs (2, k) that may come near enough to be listed."""
    particles = pair_particles(surfaces, kind, pairs)
    skins = pair_sums(kind, surfaces.skins[particles])
    margins = criteria.near_margin + skins + slack
    near, nearest = _may_come_near(kind, particles, start, end, margins)
    clearances = nearest - TUNNELLING_REACH * _gaps(surfaces, kind, particles, criteria)
    near &= clearances <= skins + slack
    return NearPairs(np.insert(pairs[:, near], 0, kind, axis=0), clearances[near])


def pair_particles(surfaces: Surfaces, kind: int, features: Integers) -> Integers:
    """(4, k) particles of pairs of features (2, k) of one kind."""
    first = surfaces.edges[:, features[0]] if kind else features[:1]
    second = (surfaces.edges if kind else surfaces.triangles)[:, features[1]]
    return np.concatenate([first, second])


def pair_sums(kind: int, of_particles: Floats) -> Floats:
    """(k,) sums of the largest values at either feature, from those of particles (4, k)."""
    split = 2 if kind else 1
    return np.asarray(of_particles[:split].max(axis=0) + of_particles[split:].max(axis=0))


def rows_of_pairs(
    surfaces: Surfaces,
    kind: int,
    features: Integers,
    start: Floats,
    end: Floats,
    criteria: PairCriteria,
) -> DetectedRows:
    """The candidate pairs of one kind that satisfy the criteria."""
    particles = pair_particles(surfaces, kind, features)
    skins = pair_sums(kind, surfaces.skins[particles]) * (not criteria.all_touching)
    near, _ = _may_come_near(kind, particles, start, end, criteria.margin + skins)
    features, particles = features[:, near], particles[:, near]
    x, motion = start[:, particles], end[:, particles] - start[:, particles]
    gaps, touch, guarded = _touching_distances(surfaces, kind, particles, x, criteria)
    times, weights, normals, apart, touched = _advance(kind, x, motion, np.zeros(len(touch)), touch)
    rows = sum(weights[k] * dot(normals, x[:, k] + motion[:, k]) for k in range(4))
    skins = sum(abs(weights[k]) * surfaces.skins[particles[k]] for k in range(4))
    if criteria.all_touching:
        grazed = np.flatnonzero(touched & (rows >= touch))
        before = x[:, :, grazed], motion[:, :, grazed], times[grazed]
        after = _advance(kind, *before, GRAZING_SHARE * touch[grazed])
        times[grazed], weights[:, grazed], normals[:, grazed], _, touched[grazed] = after
    kept = touched & guarded if criteria.all_touching else rows < touch + skins
    kept &= (gaps > LEAST_GAP) & ~is_behind(surfaces, kind, features, start, normals)
    if not criteria.all_touching:
        those = surfaces, features, particles, weights, normals, (start, end, times)
        if kind:
            least, shares = closest_edges(*those)
            steep = shares < np.inf
            touch[steep] = np.minimum(touch[steep], apart[steep] * shares[steep])
        else:
            least = is_closest_on_triangles(*those)
        kept &= least
    found = np.insert(features[:, kept], 0, kind, axis=0)
    touch /= criteria.gap_share
    return DetectedRows(found, weights[:, kept], normals[:, kept], touch[kept])


def _are_close(
    surfaces: Surfaces, kind: int, features: Integers, start: Floats, end: Floats, far: np.float32
) -> Booleans:
    """(k,) bool, pairs of features (2, k) whose swept boxes are within `far` on every axis.

    Their positions are finite, one particle is active, and none is common.
    """
    particles, split = pair_particles(surfaces, kind, features), 2 if kind else 1
    close = (particles[:split, None] != particles[None, split:]).all(axis=(0, 1))
    close &= surfaces.active[particles].any(axis=0)
    finite = np.isfinite(start).all(axis=0) & np.isfinite(end).all(axis=0)
    close &= finite[particles].all(axis=0)
    low = (np.minimum(start, end) - surfaces.skins).astype(np.float32)[:, particles]
    minus_high = -(np.maximum(start, end) + surfaces.skins).astype(np.float32)[:, particles]
    for one, other in ((low, minus_high), (minus_high, low)):
        close &= (one[:, :split].min(axis=1) + other[:, split:].min(axis=1) <= far).all(axis=0)
    return np.asarray(close)


def _may_come_near(
    kind: int, particles: Integers, start: Floats, end: Floats, margins: Floats
) -> tuple[Booleans, Floats]:
    """(k,) bool, pairs that may come within margins, and lower bounds of their distances [m]."""
    x = start[:, particles]
    clearances = NEAREST[kind](x)[2] - _fastest(end[:, particles] - x, kind)
    return clearances <= margins, clearances


def _touching_distances(
    surfaces: Surfaces, kind: int, particles: Integers, x: Floats, criteria: PairCriteria
) -> tuple[Floats, Floats, Booleans]:
    """(k,) gaps of pairs, and their touching distances, of pairs with the start x [m].

    And (k,) bool, pairs that are guarded against tunnelling.
    """
    gaps = _gaps(surfaces, kind, particles, criteria)
    began = NEAREST[kind](x)[2]
    touch = np.minimum(gaps * criteria.gap_share, (began + SHORTEST) * criteria.start_share)
    along = (gaps < UNGUARDED_GAP_SHARE * criteria.gap) & _are_near(surfaces, kind, particles)
    guarded = (gaps > LEAST_GAP) & (began > MIN_START_SHARE * gaps) & ~along
    return gaps, touch, np.asarray(guarded)


def _gaps(surfaces: Surfaces, kind: int, particles: Integers, criteria: PairCriteria) -> Floats:
    """(k,) gaps of pairs; within one surface at most REST_GAP_SHARE of the distance at rest [m]."""
    gaps = np.full(particles.shape[1], criteria.gap)
    own = surfaces.owners[particles[0]] == surfaces.owners[particles[3]]
    at_rest = NEAREST[kind](surfaces.rest[:, particles[:, own]])[2]
    gaps[own] = np.minimum(criteria.gap, REST_GAP_SHARE * at_rest)
    return gaps


def _are_near(surfaces: Surfaces, kind: int, particles: Integers) -> Booleans:
    """(k,) bool, pairs of which an edge joins both features."""
    count, split = len(surfaces.owners), 2 if kind else 1
    here = np.repeat(np.arange(count), np.diff(surfaces.near_starts))
    keys = particles[:split, None] * count + particles[None, split:]
    return np.asarray(np.isin(keys, here * count + surfaces.near).any(axis=(0, 1)))


def _fastest(motion: Floats, kind: int) -> Floats:
    """(k,) upper bound of the relative displacement of any two points of both features [m]."""
    split = 2 if kind else 1
    relative = [motion[:, i] - motion[:, j] for i in range(split) for j in range(split, 4)]
    return np.asarray(np.sqrt(np.max([dot(way, way) for way in relative], axis=0)))


def _advance(kind: int, x: Floats, motion: Floats, times: Floats, touch: Floats) -> TouchResult:
    """Conservative advancement of pairs from `times` until they touch, or to the end of the motion.

    Each advance is distance over maximum speed, within which the pair cannot touch (Mirtich,
    Impulse-based dynamic simulation of rigid body systems, 1996, section 2.3), or as far as it
    stays apart along its normal. Only the second is fast where surfaces slide or turn.

    Parameters
    ----------
    kind : 0 = vertex and triangle, 1 = two edges.
    x, motion : (3, 4, k) start positions and displacements [m].
    times : (k,) times to start from, 0 … 1.
    touch : (k,) distances within which pairs touch [m].
    """
    most = _fastest(motion, kind)
    now = x + times * motion
    weights, normals, apart = NEAREST[kind](now)
    times = times.copy()
    going = np.flatnonzero((apart > touch * TOUCH_TOLERANCE) & (most > 0.0))
    for _ in range(MAX_ADVANCES):
        if not len(going):
            break
        shares = _stay_apart(
            kind, now[:, :, going], motion[:, :, going], normals[:, going], touch[going]
        )
        shares = np.maximum((apart[going] - touch[going]) / most[going], shares)
        times[going] = np.minimum(times[going] + shares, 1.0)
        now[:, :, going] = x[:, :, going] + times[going] * motion[:, :, going]
        weights[:, going], normals[:, going], apart[going] = NEAREST[kind](now[:, :, going])
        going = going[(apart[going] > touch[going] * TOUCH_TOLERANCE) & (times[going] < 1.0)]
    touched = apart <= touch * TOUCH_TOLERANCE
    touched[going] = True
    return times, weights, normals, apart, touched


def _stay_apart(kind: int, x: Floats, motion: Floats, normals: Floats, touch: Floats) -> Floats:
    """(k,) shares of the motion, at most 1, for which pairs stay apart along their normals."""
    split, shares = 2 if kind else 1, np.ones_like(touch)
    for i in range(split):
        for j in range(split, 4):
            closing = dot(normals, motion[:, j] - motion[:, i])
            room = dot(normals, x[:, i] - x[:, j]) - touch
            until = room / np.where(closing > 0.0, closing, 1.0)
            shares = np.where(closing > 0.0, np.minimum(shares, until), shares)
    return shares
