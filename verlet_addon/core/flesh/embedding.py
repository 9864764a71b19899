"""Points of flesh in its lattice: those on the skin, and those at the surface of bone."""

from dataclasses import replace

import numpy as np

from ..arrays import Booleans, Floats, Integers, sum_rows
from ..solid.grid import Grid
from ..solid.lattice import Embedding, Lattice, embed
from ..solid.solid_body import find_lattice_components
from ..solid.surface_points import SurfacePoints
from .region import MIN_THICKNESS, FleshRegion


def hold_bone(lattice: Lattice, region: FleshRegion, size: float) -> tuple[Embedding, Floats, int]:
    """Interpolation of the b points that hold the flesh, and their areas (b,) [m²].

    Parts without bone beneath them are held in their middle; the last result is their number.
    """
    anchors, held_areas = _merged(region)
    found = embed(lattice, anchors)
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


def _merged(region: FleshRegion) -> tuple[Floats, Floats]:
    """Anchors (k, 3) and areas (k,) of a region, of which each cell has but one.

    More, which are not in one plane, would hold all nodes of a cell: a hemisphere four cells high
    would swing 7 % too fast.
    """
    cells = region.grid.to_cells(region.anchors)
    keys, labels = np.unique(_cell_keys(region.grid, cells), return_inverse=True)
    areas = sum_rows(labels.reshape(-1), region.areas[None], len(keys))[0]
    moments = sum_rows(labels.reshape(-1), region.areas * region.anchors.T, len(keys))
    return np.ascontiguousarray((moments / areas).T), areas


def _cell_keys(grid: Grid, cells: Floats) -> Integers:
    """(n,) number of the cell of each place (n, 3) [cells]."""
    x, y, z = np.clip(np.floor(cells), 0, grid.counts - 1).astype(np.int64).T
    return np.asarray((x * grid.counts[1] + y) * grid.counts[2] + z)


def _middle(lattice: Lattice, members: Booleans, size: float) -> Integers:
    """The node nearest to the mean of some nodes, and those of the cells around it."""
    places, numbers = lattice.nodes[:, members], np.flatnonzero(members)
    away = places - places.mean(axis=1, keepdims=True)
    nearest = places[:, [(away * away).sum(axis=0).argmin()]]
    return np.asarray(numbers[np.abs(places - nearest).max(axis=0) < 1.5 * size])


def embed_points(
    lattice: Lattice, surface: SurfacePoints, positions: Floats, cells: Floats, bone: Embedding
) -> Embedding:
    """Interpolation of displacements of all points, of skin whose flesh is (n,) cells thick.

    Flesh thinner than a cell, whose bone is in that of the skin, moves less, down to bone.
    """
    points = surface.interpolate(positions)
    thick = surface.interpolate(cells[:, None])[:, 0]
    moving = np.clip((thick - MIN_THICKNESS) / (1.0 - MIN_THICKNESS), 0.0, 1.0)
    fleshy = np.flatnonzero(moving > 0.0)
    found = embed(lattice, points[fleshy])
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
