"""Points of flesh in its lattice: those on the skin, and those at the surface of bone."""

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Booleans, Floats, Integers, ranges, sum_rows, weighted_sums
from ..geometry.faces import normalized
from ..geometry.rest_shape import RestShape
from ..solid.elements import corner_weights
from ..solid.lattice import Embedding, Lattice
from ..solid.solid_body import find_lattice_components
from ..solid.surface_points import SurfacePoints
from .fragments import SAMPLES, Fragments
from .region import MIN_THICKNESS, FleshRegion

CHUNK = 1 << 21
"""Size: pairs of samples and planes that are compared at a time."""

MOST_PLANES = 16
"""Size: triangles around a vertex whose planes are compared; of more, as at a pole, evenly chosen
ones."""
REACH = 3
"""Links to the cell that a point is embedded in, from a fragment with hardly any flesh."""


@dataclass(frozen=True, eq=False)
class FragmentedLattice:
    """A lattice whose cells are fragments."""

    lattice: Lattice
    fragments: Fragments
    numbers: Integers
    """(f,) the cell of each fragment; −1 = none, as it has hardly any flesh."""

    def embed(self, positions: Floats, samples: Integers) -> Embedding:
        """Interpolation of positions (p, 3) [m] with samples (p, 3), each from its own fragment."""
        grid, lattice = self.lattice.grid, self.lattice
        places = grid.to_cells(positions)
        chosen = self.cells_near(self.fragments.at(samples), places)
        lows = np.rint(lattice.nodes[:, lattice.linear.nodes[chosen, 0]].T / grid.sizes)
        return Embedding(lattice.linear.nodes[chosen], corner_weights(places - lows))

    def node_samples(self) -> Integers:
        """(m, 3) the sample nearest to each node, of the fragments that it is a corner of."""
        fragments, lattice = self.fragments, self.lattice
        inside = np.argwhere(fragments.samples >= 0)
        cells = self.numbers[fragments.samples[tuple(inside.T)]]
        inside, cells = inside[cells >= 0], cells[cells >= 0]
        corners = lattice.linear.nodes[cells]
        places = (lattice.nodes / lattice.grid.sizes[:, None]).T
        away = places[corners] - ((inside + 0.5) / SAMPLES)[:, None]
        order = np.lexsort(((away * away).sum(axis=2).ravel(), corners.ravel()))
        _, first = np.unique(corners.ravel()[order], return_index=True)
        return np.asarray(inside[order[first] // corners.shape[1]])

    def cells_near(self, own: Integers, places: Floats) -> Integers:
        """(p,) cells of fragments (p,), or of the nearest linked with them that have one.

        Without any, the cell whose middle is nearest to the place (p, 3) [cells].
        """
        near, chosen = self.fragments.neighbours, np.where(own < 0, -1, self.numbers[own])
        cells = self.fragments.cells
        for lost in np.flatnonzero((chosen < 0) & (own >= 0)).tolist():
            ring = own[[lost]]
            for _ in range(REACH):
                starts = near.starts[ring]
                ring = np.unique(near.others[ranges(starts, near.starts[ring + 1] - starts)])
                kept = ring[self.numbers[ring] >= 0]
                if len(kept):
                    away = np.abs(cells[kept] + 0.5 - places[lost]).max(axis=1)
                    chosen[lost] = self.numbers[kept[away.argmin()]]
                    break
        used = np.flatnonzero(self.numbers >= 0)
        for lost in np.flatnonzero(chosen < 0).tolist():
            away = np.abs(cells[used] + 0.5 - places[lost]).sum(axis=1)
            chosen[lost] = self.numbers[used[away.argmin()]]
        return chosen


def samples_behind(fragments: Fragments, surface: SurfacePoints, rest: RestShape) -> Integers:
    """(p, 3) the sample of the body behind each point of its surface; −1 = none is near."""
    positions = rest.mesh.positions
    a, b, c = positions[np.concatenate([rest.triangles, surface.corners], axis=1)]
    normals = weighted_sums(normalized(np.cross(b - a, c - a)), fragments.grid.axes)
    count, faces = len(positions), rest.triangles.shape[1]
    counts = np.bincount(rest.triangles.ravel(), minlength=count)
    around = np.argsort(rest.triangles, axis=None, kind="stable") % faces
    planes = np.zeros((len(surface.areas), min(int(counts.max()), MOST_PLANES), 3))
    vertices, ranks = np.repeat(np.arange(count), counts), ranges(np.zeros_like(counts), counts)
    slots = (
        np.where(counts > MOST_PLANES, MOST_PLANES, counts)[vertices] * ranks // counts[vertices]
    )
    planes[vertices, slots] = normals[around]
    planes[count:, 0] = normals[faces:]
    places = fragments.grid.to_cells(surface.interpolate(positions))
    return find_samples(fragments, places, planes)


def find_samples(fragments: Fragments, places: Floats, planes: Floats) -> Integers:
    """(p, 3) the nearest sample of the body to each place (p, 3) [cells]; −1 = none is near.

    It is in the same cell, or else within the length of one; and those behind all of the planes
    through the place, with normals (p, w, 3), come first, then those behind their mean.
    """
    found = np.full(places.shape, -1)
    cells = np.clip(np.floor(places), 0, fragments.grid.counts - 1).astype(np.int64)
    around = np.array(list(np.ndindex(*(3 * SAMPLES,) * 3))) - SAMPLES
    within = around[((around >= 0) & (around < SAMPLES)).all(axis=1)]
    padded = np.pad(fragments.samples, SAMPLES, constant_values=-1)
    mean, none = planes.sum(axis=1, keepdims=True), np.zeros((len(places), 1, 3))
    tries = (within, planes), (around, planes), (around, mean), (around, none)
    for offsets, ahead in tries:
        lost = np.flatnonzero(found[:, 0] < 0)
        step = max(CHUNK // (len(offsets) * ahead.shape[1]), 1)
        for first in range(0, len(lost), step):
            own = lost[first : first + step]
            at = SAMPLES * cells[own][:, None] + offsets
            away = (at + 0.5) / SAMPLES - places[own][:, None]
            behind = (np.einsum("pka,pwa->pkw", away, ahead[own]) <= 0.0).all(axis=2)
            behind &= padded[tuple((at + SAMPLES).transpose(2, 0, 1))] >= 0
            squares = np.where(behind, (away * away).sum(axis=2), np.inf)
            nearest = squares.argmin(axis=1)
            known = np.flatnonzero(np.isfinite(squares[np.arange(len(own)), nearest]))
            found[own[known]] = at[known, nearest[known]]
    return found


def hold_bone(
    flesh: FragmentedLattice, region: FleshRegion, size: float
) -> tuple[Embedding, Floats, int]:
    """Interpolation of the b points that hold the flesh, and their areas (b,) [m²].

    Parts without bone beneath them are held in their middle; the last result is their number.
    """
    lattice = flesh.lattice
    anchors, held_areas = _merged(region, flesh.fragments)
    found = flesh.embed(anchors, _within(flesh.fragments, anchors))
    components = find_lattice_components(lattice)
    loose = np.setdiff1d(components, components[found.nodes[:, 0]])
    middles = [_middle(lattice, components == label, size) for label in loose]
    nodes = np.concatenate([np.empty(0, np.int64), *middles])
    alone = np.zeros((len(nodes), found.weights.shape[1]))
    alone[:, 0] = 1.0
    held = np.repeat(nodes[:, None], alone.shape[1], axis=1)
    areas = np.concatenate([held_areas, np.full(len(nodes), size * size)])
    weights = np.concatenate([found.weights, alone])
    return Embedding(np.concatenate([found.nodes, held]), weights), areas, len(loose)


def _within(fragments: Fragments, positions: Floats) -> Integers:
    """(p, 3) the samples nearest to positions (p, 3) within the body [m]; −1 = none is near."""
    places = fragments.grid.to_cells(positions)
    return find_samples(fragments, places, np.zeros((len(places), 1, 3)))


def _merged(region: FleshRegion, fragments: Fragments) -> tuple[Floats, Floats]:
    """Anchors (k, 3) and areas (k,) of a region, of which each fragment has but one.

    More, which are not in one plane, would hold all nodes of a cell: a hemisphere four cells high
    would swing 7 % too fast.
    """
    own = fragments.at(_within(fragments, region.anchors))
    keys, labels = np.unique(own, return_inverse=True)
    areas = sum_rows(labels.reshape(-1), region.areas[None], len(keys))[0]
    moments = sum_rows(labels.reshape(-1), region.areas * region.anchors.T, len(keys))
    return np.ascontiguousarray((moments / areas).T), areas


def _middle(lattice: Lattice, members: Booleans, size: float) -> Integers:
    """The node nearest to the mean of some nodes, and those of the cells around it."""
    places, numbers = lattice.nodes[:, members], np.flatnonzero(members)
    away = places - places.mean(axis=1, keepdims=True)
    nearest = places[:, [(away * away).sum(axis=0).argmin()]]
    return np.asarray(numbers[np.abs(places - nearest).max(axis=0) < 1.5 * size])


def embed_points(
    flesh: FragmentedLattice,
    surface: SurfacePoints,
    positions: Floats,
    samples: Integers,
    cells: Floats,
    bone: Embedding,
) -> Embedding:
    """Interpolation of displacements of all points, which have samples (p, 3) behind them.

    The flesh is (n,) cells thick at vertices.
    Flesh thinner than a cell, whose bone is in that of the skin, moves less, down to bone.
    """
    points = surface.interpolate(positions)
    thick = surface.interpolate(cells[:, None])[:, 0]
    moving = np.clip((thick - MIN_THICKNESS) / (1.0 - MIN_THICKNESS), 0.0, 1.0)
    fleshy = np.flatnonzero(moving > 0.0)
    found = flesh.embed(points[fleshy], samples[fleshy])
    nodes = np.zeros((len(points), found.nodes.shape[1]), dtype=np.int64)
    weights = np.zeros(nodes.shape)
    nodes[fleshy] = found.nodes
    weights[fleshy] = found.weights * moving[fleshy, None]
    return Embedding(np.concatenate([nodes, bone.nodes]), np.concatenate([weights, bone.weights]))


def with_bone(surface: SurfacePoints, count: int) -> SurfacePoints:
    """The points with more at the surface of bone, which have no area on the skin."""
    none = np.zeros((3, count))
    return replace(
        surface,
        areas=np.append(surface.areas, none[0]),
        corners=np.concatenate([surface.corners, none.astype(np.int64)], axis=1),
        shares=np.concatenate([surface.shares, none], axis=1),
    )
