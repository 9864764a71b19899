"""Filters of pairs by the Voronoi regions of triangles, edges and corners, in NumPy.

A pair is dropped if a neighbouring feature is nearer, because the pair with that feature covers the
same contact.
"""

import numpy as np

from ...arrays import SHORTEST, Booleans, Floats, Integers, cross, dot
from ..broad_phase.bvh_refit import RIDGE
from ..broad_phase.surfaces import Surfaces
from .proximity import PARALLEL

STEADY_SHARE = 0.05
"""Edges and triangles deformed by less than this share of their size keep their directions. With
half, cloth that is knocked over stretches by 15 % in place of 10 %, with twice, by 44 %; cloth that
rests on a ball moves by 0.3 mm."""
MIN_RISE = 1e-6
"""Slope above which a neighbouring triangle that rises towards the other feature is nearer, so that
a pair with a vertex is dropped."""
SHARED_SLOPE = 0.05
"""Slope above which a pair of edges is dropped, well above RIDGE: below it the pair is kept besides
those of neighbours, because cloth at rest would otherwise rock from one to the other. With half,
sheets that cross stretch by 3.7 % in place of 3.5 %; with twice, cloth that is knocked over by 57 %
in place of 10 %."""
MAX_FOLD_SLOPE = 0.04
"""Slope to which the gap of edges in a fold is limited, since it grows with their distance: with a
larger one, the pair would be dropped, fall back, and be found again in an endless cycle."""
Moment = tuple[Floats, Floats, Floats]
"""(3, N) start and end positions [m], and (k,) times of pairs, 0 … 1."""


def is_behind(
    surfaces: Surfaces, kind: int, features: Integers, start: Floats, normals: Floats
) -> Booleans:
    """(k,) bool, pairs in which one feature is behind the single-sided surface of the other.

    Behind means below all triangles at that feature, in the direction of the normal.
    """
    behind = np.zeros(features.shape[1], dtype=bool)
    if not surfaces.single_sided.any() or not surfaces.triangles.size:
        return behind
    for place, outwards in ((0, -1.0), (1, 1.0)):
        faces = _faces(surfaces, kind, place, features[place])
        a, b, c = (start[:, surfaces.triangles[k, faces]] for k in range(3))
        with np.errstate(invalid="ignore"):  # neighbours may be at NaN
            heights = dot(cross(b - a, c - a), (outwards * normals)[:, None])
        lost = (faces < 0) | np.isnan(heights)
        highest = np.where(lost, -np.inf, heights).max(axis=0, initial=-np.inf)
        owner = surfaces.owners[surfaces.triangles[0, faces.max(axis=0, initial=-1)]]
        some = (faces >= 0).any(axis=0)
        behind |= some & (highest < 0.0) & surfaces.single_sided[owner]
    return behind


def _faces(surfaces: Surfaces, kind: int, place: int, features: Integers) -> Integers:
    """(most, k) the triangles that each feature is part of, padded with −1.

    Features (k,) are those at a place, 0 or 1, in pairs of a kind: in kind 0 vertices at 0 and
    triangles at 1, in kind 1 edges at both.
    """
    if kind == 1:
        return np.asarray(surfaces.sides[:, features])
    return features[None] if place else _fans(surfaces, features)


def _fans(surfaces: Surfaces, vertices: Integers) -> Integers:
    """(most, k) the triangles around vertices, padded with −1."""
    starts = surfaces.fan_starts
    counts = starts[vertices + 1] - starts[vertices]
    steps = np.arange(counts.max(initial=0))[:, None]
    places = np.minimum(starts[vertices] + steps, len(surfaces.fans) - 1)
    return np.where(steps < counts, surfaces.fans[places], -1)


@np.errstate(invalid="ignore")  # some are at NaN
def is_hidden(surfaces: Surfaces, edges: Integers, start: Floats, end: Floats) -> Booleans:
    """(k,) bool, pairs of edges (2, k) with a nearer triangle beside one of them, on either side.

    Edges touch along their common normal, so a triangle that rises along it is nearer. The test is
    made at the start of the step, for edges that hardly rotate during the step.
    """
    base, other = surfaces.edges[:, edges]
    along, steady = _side(base, other, start, end)
    squares = dot(along, along)
    normal = cross(along[:, 0], along[:, 1])
    square = dot(normal, normal)
    hidden = np.zeros((2, edges.shape[1]), dtype=bool)
    for wings in surfaces.wings[:, edges]:
        way, kept = _side(base, np.where(wings < 0, base, wings), start, end, squares)
        steady &= kept
        height = dot(normal[:, None], way)
        steep = height * height > SHARED_SLOPE * SHARED_SLOPE * (square * dot(way, way))
        up, down = steep & (height > 0.0), steep & (height < 0.0)
        hidden |= np.stack([down[0] | up[1], up[0] | down[1]])
    crossing = square > PARALLEL * (squares[0] * squares[1])
    return np.asarray(crossing & steady.all(axis=0) & hidden.all(axis=0))


