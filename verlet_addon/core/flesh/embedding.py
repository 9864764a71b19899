"""Points of flesh in its lattice: those on the skin, and those at the surface of bone."""

from dataclasses import replace

import numpy as np

from ..arrays import Booleans, Floats, Integers, sum_rows
from ..solid.grid import Grid
from ..solid.lattice import Embedding, Lattice, embed
from ..solid.solid_body import find_lattice_components
from ..solid.surface_points import SurfacePoints
from .region import MIN_THICKNESS, FleshRegion


def hold_bone(lattice: Lattice, region: FleshRegion, size: float) -> tuple[Embedding, Floats]:
    """Interpolation of the b points that hold the flesh, and their areas (b,) [m²].

    A part without bone beneath it is held in its middle.
    """
    anchors, held_areas = _merged(lattice, region)
    found = embed(lattice, anchors)
    components = find_lattice_components(lattice)
    loose = np.setdiff1d(components, components[found.nodes[:, 0]])
    middles = np.array([_middle(lattice, components == label) for label in loose], dtype=np.int64)
    width = found.nodes.shape[1]
    nodes = np.repeat(middles[:, None], width, axis=1)
    weights = np.zeros((len(middles), width))
    weights[:, 0] = 1.0
    areas = np.concatenate([held_areas, np.full(len(middles), size * size)])
    return Embedding(
        np.concatenate([found.nodes, nodes]), np.concatenate([found.weights, weights])
    ), areas


def _merged(lattice: Lattice, region: FleshRegion) -> tuple[Floats, Floats]:
    """Anchors (k, 3) and areas (k,) of a region, of which each linear cell has but one.

    More, which are not in one plane, would hold all of its nodes: a hemisphere four cells high
    would swing 7 % too fast, in place of 4 %.
    """
    grid = lattice.grid
    keys, labels = np.unique(_cell_keys(grid, grid.to_cells(region.anchors)), return_inverse=True)
    labels = labels.reshape(-1)
    lows = lattice.nodes[:, lattice.quadratic.nodes[:, 0]].T / grid.sizes
    several = np.isin(keys, _cell_keys(grid, lows + 0.5))[labels]
    labels = np.where(several, len(keys) + np.arange(len(labels)), labels)
    _, labels = np.unique(labels, return_inverse=True)
    count = int(labels.max(initial=-1)) + 1
    areas = sum_rows(labels.reshape(-1), region.areas[None], count)[0]
    moments = sum_rows(labels.reshape(-1), region.areas * region.anchors.T, count)
    return np.ascontiguousarray((moments / areas).T), areas


def _cell_keys(grid: Grid, cells: Floats) -> Integers:
    """(n,) number of the cell of each place (n, 3) [cells]."""
    x, y, z = np.clip(np.floor(cells), 0, grid.counts - 1).astype(np.int64).T
    return np.asarray((x * grid.counts[1] + y) * grid.counts[2] + z)


def _middle(lattice: Lattice, members: Booleans) -> int:
    """The node nearest to the mean of some nodes."""
    away = lattice.nodes[:, members] - lattice.nodes[:, members].mean(axis=1, keepdims=True)
    return int(np.flatnonzero(members)[(away * away).sum(axis=0).argmin()])


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
    width = max(nodes.shape[1], bone.nodes.shape[1])
    pads = [((0, 0), (0, width - each.nodes.shape[1])) for each in (found, bone)]
    return Embedding(
        np.concatenate([np.pad(nodes, pads[0]), np.pad(bone.nodes, pads[1])]),
        np.concatenate([np.pad(weights, pads[0]), np.pad(bone.weights, pads[1])]),
    )


def with_bone(surface: SurfacePoints, count: int) -> SurfacePoints:
    """The points with more at the surface of bone, which have no area on the skin."""
    none = np.zeros((3, count))
    return replace(
        surface,
        areas=np.append(surface.areas, none[0]),
        corners=np.concatenate([surface.corners, none.astype(np.int64)], axis=1),
        shares=np.concatenate([surface.shares, none], axis=1),
    )
