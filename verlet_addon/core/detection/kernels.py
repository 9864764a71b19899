"""Narrow phase: times, weights and normals of pairs that touch during their motion."""

import numpy as np

from ..arrays import SHORTEST, Booleans, Floats, Integers, concatenated, dot
from ..kernel import SizedIntegers, Struct, kernel
from .bvh import BVH
from .bvh_traversal import box_margin, candidate_pairs, near_leaves
from .proximity import NEAREST
from .searches import DetectedRows, PairCriteria, room_for_rows
from .surfaces import Surfaces
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
TOUCH_TOLERANCE = 1.01
"""Factor on the touching distance within which advancement ends. With half of the excess, cloth
that is knocked over stretches by 15 % in place of 10 %, with twice, by 26 %; resting cloth does not
move."""

TouchResult = tuple[Floats, Floats, Floats, Floats, Booleans]
"""(k,) times 0 … 1, (4, k) weights, (3, k) normals, (k,) distances [m], (k,) bool, pairs that
touch."""

Struct(
    "search_criteria",
    PairCriteria,
    reads="skin gap gap_share start_share margin flush_angle flush_curvature all_touching "
    "measures_clearances",
)
Struct("rows", DetectedRows, reads="capacity", shares="features weights normals gaps")


@kernel()
def find_near_rows(
    surfaces: Surfaces,
    a: BVH,
    b: BVH,
    criteria: PairCriteria,
    most: int,
    nodes: SizedIntegers,
    progress: Integers,
    found: DetectedRows,
    before: int,
) -> int:
    """Finds rows between two BVHs, or one and itself; returns the number of rows in `found`.

    The BVHs must have been refitted to the motion. New rows follow the first `before` rows of
    `found`; those beyond its capacity are only counted.

    Parameters
    ----------
    most : largest number of pairs of leaves to test; if there are more, rows are of no use.
    nodes : (2, p) pairs of nodes to begin with, which cover the whole traversal. Threads share
        them: each takes the next one.
    progress : (3,) the number of pairs of nodes taken, of pairs of leaves tested, and of pairs of
        features tested.
    """
    if progress[0] >= nodes.shape[1]:
        return before
    progress[0] = nodes.shape[1]
    leaves = near_leaves(a, b, criteria.margin)
    progress[1] += leaves.shape[1]
    if progress[1] > most:
        return before
    paths = np.ascontiguousarray(surfaces.paths.transpose(1, 2, 0))
    pairs = _near_pairs(surfaces, a, b, criteria, leaves, *paths)
    progress[2] += sum(features.shape[1] for features in pairs)
    return found.write(before, _find_rows(surfaces, criteria, pairs, *paths))


def _near_pairs(
    surfaces: Surfaces,
    a: BVH,
    b: BVH,
    criteria: PairCriteria,
    leaves: Integers,
    start: Floats,
    end: Floats,
) -> tuple[Integers, Integers]:
    """(2, k) vertices and triangles, and (2, k) edges, near each other in leaves (2, p)."""
    vertices, edges = candidate_pairs(a, b, leaves, flat=criteria.all_touching)
    limits = np.array([criteria.flush_angle, criteria.flush_curvature])
    vertices = vertices[:, (surfaces.corner_turns[vertices[0]] > limits).any(axis=1)]
    edges = edges[:, (surfaces.edge_turns[edges] > limits).any(axis=2).all(axis=0)]
    far = box_margin(a, b, criteria.margin)
    vertices, edges = (
        pairs[:, _are_close(surfaces, kind, pairs, start, end, far)]
        for kind, pairs in enumerate((vertices, edges))
    )
    if not criteria.all_touching:
        edges = edges[:, ~is_hidden(surfaces, edges, start, end)]
    return vertices, edges


def _find_rows(
    surfaces: Surfaces,
    criteria: PairCriteria,
    pairs: tuple[Integers, Integers],
    start: Floats,
    end: Floats,
) -> DetectedRows:
    """The rows of pairs of features (2, k) of each kind."""
    if criteria.measures_clearances:
        for kind, features in enumerate(pairs):
            particles = _particles_of(surfaces, kind, features)
            _measure_clearances(surfaces, kind, particles, start, criteria)
        return room_for_rows(0)
    rows = [
        _rows(surfaces, kind, features, start, end, criteria) for kind, features in enumerate(pairs)
    ]
    return concatenated(*rows, axis=-1)


