"""Narrow phase in NumPy: times, weights and normals of pairs that touch during their motion."""

from collections.abc import Sequence

import numpy as np

from ..arrays import SHORTEST, Booleans, Floats, Integers, dot
from .detected_rows import NO_ROWS, DetectedRows, GatheredRows, join_rows
from .numpy_bvh import (
    activate as activate,
    candidate_pairs,
    near_leaves,
    refit as refit,
    update_paths as update_paths,
)
from .numpy_voronoi_regions import closest_edges, is_behind, is_closest_on_triangles, is_hidden
from .proximity import NEAREST
from .search_criteria import SearchCriteria, flush_limits
from .surfaces import Surfaces

REST_GAP_SHARE = 0.9
"""Upper bound of the gap of self-collision, as a share of the pair's distance at rest."""
LEAST_GAP = 1e-9
"""Pairs with a smaller gap, such as coincident features at rest, do not collide [m]."""
MIN_START_SHARE = 1e-4
"""Pairs that start nearer than this share of their gap are not guarded against tunnelling, because
the side on which they start is uncertain."""
UNGUARDED_GAP_SHARE = 0.5
"""Pairs near each other along their surface, with a smaller share of its gap by REST_GAP_SHARE, are
not guarded. With none of them a scan with edges of 0.25 mm, 10 mm thick, is stretched by 40 %; with
1 thick cloth in a gale folds through itself at single edges; with 0.2 such edges are stretched by
10 %."""
MAX_ADVANCES = 12
"""Rounds of conservative advancement, after which a pair counts as touching."""
GRAZING_SHARE = 0.25
"""Pairs that touch, but are apart along that normal at the end, count as tunnelling only if they
come as near as this share of the touching distance."""
TOUCH_TOLERANCE = 1.01
"""Factor on the touching distance within which advancement ends."""

TouchResult = tuple[Floats, Floats, Floats, Floats, Booleans]
"""(k,) times 0 … 1, (4, k) weights, (3, k) normals, (k,) distances [m], (k,) bool, pairs that
touch."""


def find_rows(
    surfaces: Surfaces, pairs: Sequence[tuple[int, int]], criteria: SearchCriteria
) -> DetectedRows:
    """Finds the pairs of features of pairs of owners that satisfy the criteria.

    The BVHs must have been refitted to the motion.
    """
    return join_rows(_find_rows(surfaces, a, b, criteria.for_pair(a, b)) for a, b in pairs)


def _find_rows(surfaces: Surfaces, a: int, b: int, criteria: SearchCriteria) -> DetectedRows:
    """The rows of one pair of owners; none where there are too many tests."""
    start, end = np.ascontiguousarray(surfaces.paths.transpose(1, 2, 0))
    margin = surfaces.gaps[a, b] * criteria.gap_share + criteria.skin
    bvhs = surfaces.bvhs[a], surfaces.bvhs[b]
    leaves = near_leaves(*bvhs, margin)
    surfaces.tests[a, b] += leaves.shape[1]
    if surfaces.tests[a, b] > surfaces.max_tests[a, b]:
        return NO_ROWS
    active = surfaces.active
    vertices, edges = candidate_pairs(*bvhs, leaves, flat=criteria.all_touching)
    limits = flush_limits(criteria, float(surfaces.gaps[a, b]), float(surfaces.longest[a]))
    vertices = vertices[:, (surfaces.corner_turns[vertices[0]] > limits).any(axis=1)]
    edges = edges[:, (surfaces.edge_turns[edges] > limits).any(axis=2).all(axis=0)]
    if not criteria.all_touching:
        edges = edges[:, ~is_hidden(surfaces, edges, start, end)]
    vertices = vertices[
        :, active[vertices[0]] | active[surfaces.triangles[:, vertices[1]]].any(axis=0)
    ]
    edges = edges[:, active[surfaces.edges[:, edges]].any(axis=(0, 1))]
    of_vertices = np.concatenate([vertices[:1], surfaces.triangles[:, vertices[1]]])
    of_edges = np.concatenate([surfaces.edges[:, edges[0]], surfaces.edges[:, edges[1]]])
    if criteria.measures_clearances:
        for kind, particles in enumerate((of_vertices, of_edges)):
            _measure_clearances(surfaces, kind, particles, start, criteria)
        return NO_ROWS
    found = [
        _rows(surfaces, 0, vertices, of_vertices, start, end, criteria),
        _rows(surfaces, 1, edges, of_edges, start, end, criteria),
    ]
    return join_rows(found)


