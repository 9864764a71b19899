"""The lattice of cells that a solid is made of, and the points of its surface within."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..arrays import Booleans, Floats, Integers, sum_by
from .elements import CORNERS, FIRST_LAME, WHOLE, Elements, build_elements
from .grid import Grid, grid_around
from .voxels import fill

LEAST_FILLED = 0.02
"""Cells filled less than this are left out, unless a point is far from any other."""
FARTHEST = 0.5
"""How far outside the cell that carries it a point may be, in cells."""


@dataclass(frozen=True, eq=False)
class Lattice:
    """Cells of elastic material that share their corners, the nodes."""

    grid: Grid
    nodes: Floats
    """(3, m) at rest, along the grid's axes [m]."""
    cells: Integers
    """(h, 8) nodes, in the order of `elements.CORNERS`."""
    kinds: Integers
    """(h,) numbers of their elements."""
    elements: Elements
    volumes: Floats
    """(m,) of what each node stands for [m³]."""


@dataclass(frozen=True, eq=False)
class Embedding:
    """Points that are carried along by the corners of a cell: x = Σ w x of the corners."""

    nodes: Integers
    """(p, 8)"""
    weights: Floats
    """(p, 8), whose sum is 1."""


def build_lattice(positions: Floats, triangles: Integers, cells: int) -> Lattice:
    """The cells that a closed surface fills, about `cells` along it.

    Parameters
    ----------
    positions : (n, 3) [m].
    triangles : (3, t)
    """
    grid = grid_around(positions, triangles, cells)
    places = grid.places(positions)
    fillings = fill(places, triangles, grid.counts)
    kept = fillings.sum(axis=(3, 4, 5)) > LEAST_FILLED
    kept |= _needed(grid, kept, places)
    corners = np.argwhere(kept)[:, None] + CORNERS.astype(np.int64)
    _, y, z = grid.counts + 1
    keys = (corners[..., 0] * y + corners[..., 1]) * z + corners[..., 2]
    found, numbers = np.unique(keys, return_inverse=True)
    numbers = numbers.reshape(keys.shape)
    kinds, elements = _elements(fillings[kept], grid.sizes)
    nodes = np.array([found // (y * z), found // z % y, found % z]) * grid.sizes[:, None]
    return Lattice(
        grid=grid,
        nodes=nodes,
        cells=numbers,
        kinds=kinds,
        elements=elements,
        volumes=sum_by(numbers.ravel(), elements.moments[kinds].ravel(), len(found)),
    )


def embed(lattice: Lattice, positions: Floats) -> Embedding:
    """Points (p, 3), each in the cell that it is in or nearest to."""
    grid = lattice.grid
    lows = np.rint(lattice.nodes[:, lattice.cells[:, 0]].T / grid.sizes).astype(np.int64)
    numbers = np.full(grid.counts, -1)
    numbers[tuple(lows.T)] = np.arange(len(lows))
    padded = np.pad(numbers, 1, constant_values=-1)
    places = grid.places(positions)
    best, least = np.full(len(places), -1), np.full(len(places), np.inf)
    for at, outside in _around(grid, places):
        number = padded[at]
        better = (number >= 0) & (outside < least - 1e-9)
        best[better], least[better] = number[better], outside[better]
    for lost in np.flatnonzero(best < 0):
        best[lost] = np.abs(lows + 0.5 - places[lost]).sum(axis=1).argmin()
    local = (places - lows[best])[:, None]
    weights = np.where(CORNERS == 1.0, local, 1.0 - local).prod(axis=2)
    return Embedding(lattice.cells[best], weights)


def _around(grid: Grid, places: Floats) -> Iterator[tuple[tuple[Integers, ...], Floats]]:
    """Cells at and around places (n, 3): indices into arrays padded by one, and how far outside.

    The cell at each place itself comes first, then those that share a face, an edge, a corner.
    """
    inside = np.clip(np.floor(places), 0, grid.counts - 1).astype(np.int64)
    steps = np.array(list(np.ndindex(3, 3, 3)))
    for step in steps[np.argsort((steps != 1).sum(axis=1), kind="stable")]:
        outside = np.abs(places - (inside + step - 0.5)).max(axis=1) - 0.5
        yield tuple((inside + step).T), outside


def _needed(grid: Grid, kept: Booleans, places: Floats) -> Booleans:
    """Cells of points that would be farther than FARTHEST from all that are kept."""
    padded = np.pad(kept, 1)
    near = np.zeros(len(places), dtype=bool)
    for at, outside in _around(grid, places):
        near |= padded[at] & (outside < FARTHEST)
    needed = np.zeros_like(kept)
    needed[tuple(np.clip(np.floor(places[~near]), 0, grid.counts - 1).astype(np.int64).T)] = True
    return needed


def resistances(lattice: Lattice) -> Floats:
    """(m,) of nodes to moving alone, for a modulus of 1 Pa: the mean of three directions [m]."""
    elements = lattice.elements
    own = np.einsum("kii->ki", elements.stiffnesses).reshape(-1, 8, 3).sum(axis=2)
    squares = (elements.gradients * elements.gradients).sum(axis=2)
    own = (own + FIRST_LAME * elements.volumes[:, None] * squares) / 3.0
    return sum_by(lattice.cells.ravel(), own[lattice.kinds].ravel(), lattice.nodes.shape[1])


def _elements(fillings: Floats, sizes: Floats) -> tuple[Integers, Elements]:
    """(h,) kinds and their elements: whole cells are all of one kind, others of their own."""
    whole = fillings.sum(axis=(1, 2, 3)) > 1.0 - 1e-9
    kinds = np.where(whole, 0, np.cumsum(~whole))
    different = np.concatenate([WHOLE, fillings[~whole]])
    return kinds, build_elements(different, sizes)
