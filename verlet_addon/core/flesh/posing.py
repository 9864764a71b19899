"""How the posed skin moves the nodes of a lattice beneath it.

Each node follows the affine motion of the skin near it that it sees from within the body, fitted to
places and normals, in which normals stand for the direction into the body: rigid motions are
followed exactly, and what a corrective does to the skin, its inside does. The fit is linear in
both.
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import SHORTEST, Booleans, Floats, Integers, cofactors, cross, dot, sum_rows
from ..geometry.rest_shape import RestShape
from ..kernel import Sized, Struct, kernel
from ..solid.solid_body import rest_nodes
from .embedding import FragmentedLattice

NEIGHBOURS = 24
"""Vertices of the skin that a node follows. With half, and with twice, the nodes of a person who
jumps are 1 mm elsewhere on average, and up to 25 mm beside creases."""
CHUNK = 1 << 22
"""Size: distances that are compared at a time."""


@dataclass(frozen=True, eq=False)
class Posing:
    """The motion of m nodes with s vertices of the skin, k of which each node follows."""

    vertices: Integers
    """(s,) numbers of these vertices."""
    starts: Integers
    """(s + 1,) where the triangles around each begin."""
    triangles: Integers
    """(t, 3) vertices of these triangles."""
    followed: Integers
    """(m, k) indices in `vertices`."""
    place_weights: Floats
    """(m, k) factors on their places."""
    normal_weights: Floats
    """(m, k) factors on their unit normals [m]."""


Struct(
    "posing",
    Posing,
    reads="vertices starts triangles followed place_weights normal_weights",
    count=(int, lambda posing: len(posing.vertices)),
    nodes=(int, lambda posing: len(posing.followed)),
    width=(int, lambda posing: posing.followed.shape[1]),
)


def build_posing(
    whole: FragmentedLattice, shape: RestShape, chosen: Integers, samples: Integers
) -> Posing:
    """The motion of the nodes of a lattice with the skin of a body.

    Parameters
    ----------
    chosen : (k,) vertices on triangles that nodes may follow.
    samples : (p, 3) the samples behind vertices, and further points, of the skin.
    """
    positions, triangles = shape.mesh.positions, shape.triangles
    nodes = rest_nodes(whole.lattice).T
    vertices = _thinned(whole, positions, chosen, samples)
    starts, fans = _fans(triangles, vertices)
    places, normals = positions[vertices], _normals(positions.T, starts, fans).T
    near, reaches = _nearest(nodes, places, 2 * NEIGHBOURS)
    seen = _visible(whole, near, samples[vertices])
    reaches[~seen & seen.any(axis=1)[:, None]] = np.inf
    order = np.argsort(reaches, axis=1, kind="stable")[:, :NEIGHBOURS]
    followed = np.take_along_axis(near, order, axis=1)
    weights = _falling(np.take_along_axis(reaches, order, axis=1))
    place_weights, normal_weights = _fit(nodes, places[followed], normals[followed], weights)
    return Posing(vertices, starts, fans, followed, place_weights, normal_weights)


@kernel(
    result=lambda posing, _: np.empty((3, len(posing.followed))),
    work=lambda posing, _: np.empty((len(posing.vertices), 6)),
)
def pose_nodes(posing: Posing, skin: Sized) -> Floats:
    """(3, m) places of nodes, given the places (3, n) of the skin's vertices [m]."""
    normals = _normals(skin, posing.starts, posing.triangles)
    places = skin[:, posing.vertices]
    followed, (along, out) = posing.followed, (posing.place_weights, posing.normal_weights)
    return np.asarray((places[:, followed] * along + normals[:, followed] * out).sum(axis=2))


def _normals(skin: Floats, starts: Integers, triangles: Integers) -> Floats:
    """(3, s) unit normals, means of those of the triangles around each vertex by their areas."""
    labels = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    a, b, c = skin[:, triangles.T].transpose(1, 0, 2)
    sums = sum_rows(labels, cross(b - a, c - a), len(starts) - 1)
    lengths = np.sqrt(dot(sums, sums))
    return np.asarray(sums / np.where(lengths > 0.0, lengths, 1.0))