def fit_all(surfaces: Surfaces, start: Floats, end: Floats) -> None:
    """Refits the BVHs of all colliding owners to the motion from `start` to `end` (3, N) [m]."""
    for owner in surfaces.colliding_owners:
        if update_paths(surfaces, owner, start, end):
            refit(surfaces, owner)


def gather_rows(surfaces: Surfaces, rows: DetectedRows, order: Integers) -> GatheredRows:
    """Sorts rows by `order` (k,), pairs with a vertex first, and adds particles and owners."""
    features, weights, normals, gaps = rows
    kind, first, second = features.take(order, axis=1)
    by_vertex = int(np.searchsorted(kind, 1))
    particles = np.empty((4, len(order)), dtype=np.int64)
    particles[0, :by_vertex] = first[:by_vertex]
    particles[1:, :by_vertex] = surfaces.triangles.take(second[:by_vertex], axis=1)
    particles[:2, by_vertex:] = surfaces.edges.take(first[by_vertex:], axis=1)
    particles[2:, by_vertex:] = surfaces.edges.take(second[by_vertex:], axis=1)
    owners = surfaces.owners.take(particles[[0, 3]])
    return (
        particles,
        weights.take(order, axis=1),
        normals.take(order, axis=1),
        gaps.take(order),
        owners,
    )


def sum_weighted(positions: Floats, particles: Integers, weights: Floats) -> Floats:
    """(3, k) Σ weights (4, k) × positions (3, N) of particles (4, k), added sequentially."""
    total = weights[0] * positions[:, particles[0]]
    for corner in (1, 2, 3):
        total += weights[corner] * positions[:, particles[corner]]
    return np.asarray(total)


