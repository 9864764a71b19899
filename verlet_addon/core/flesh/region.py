"""The region of flesh in a body: from its skin inwards to a surface of bone.

Its thickness beneath each place of the skin is given. The level of a place within the body is its
distance from the nearest skin less the thickness there: flesh is where it is below 0. The surface
of bone, where it is 0, is found within cells, so that neither the mass of flesh nor what holds it
depends on how the cells lie.
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers
from ..solid.grid import MAX_CELLS, Grid, fill, moment_weights, principal_axes
from ..solid.surface_points import build_surface_points

PARTS = 2
"""Parts of a cell along each axis, whose shares of flesh are told apart."""
RAYS = np.array([4, 6])
"""Vertical rays through each part along x and y, by which the inside of the skin is found."""
FINE = 4
"""Intervals along each axis of a part, between which the surface of bone is found."""
CHUNK = 512
"""Size: parts in which it is found at a time."""
CORNERS = np.array(list(np.ndindex(2, 2, 2)))
"""(8, 3) corners of a part."""
MIN_THICKNESS = 0.25
"""Thinnest flesh, in cells; thinner layers would hardly move, and count as bone."""


@dataclass(frozen=True, eq=False)
class FleshRegion:
    """The flesh in the cells of a grid, and the surface of bone that it is held by."""

    grid: Grid
    shares: Floats
    """(PARTS x, PARTS y, PARTS z) share of each part of a cell that is flesh."""
    anchors: Floats
    """(b, 3) places on the surface of bone [m]."""
    areas: Floats
    """(b,) area of that surface at each place [m²]."""


def find_region(
    positions: Floats, triangles: Integers, thicknesses: Floats, size: float
) -> FleshRegion:
    """The flesh beneath a closed surface, in cells of one size.

    Parameters
    ----------
    positions, triangles : (n, 3) vertices [m] and (3, t) triangles of the skin.
    thicknesses : (n,) thickness of the flesh at the vertices, above 0 somewhere [m].
    size : edge length of the cells [m].
    """
    grid = _grid(positions, triangles, thicknesses, size)
    surface = build_surface_points(positions, triangles, size / PARTS)
    shares = fill(grid.to_cells(positions) * PARTS, triangles, grid.counts * PARTS, 1, RAYS)
    inside = shares.reshape(grid.counts * PARTS)
    points = grid.to_cells(surface.interpolate(positions)) * PARTS
    depths = surface.interpolate(thicknesses[:, None])[:, 0] * (PARTS / size)
    nearest = find_nearest(points, depths, grid.counts * PARTS + 1)
    places, areas, flesh = _bone_surface(nearest, inside)
    anchors = grid.to_positions(places / PARTS)
    return FleshRegion(grid, flesh, anchors, areas * (size / PARTS) ** 2)


def fragment_weights(shares: Floats) -> Floats:
    """(f, 3, 3, 3) integration weights as of `grid.fill`, by shares (f, PARTS, PARTS, PARTS)."""
    weights = moment_weights(shares.reshape(-1, PARTS, PARTS), PARTS, 3)
    return weights.reshape(-1, 3, 3, 3)


def _grid(positions: Floats, triangles: Integers, thicknesses: Floats, size: float) -> Grid:
    """Cells of one size around the vertices with flesh, and as far inwards as it reaches."""
    axes = principal_axes(positions, triangles)
    along = np.einsum("na,ab->nb", positions, axes)
    fleshy = along[thicknesses > 0.0]
    reach = float(thicknesses.max())
    low = np.maximum(fleshy.min(axis=0) - reach, along.min(axis=0)) - size / 2
    high = np.minimum(fleshy.max(axis=0) + reach, along.max(axis=0)) + size / 2
    # As many wherever the body is, though lengths round otherwise there.
    counts = np.clip(np.ceil((high - low) / size + 1e-6), 1, MAX_CELLS).astype(np.int64)
    middle = (low + high) / 2
    return Grid(axes, middle - counts * size / 2, np.full(3, size), counts)


@dataclass(frozen=True, eq=False)
class Nearest:
    """The nearest of k points at the nodes of a grid, in distances of nodes."""

    points: Floats
    """(k, 3)"""
    depths: Floats
    """(k,) thickness of flesh beneath each."""
    numbers: Integers
    """(x, y, z) number of the point, −1 = none is near."""
    levels: Floats
    """(x, y, z) distance from it less its depth, 2 where none is near."""


def find_nearest(points: Floats, depths: Floats, counts: Integers) -> Nearest:
    """The nearest of some points at all nodes of a grid, where flesh may be.

    Nearest points spread from node to node (P.-E. Danielsson, *Euclidean Distance Mapping*, 1980).

    Parameters
    ----------
    points, depths : (k, 3) and (k,), in distances of nodes.
    counts : (3,) numbers of nodes.
    """
    far = 2.0
    padded = counts + 2
    strides = np.array([padded[1] * padded[2], padded[2], 1])
    within = ((points > -0.5) & (points < counts - 0.5)).all(axis=1)
    points, depths = points[within], depths[within]
    farthest = (float(depths.max(initial=0.0)) + far) ** 2
    nearest = np.full(int(np.prod(padded)), -1, dtype=np.int64)
    squares = np.full(len(nearest), np.inf)
    border = np.ones(tuple(padded), dtype=bool)
    border[1:-1, 1:-1, 1:-1] = False
    squares[border.ravel()] = -1.0  # no point is nearer to a node beside the grid

    def offer(nodes: Integers, candidates: Integers) -> Integers:
        """Nodes for which one of their candidates is nearer."""
        places = np.stack(np.unravel_index(nodes, tuple(padded)), axis=1) - 1.0
        away = points[candidates] - places
        found = (away * away).sum(axis=1)
        better = np.flatnonzero((found < squares[nodes]) & (found < farthest))
        order = better[np.lexsort((found[better], nodes[better]))]
        first = order[np.append(True, np.diff(nodes[order]) > 0)[: len(order)]]
        squares[nodes[first]], nearest[nodes[first]] = found[first], candidates[first]
        return np.asarray(nodes[first])

    homes = ((np.rint(points) + 1).astype(np.int64) * strides).sum(axis=1)
    around = ((np.array(list(np.ndindex(3, 3, 3))) - 1) * strides).sum(axis=1)
    changed = offer((homes[:, None] + around).ravel(), np.repeat(np.arange(len(homes)), 27))
    while len(changed):
        offered = (changed[:, None] + around).ravel()
        changed = offer(offered, np.repeat(nearest[changed], 27))
    levels = np.full(len(nearest), far)
    known = nearest >= 0
    levels[known] = np.minimum(np.sqrt(squares[known]) - depths[nearest[known]], far)
    grid, own = tuple(padded), (slice(1, -1),) * 3
    return Nearest(points, depths, nearest.reshape(grid)[own], levels.reshape(grid)[own])


def _bone_surface(nearest: Nearest, inside: Floats) -> tuple[Floats, Floats, Floats]:
    """The surface at which levels are 0, in the cells of a grid, and the shares of flesh.

    It is where levels change their sign between places in a cell, each with the nearest of the
    points that are nearest to the cell's corners: levels jump where thicknesses do.

    Returns
    -------
    tuple
        (k, 3) places, in cells, of the surface in the cells that it cuts, (k,) its area in each,
        in faces of cells, and (x, y, z) the share of each cell in which levels are below 0, of its
        share `inside`.
    """
    counts = inside.shape
    corners = np.stack([_block(nearest.numbers, step, counts) for step in CORNERS], axis=3)
    levels = np.stack([_block(nearest.levels, step, counts) for step in CORNERS], axis=3)
    low, high = levels.min(axis=3), levels.max(axis=3)
    flesh = np.where(high < 0.0, inside, 0.0)
    cut = np.argwhere((low < 0.0) & (high >= 0.0) & (inside > 0.0))
    found = []
    for first in range(0, len(cut), CHUNK):
        cells = cut[first : first + CHUNK]
        at = tuple(cells.T)
        places, areas, shares = _cut(nearest, cells, corners[at])
        flesh[at] = inside[at] * shares
        found.append((cells + places, areas * inside[at]))
    if not found:
        return np.empty((0, 3)), np.empty(0), flesh
    places, areas = (np.concatenate(each) for each in zip(*found, strict=True))
    return places[areas > 0.0], areas[areas > 0.0], flesh


def _cut(nearest: Nearest, cells: Integers, candidates: Integers) -> tuple[Floats, Floats, Floats]:
    """The surface in each of k cells: its place (k, 3), its area (k,), and the share below it.

    Parameters
    ----------
    cells : (k, 3) lowest corners.
    candidates : (k, 8) points nearest to the corners, −1 = none.
    """
    steps = np.linspace(0.0, 1.0, FINE + 1)
    grid = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=3).reshape(-1, 3)
    away = nearest.points[candidates][:, None] - (cells[:, None] + grid)[:, :, None]
    squares = np.where(candidates[:, None] < 0, np.inf, (away * away).sum(axis=3))
    best = squares.argmin(axis=2)
    chosen = np.take_along_axis(candidates, best, axis=1)
    distances = np.sqrt(np.take_along_axis(squares, best[:, :, None], axis=2)[:, :, 0])
    levels = (distances - nearest.depths[chosen]).reshape(-1, *(FINE + 1,) * 3)
    rule = np.full(FINE + 1, 1.0 / FINE)
    rule[[0, -1]] /= 2
    shares = np.clip(0.5 - FINE * np.clip(levels, -1.0, 1.0), 0.0, 1.0)
    shares = np.einsum("kxyz,x,y,z->k", shares, rule, rule, rule)
    areas, moments = np.zeros((len(cells), 3)), np.zeros((len(cells), 3))
    for axis in range(3):
        rows = np.moveaxis(levels, axis + 1, 1)
        changes = (rows[:, 1:] < 0.0) != (rows[:, :-1] < 0.0)
        weights = changes * rule[:, None] * rule
        areas[:, axis] = weights.sum(axis=(1, 2, 3))
        others = [other for other in range(3) if other != axis]
        moments[:, axis] += np.einsum("kaxy,a->k", weights, (steps[1:] + steps[:-1]) / 2)
        moments[:, others[0]] += np.einsum("kaxy,x->k", weights, steps)
        moments[:, others[1]] += np.einsum("kaxy,y->k", weights, steps)
    total = areas.sum(axis=1)
    places = moments / np.where(total > 0.0, total, 1.0)[:, None]
    # A plane is crossed along each axis as often as its normal's component there is long.
    return places, np.sqrt((areas * areas).sum(axis=1)), shares


def _block(values: Floats | Integers, step: Integers, counts: tuple[int, ...]) -> Floats | Integers:
    """(x, y, z) values of nodes at one corner of each cell."""
    return values[tuple(slice(s, s + n) for s, n in zip(step, counts, strict=True))]