def _thinned(
    whole: FragmentedLattice, positions: Floats, chosen: Integers, samples: Integers
) -> Integers:
    """Vertices of which no two are of one fragment and in the same eighth of its cell."""
    eighths = np.floor(2.0 * whole.lattice.grid.to_cells(positions[chosen])).astype(np.int64)
    keys = np.column_stack([whole.fragments.at(samples[chosen]), eighths])
    _, first = np.unique(keys, axis=0, return_index=True)
    return np.sort(chosen[first])


def _fans(triangles: Integers, vertices: Integers) -> tuple[Integers, Integers]:
    """Where the triangles around each vertex begin, and all of these (t, 3)."""
    corners = triangles.T.ravel()
    place = np.full(int(corners.max()) + 1, -1)
    place[vertices] = np.arange(len(vertices))
    labels = place[corners]
    used = np.flatnonzero(labels >= 0)
    order = used[np.argsort(labels[used], kind="stable")]
    starts = np.searchsorted(labels[order], np.arange(len(vertices) + 1))
    return starts, np.ascontiguousarray(triangles.T[order // 3])


def _nearest(nodes: Floats, places: Floats, count: int) -> tuple[Integers, Floats]:
    """(m, count) the nearest places to nodes (m, 3), and their distances [m], ascending."""
    count, step = min(count, len(places)), max(CHUNK // len(places), 1)
    followed = np.empty((len(nodes), count), dtype=np.int64)
    reaches = np.empty(followed.shape)
    for first in range(0, len(nodes), step):
        rows = slice(first, first + step)
        away = places - nodes[rows, None]
        distances = np.sqrt((away * away).sum(axis=2))
        followed[rows] = np.argsort(distances, axis=1, kind="stable")[:, :count]
        reaches[rows] = np.take_along_axis(distances, followed[rows], axis=1)
    return followed, reaches


def _visible(whole: FragmentedLattice, followed: Integers, behind: Integers) -> Booleans:
    """(m, k) bool, up to NEIGHBOURS of the places that nodes see from within the body.

    Other parts of it, as the other thigh, are beyond a gap.

    Parameters
    ----------
    followed : (m, k) numbers of places, the nearest first.
    behind : (s, 3) the samples behind all places, −1 = none.
    """
    own, seen = whole.node_samples(), np.zeros(followed.shape, dtype=bool)
    for column, numbers in enumerate(followed.T):
        ends = behind[numbers]
        asked = np.flatnonzero((ends[:, 0] >= 0) & (seen.sum(axis=1) < NEIGHBOURS))
        seen[asked, column] = whole.fragments.see_each_other(own[asked], ends[asked])
    return seen


def _falling(reaches: Floats) -> Floats:
    """(m, k) weights that fall to 0 a little beyond the farthest of ascending finite distances."""
    near = np.where(np.isfinite(reaches), reaches, 0.0)
    farthest = 1.05 * near.max(axis=1, keepdims=True) + SHORTEST
    weights = np.where(np.isfinite(reaches), 1.0 - near / farthest, 0.0) ** 2
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _fit(nodes: Floats, places: Floats, normals: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """(m, k) factors on places and on normals (m, k, 3) by which nodes (m, 3) follow them."""
    centres = (weights[:, :, None] * places).sum(axis=1)
    arms = places - centres[:, None]
    moments = np.einsum("mk,mka,mkb->mab", weights, arms, arms)
    # Normals count as much as places do, in units of length.
    square = np.maximum(np.trace(moments, axis1=1, axis2=2), SHORTEST * SHORTEST)
    moments += square[:, None, None] * np.einsum("mk,mka,mkb->mab", weights, normals, normals)
    moments += 1e-9 * square[:, None, None] * np.eye(3)
    minors, sizes = cofactors(moments)
    along = np.einsum("mab,mb->ma", minors, nodes - centres) / sizes[:, None]
    place_weights = weights * (1.0 + np.einsum("mka,ma->mk", arms, along))
    normal_weights = weights * square[:, None] * np.einsum("mka,ma->mk", normals, along)
    return place_weights, normal_weights