def compute_row_terms(
    positions: Floats, inverse_masses: Floats, particles: Integers, weights: Floats, normals: Floats
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Computes the terms of k rows of contact that their solution needs.

    Parameters
    ----------
    positions : (3, N) [m].
    inverse_masses : (N,) [1/kg].
    particles, weights : (4, k) of each row.
    normals : (3, k) unit vectors.

    Returns
    -------
    impulse_responses : (4, k) weight × inverse mass, the displacement by a unit impulse [1/kg].
    most : (k,) largest magnitude of those [1/kg].
    mobilities : (k,) Σ weight² × inverse mass [1/kg].
    apart : (3, k) Σ weight × position, the separation vector [m].
    heights : (k,) its component along the normal [m].
    """
    impulse_responses = weights * inverse_masses.take(particles)
    apart = sum_weighted(positions, particles, weights)
    most = np.abs(impulse_responses).max(axis=0, initial=0.0)
    return (
        impulse_responses,
        most,
        (weights * impulse_responses).sum(axis=0),
        apart,
        dot(normals, apart),
    )


def _rows(
    surfaces: Surfaces,
    kind: int,
    features: Integers,
    particles: Integers,
    start: Floats,
    end: Floats,
    criteria: SearchCriteria,
) -> DetectedRows:
    """The candidate pairs of one kind that satisfy the criteria."""
    near = _may_come_near(surfaces, kind, particles, start, end, criteria)
    features, particles = features[:, near], particles[:, near]
    gaps = _gaps(surfaces, kind, particles)
    x, motion = start[:, particles], end[:, particles] - start[:, particles]
    began = NEAREST[kind](x)[2]
    touch = np.minimum(gaps * criteria.gap_share, (began + SHORTEST) * criteria.start_share)
    guarded = _are_guarded(surfaces, kind, particles, gaps, began)
    times, weights, normals, apart, touched = _advance(kind, x, motion, np.zeros(len(touch)), touch)
    rows = sum(weights[k] * dot(normals, x[:, k] + motion[:, k]) for k in range(4))
    if criteria.all_touching:
        grazed = np.flatnonzero(touched & (rows >= touch))
        before = x[:, :, grazed], motion[:, :, grazed], times[grazed]
        after = _advance(kind, *before, GRAZING_SHARE * touch[grazed])
        times[grazed], weights[:, grazed], normals[:, grazed], _, touched[grazed] = after
    kept = touched & guarded if criteria.all_touching else rows < touch + criteria.skin
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
    return found, weights[:, kept], normals[:, kept], touch[kept] / criteria.gap_share


def _measure_clearances(
    surfaces: Surfaces, kind: int, particles: Integers, start: Floats, criteria: SearchCriteria
) -> None:
    """Lowers clearances to half of the ways that guarded pairs are from touching."""
    particles = particles[:, _may_come_near(surfaces, kind, particles, start, start, criteria)]
    gaps, began = _gaps(surfaces, kind, particles), NEAREST[kind](start[:, particles])[2]
    touch = np.minimum(gaps * criteria.gap_share, (began + SHORTEST) * criteria.start_share)
    guarded = _are_guarded(surfaces, kind, particles, gaps, began)
    room = 0.5 * (began - TOUCH_TOLERANCE * touch)[guarded]
    for corner in particles[:, guarded]:
        np.minimum.at(surfaces.clearances, corner, room)


def _may_come_near(
    surfaces: Surfaces,
    kind: int,
    particles: Integers,
    start: Floats,
    end: Floats,
    criteria: SearchCriteria,
) -> Booleans:
    """(k,) bool, pairs without common particles, at finite positions, that may come near enough."""
    split = 2 if kind else 1
    near = (particles[:split, None] != particles[None, split:]).all(axis=(0, 1))
    somewhere = np.isfinite(start).all(axis=0) & np.isfinite(end).all(axis=0)
    near &= somewhere[particles].all(axis=0)
    which = np.flatnonzero(near)
    particles = particles[:, which]
    owners = surfaces.owners[particles[[0, 3]]]
    margin = surfaces.gaps[owners[0], owners[1]] * criteria.gap_share + criteria.skin
    both = np.stack([start[:, particles], end[:, particles]])
    low, high = both.min(axis=0), both.max(axis=0)
    over = low[:, :split].min(axis=1) - margin <= high[:, split:].max(axis=1)
    under = low[:, split:].min(axis=1) - margin <= high[:, :split].max(axis=1)
    boxes = (over & under).all(axis=0)
    which, margin = which[boxes], margin[boxes]
    x, motion = both[0][:, :, boxes], (both[1] - both[0])[:, :, boxes]
    near[:] = False
    near[which[NEAREST[kind](x)[2] - _fastest(motion, kind) <= margin]] = True
    return np.asarray(near)


def _gaps(surfaces: Surfaces, kind: int, particles: Integers) -> Floats:
    """(k,) gaps of pairs; within one surface at most REST_GAP_SHARE of the distance at rest [m]."""
    gaps = _full_gaps(surfaces, particles)
    own = surfaces.owners[particles[0]] == surfaces.owners[particles[3]]
    at_rest = NEAREST[kind](surfaces.rest[:, particles[:, own]])[2]
    gaps[own] = np.minimum(gaps[own], REST_GAP_SHARE * at_rest)
    return np.asarray(gaps)


def _are_guarded(
    surfaces: Surfaces, kind: int, particles: Integers, gaps: Floats, began: Floats
) -> Booleans:
    """(k,) bool, pairs that are guarded against tunnelling, which start at distances (k,) [m]."""
    small = gaps < UNGUARDED_GAP_SHARE * _full_gaps(surfaces, particles)
    along = small & _are_near(surfaces, kind, particles)
    return np.asarray((gaps > LEAST_GAP) & (began > MIN_START_SHARE * gaps) & ~along)


def _full_gaps(surfaces: Surfaces, particles: Integers) -> Floats:
    """(k,) gaps of the owners of pairs [m]."""
    owners = surfaces.owners[particles[[0, 3]]]
    return np.asarray(surfaces.gaps[owners[0], owners[1]])


def _are_near(surfaces: Surfaces, kind: int, particles: Integers) -> Booleans:
    """(k,) bool, pairs whose features are near each other along their surface."""
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
    Impulse-based dynamic simulation of rigid body systems, 1996, section 2.3).

    Parameters
    ----------
    kind : 0 = vertex and triangle, 1 = two edges.
    x, motion : (3, 4, k) start positions and displacements [m].
    times : (k,) times to start from, 0 … 1.
    touch : (k,) distances within which pairs touch [m].
    """
    most = _fastest(motion, kind)
    weights, normals, apart = NEAREST[kind](x + times * motion)
    times = times.copy()
    going = np.flatnonzero((apart > touch * TOUCH_TOLERANCE) & (most > 0.0))
    for _ in range(MAX_ADVANCES):
        if not len(going):
            break
        times[going] = np.minimum(times[going] + (apart[going] - touch[going]) / most[going], 1.0)
        now = x[:, :, going] + times[going] * motion[:, :, going]
        weights[:, going], normals[:, going], apart[going] = NEAREST[kind](now)
        going = going[(apart[going] > touch[going] * TOUCH_TOLERANCE) & (times[going] < 1.0)]
    touched = apart <= touch * TOUCH_TOLERANCE
    touched[going] = True
    return times, weights, normals, apart, touched