def _side(
    bases: Integers, others: Integers, start: Floats, end: Floats, squares: Floats | None = None
) -> tuple[Floats, Booleans]:
    """(3, 2, k) vectors from bases to others at the start, and (2, k) bool, steady ones."""
    way = start[:, others] - start[:, bases]
    change = (end[:, others] - end[:, bases]) - way
    size = dot(way, way) if squares is None else squares
    return way, np.asarray(dot(change, change) <= STEADY_SHARE * STEADY_SHARE * size)


def is_closest_on_triangles(
    surfaces: Surfaces,
    features: Integers,
    particles: Integers,
    weights: Floats,
    normals: Floats,
    moment: Moment,
) -> Booleans:
    """(k,) bool, pairs of a vertex and a triangle that are not covered by another pair.

    A pair whose nearest point is on an edge or a corner of the triangle is kept only in the Voronoi
    region of that edge or corner (Lin and Canny, A fast algorithm for incremental distance
    calculation, 1991), and only for the first triangle of the edge or corner.
    """
    used = weights[1:] != 0.0
    count = used.sum(axis=0)
    rows, triangles = np.arange(len(count)), features[1]
    edges = surfaces.opposite_edges[used.argmin(axis=0), triangles]
    sides, wings = surfaces.sides[:, edges], surfaces.wings[:, edges]
    corner = particles[1 + used.argmax(axis=0), rows]
    across = np.where(sides[0] == triangles, wings[1], wings[0])
    on_edge = (sides[0] == triangles) & ~_rises(across, corner, normals, moment)
    fans = _fans(surfaces, np.where(count == 1, corner, 0))
    around = np.where(fans < 0, -1, surfaces.triangles[:, fans])
    around = np.where(around == corner, -1, around)
    nearer = np.zeros_like(on_edge)
    for each in around.reshape(3 * len(fans), len(count)):
        nearer |= _rises(each, corner, normals, moment)
    on_corner = (fans[:1] == triangles).any(axis=0) & ~nearer
    return np.asarray(np.choose(count - 1, [on_corner, on_edge, np.ones_like(on_edge)]))


def closest_edges(
    surfaces: Surfaces,
    features: Integers,
    particles: Integers,
    weights: Floats,
    normals: Floats,
    moment: Moment,
) -> tuple[Booleans, Floats]:
    """(k,) bool, likewise for pairs of edges, and (k,) the limit of their gap over their distance.

    A pair whose nearest point is the end of one edge is kept only if the other edge is loose.
    """
    inner = weights != 0.0
    inner_first, inner_second = inner[:2].all(axis=0), inner[2:].all(axis=0)
    first_faces, second_faces = (surfaces.sides[0, feature] >= 0 for feature in features)
    redundant = (~inner_first & second_faces) | (~inner_second & first_faces)
    ridge, steepest = np.zeros(len(redundant), dtype=bool), np.zeros(len(redundant))
    for place, towards in ((0, -normals), (1, normals)):
        base = particles[2 * place]
        for wing in surfaces.wings[:, features[place]]:
            rise = np.where(wing < 0, 0.0, _slopes(wing, base, towards, moment))
            steepest = np.fmax(rise, steepest)
            ridge |= (wing < 0) | (-rise > RIDGE)
    both = inner_first & inner_second
    shares = np.where(
        both & (steepest > 0.0), MAX_FOLD_SLOPE / np.maximum(steepest, SHORTEST), np.inf
    )
    return np.asarray(~redundant & (~both | (ridge & ~(steepest > SHARED_SLOPE)))), shares


def _slopes(corners: Integers, bases: Integers, normals: Floats, moment: Moment) -> Floats:
    """(k,) slope of vectors from bases to corners along normals: the sine of their elevation."""
    way = _offset(corners, bases, moment)
    return np.asarray(dot(normals, way) / np.maximum(np.sqrt(dot(way, way)), SHORTEST))


def _rises(corners: Integers, bases: Integers, normals: Floats, moment: Moment) -> Booleans:
    """(k,) bool, vectors from bases to corners that rise along the normal; False for corner −1."""
    way = _offset(corners, bases, moment)
    return np.asarray((corners >= 0) & (dot(normals, way) > MIN_RISE * np.sqrt(dot(way, way))))


def _offset(corners: Integers, bases: Integers, moment: Moment) -> Floats:
    """(3, k) vectors from bases to corners at a moment [m]."""
    start, end, times = moment
    return _at(corners, start, end, times) - _at(bases, start, end, times)


def _at(particles: Integers, start: Floats, end: Floats, times: Floats) -> Floats:
    """(3, k) positions of particles at `times` [m]."""
    begin = start[:, particles]
    with np.errstate(invalid="ignore"):  # neighbours may be at NaN
        return np.asarray(begin + times * (end[:, particles] - begin))