def _rows(
    surfaces: Surfaces,
    kind: int,
    features: Integers,
    start: Floats,
    end: Floats,
    criteria: PairCriteria,
) -> DetectedRows:
    """The candidate pairs of one kind that satisfy the criteria."""
    particles = _particles_of(surfaces, kind, features)
    near = _may_come_near(kind, particles, start, end, criteria)
    features, particles = features[:, near], particles[:, near]
    x, motion = start[:, particles], end[:, particles] - start[:, particles]
    gaps, touch, _, guarded = _touching_distances(surfaces, kind, particles, x, criteria)
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
    touch /= criteria.gap_share
    return DetectedRows(found, weights[:, kept], normals[:, kept], touch[kept])


def _measure_clearances(
    surfaces: Surfaces, kind: int, particles: Integers, start: Floats, criteria: PairCriteria
) -> None:
    """Lowers clearances to half of the ways that guarded pairs are from touching."""
    particles = particles[:, _may_come_near(kind, particles, start, start, criteria)]
    x = start[:, particles]
    _, touch, began, guarded = _touching_distances(surfaces, kind, particles, x, criteria)
    room = 0.5 * (began - TOUCH_TOLERANCE * touch)[guarded]
    for corner in particles[:, guarded]:
        np.minimum.at(surfaces.clearances, corner, room)


def _particles_of(surfaces: Surfaces, kind: int, features: Integers) -> Integers:
    """(4, k) the particles of pairs of features (2, k)."""
    first, second = features
    if kind:
        return np.concatenate([surfaces.edges[:, first], surfaces.edges[:, second]])
    return np.concatenate([features[:1], surfaces.triangles[:, second]])


def _are_close(
    surfaces: Surfaces, kind: int, features: Integers, start: Floats, end: Floats, far: np.float32
) -> Booleans:
    """(k,) bool, pairs of features (2, k) whose swept boxes are within `far` on every axis.

    Their positions are finite, one particle is active, and none is common.
    """
    particles, split = _particles_of(surfaces, kind, features), 2 if kind else 1
    close = (particles[:split, None] != particles[None, split:]).all(axis=(0, 1))
    close &= surfaces.active[particles].any(axis=0)
    finite = np.isfinite(start).all(axis=0) & np.isfinite(end).all(axis=0)
    close &= finite[particles].all(axis=0)
    low = np.minimum(start, end).astype(np.float32)[:, particles]
    minus_high = -np.maximum(start, end).astype(np.float32)[:, particles]
    for one, other in ((low, minus_high), (minus_high, low)):
        close &= (one[:, :split].min(axis=1) + other[:, split:].min(axis=1) <= far).all(axis=0)
    return np.asarray(close)


def _may_come_near(
    kind: int, particles: Integers, start: Floats, end: Floats, criteria: PairCriteria
) -> Booleans:
    """(k,) bool, pairs that may come near enough, by their distance and speed."""
    x = start[:, particles]
    most = _fastest(end[:, particles] - x, kind)
    return np.asarray(NEAREST[kind](x)[2] - most <= criteria.margin)


def _touching_distances(
    surfaces: Surfaces, kind: int, particles: Integers, x: Floats, criteria: PairCriteria
) -> tuple[Floats, Floats, Floats, Booleans]:
    """(k,) gaps of pairs, their touching distances, and their distances at the start x [m].

    And (k,) bool, pairs that are guarded against tunnelling. Within one surface gaps are at most
    REST_GAP_SHARE of the distance at rest.
    """
    gaps = np.full(particles.shape[1], criteria.gap)
    own = surfaces.owners[particles[0]] == surfaces.owners[particles[3]]
    at_rest = NEAREST[kind](surfaces.rest[:, particles[:, own]])[2]
    gaps[own] = np.minimum(criteria.gap, REST_GAP_SHARE * at_rest)
    began = NEAREST[kind](x)[2]
    touch = np.minimum(gaps * criteria.gap_share, (began + SHORTEST) * criteria.start_share)
    along = (gaps < UNGUARDED_GAP_SHARE * criteria.gap) & _are_near(surfaces, kind, particles)
    guarded = (gaps > LEAST_GAP) & (began > MIN_START_SHARE * gaps) & ~along
    return gaps, touch, began, np.asarray(guarded)


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
