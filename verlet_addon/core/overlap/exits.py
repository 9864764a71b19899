"""Ways out of solids for what starts inside of them."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Booleans, Floats, Integers, cofactors, dot, joined, magnitudes, picked
from ..detection.surfaces import Surfaces
from ..geometry.graph import find_components
from .solids import WAYS, Solids, find_exits, frames_of

TORN = 4.0
"""A patch takes one way out where its nearest ways would take neighbours apart by more than this
many times their distance…"""
DETOUR = 1.5
"""…or where one way for all is no longer than this many times the longest of the nearest ways."""
UPWARDS = 0.2
"""Share by which a way for all counts as shorter if it leads straight up, and longer if down."""


@dataclass(frozen=True, eq=False)
class Exits:
    """Ways out of solids: each vertex is led along one until it is beyond a place on a triangle."""

    vertices: Integers
    """(k,) particles of all owners in one array."""
    corners: Integers
    """(3, k) of the triangle."""
    weights: Floats
    """(3, k) of the place on it."""
    slants: Floats
    """(3, k) the way, in terms of two sides of the triangle and its normal, with which it moves."""
    depths: Floats
    """(k,) how long the way was when it was found [m]."""
    ages: Floats
    """(k,) time since then [s]; they change."""

    def chosen(self, which: Booleans | Integers) -> "Exits":
        """Some of them."""
        return picked(self, which)

    def ways(self, places: Floats) -> Floats:
        """(3, k) unit vectors, of positions (3, N) [m]; nan where a triangle is squashed flat."""
        way = np.einsum("xsk,sk->xk", frames_of(places, self.corners), self.slants)
        with np.errstate(invalid="ignore"):
            return np.asarray(way / magnitudes(way))

    def heights(self, places: Floats) -> Floats:
        """(k,) how far vertices are beyond their places along their ways; below 0 inside [m]."""
        place = np.einsum("ck,xck->xk", self.weights, places[:, self.corners])
        apart = places[:, self.vertices] - place
        return np.asarray((self.ways(places) * apart).sum(axis=0))


NOWHERE = Exits(
    np.empty(0, np.int64),
    np.empty((3, 0), np.int64),
    np.empty((3, 0)),
    np.empty((3, 0)),
    np.empty(0),
    np.empty(0),
)
"""No exits."""


def ways_out(solids: Solids, buried: Integers, places: Floats) -> Exits:
    """The ways of buried vertices: for each the nearest, or one for all of a patch.

    What keeps its shape takes one way, and so does what the nearest ways would tear apart.
    """
    patches, found = _patches(solids, buried), [NOWHERE]
    owners = solids.surfaces.owners[buried]
    for patch in np.unique(patches):
        vertices = buried[patches == patch]
        own = owners[patches == patch]
        tables = [(owner, vertices[own == owner]) for owner in np.unique(own)]
        ways = [_ways(solids, owner, its, places) for owner, its in tables]
        # What is inside of each other goes opposite ways.
        lengths = np.concatenate([its[0][:: 1 - 2 * (k > 0)] for k, its in enumerate(ways)], axis=1)
        together = patch < 0 or _take_one_way(solids.surfaces, vertices, places, lengths)
        common = int((lengths.max(axis=1) * (1.0 - UPWARDS * WAYS[2])).argmin())
        for number, ((_, its), (own_lengths, corners)) in enumerate(zip(tables, ways, strict=True)):
            chosen = own_lengths.argmin(axis=0)
            if together:
                chosen[:] = len(WAYS.T) - 1 - common if number else common
            found.append(_exits(its, own_lengths, corners, chosen, places, along=together))
    return joined(*found, axis=-1)


def _patches(solids: Solids, buried: Integers) -> Integers:
    """(k,) labels of buried vertices that may go out together.

    They are those that hang together, or, below 0, those of a pair of which one keeps its shape.
    """
    surfaces = solids.surfaces
    count = len(surfaces.owners)
    inside_of, own = surfaces.leaving[buried].argmax(axis=1), surfaces.owners[buried]
    is_buried = np.zeros(count, dtype=bool)
    is_buried[buried] = True
    edges = surfaces.edges[:, is_buried[surfaces.edges].all(axis=0)]
    labels = find_components(count, edges.T)[buried]
    low, high = np.minimum(own, inside_of), np.maximum(own, inside_of)
    pairs = -1 - (low * len(solids.rigid) + high)
    return np.where(solids.rigid[own] | solids.rigid[inside_of], pairs, labels)


def _ways(
    solids: Solids, owner: int, vertices: Integers, places: Floats
) -> tuple[Floats, Integers]:
    """(26, k) how far it is out of all that an owner meets, and the corners (3, 26, k) there."""
    soup = np.concatenate([solids.triangles[other] for other in solids.met(owner)], axis=1)
    lengths, triangles = find_exits(places[:, vertices], places, soup)
    return lengths, soup[:, triangles]


def _take_one_way(surfaces: Surfaces, vertices: Integers, places: Floats, lengths: Floats) -> bool:
    """Whether one way is nearly as short as the nearest, or these lead neighbours far apart."""
    if lengths.max(axis=1).min() <= DETOUR * lengths.min(axis=0).max():
        return True
    ends = places.copy()
    ends[:, vertices] += WAYS[:, lengths.argmin(axis=0)] * lengths.min(axis=0)
    among = np.zeros(places.shape[1], dtype=bool)
    among[vertices] = True
    edges = surfaces.edges[:, among[surfaces.edges].all(axis=0)]
    before, after = (x[:, edges[1]] - x[:, edges[0]] for x in (places, ends))
    return bool(((after * after).sum(axis=0) > TORN**2 * (before * before).sum(axis=0)).any())


def _exits(
    vertices: Integers,
    lengths: Floats,
    corners: Integers,
    chosen: Integers,
    places: Floats,
    *,
    along: bool,
) -> Exits:
    """The exits of vertices by chosen ways (k,): along these, or along normals of the triangles.

    Those without any way out have none.
    """
    column = np.arange(len(vertices))
    depths = lengths[chosen, column]
    free = np.flatnonzero(np.isfinite(depths))
    vertices, depths, ways = vertices[free], depths[free], WAYS[:, chosen[free]]
    corners = corners[:, chosen[free], free]
    frames = frames_of(places, corners)
    slants = _in_frames(frames, ways)
    # The place where the way comes out, from the first corner along two sides.
    offsets = places[:, vertices] + ways * depths - places[:, corners[0]]
    b, c, _ = _in_frames(frames, offsets)
    if not along:
        slants[:2] = 0.0
        depths = depths * np.abs((frames[:, 2] * ways).sum(axis=0))
    weights = np.stack([1.0 - b - c, b, c])
    return Exits(vertices, corners, weights, slants, depths, np.zeros(len(free)))


def _in_frames(frames: Floats, vectors: Floats) -> Floats:
    """(3, k) how much vectors (3, k) have of each vector of frames (3, 3, k) (G. Cramer, 1750)."""
    across, volumes = cofactors(frames.transpose(2, 1, 0))
    parts = np.stack([dot(each, vectors) for each in across.transpose(1, 2, 0)])
    return np.asarray(parts / np.where(volumes, volumes, 1.0))
