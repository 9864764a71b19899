"""The lattice of finite elements of a solid, and interpolation of points in it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Booleans, Floats, Integers, sum_by
from .elements import (
    CELL_CORNERS,
    FIRST_LAME,
    FULL_CELL,
    SAMPLES,
    Elements,
    build_elements,
    build_quadratic_elements,
    corner_weights,
    find_edge_nodes,
    has_edge_nodes,
    quadratic_weights,
)
from .grid import Grid, fill, fill_some, find_thin_cells

MIN_FILLED_SHARE = 0.02
"""Smallest filled share of a cell; emptier ones are kept only if a point is far from others. Half
as much gives the same bakes; with twice, jellies that collide lie 5 mm elsewhere."""
MAX_OUTSIDE_DISTANCE = 0.1
"""Largest distance of a point outside the cell it is interpolated from, in cells. With half a cell,
neighbouring points of different cells separate, as in legs thinner than a cell."""


@dataclass(frozen=True, eq=False)
class Cells:
    """h cells with w nodes each."""

    nodes: Integers
    """(h, w) nodes in the order of `elements.CELL_CORNERS`, then `elements.EDGES`."""
    kinds: Integers
    """(h,) number of each cell's kind in `elements`."""
    elements: Elements


@dataclass(frozen=True, eq=False)
class Lattice:
    """Hexahedral cells that share m nodes."""

    grid: Grid
    nodes: Floats
    """(3, m) rest positions from the grid's origin, along its axes [m]."""
    linear: Cells
    """Cells with 8 nodes."""
    quadratic: Cells
    """Cells with 20 nodes, where a body is thin and oblique to the grid."""
    volumes: Floats
    """(m,) volume of each node, for its lumped mass [m³]."""

    @property
    def groups(self) -> tuple[Cells, Cells]:
        """Linear and quadratic cells."""
        return self.linear, self.quadratic

    @property
    def volume(self) -> float:
        """Filled volume [m³]."""
        return sum(float(cells.elements.volumes[cells.kinds].sum()) for cells in self.groups)


@dataclass(frozen=True, eq=False)
class Embedding:
    """Interpolation of p points from nodes: x = Σ weight × node."""

    nodes: Integers
    """(p, w) node numbers."""
    weights: Floats
    """(p, w) weights, with sum 1 for points, and 0 for offsets between two solids."""


def build_lattice(grid: Grid, positions: Floats, triangles: Integers, points: Floats) -> Lattice:
    """The cells of a grid that a closed surface fills, or that points on it need.

    Parameters
    ----------
    positions, triangles : vertices (n, 3) [m] and triangles (3, t) of the surface.
    points : (p, 3) surface points, at distances of about a cell [m].
    """
    cell_coordinates = grid.to_cells(positions)
    fillings = fill(cell_coordinates, triangles, grid.counts)
    kept = fillings.sum(axis=(3, 4, 5)) > MIN_FILLED_SHARE
    kept |= _needed(grid, kept, grid.to_cells(points))
    thin = find_thin_cells(fillings, kept)
    filled = fill_some(cell_coordinates, triangles, np.argwhere(thin), SAMPLES)
    places, numbers = share_corners(grid, np.argwhere(kept))
    return assemble_lattice(grid, places, numbers, fillings[kept], thin[kept], filled)


def share_corners(
    grid: Grid, cells: Integers, parts: Integers | int = 0
) -> tuple[Integers, Integers]:
    """(3, m) corners of the grid that are nodes of cells (h, 3), and (h, 8) the cells' nodes.

    Cells share a corner where they have the same number in `parts` (h, 8).
    """
    corners = cells[:, None] + CELL_CORNERS.astype(np.int64)
    _, y, z = grid.counts + 1
    keys = (corners[..., 0] * y + corners[..., 1]) * z + corners[..., 2]
    count = int(np.max(parts, initial=0)) + 1
    keys, numbers = np.unique(keys * count + parts, return_inverse=True)
    keys //= count
    return np.array([keys // (y * z), keys // z % y, keys % z]), numbers.reshape(-1, 8)


def assemble_lattice(
    grid: Grid,
    places: Integers,
    numbers: Integers,
    fillings: Floats,
    is_quadratic: Booleans,
    filled: Floats,
) -> Lattice:
    """The lattice of h cells of a grid.

    Parameters
    ----------
    places, numbers : (3, m) corners of the grid that are nodes, and (h, 8) the cells' nodes.
    fillings : (h, 3, 3, 3) integration weights, as of `grid.fill`.
    is_quadratic : (h,) bool, cells that are quadratic.
    filled : (c, SAMPLES, SAMPLES, SAMPLES) integration weights of these.
    """
    quadratic_nodes, ends = find_edge_nodes(numbers, is_quadratic, filled, places.shape[1])
    nodes = places * grid.sizes[:, None]
    nodes = np.concatenate([nodes, nodes[:, ends].mean(axis=1)], axis=1)
    elements = build_quadratic_elements(filled, has_edge_nodes(quadratic_nodes), grid.sizes)
    linear = Cells(numbers[~is_quadratic], *_elements(fillings[~is_quadratic], grid.sizes))
    groups = linear, Cells(quadratic_nodes, np.arange(len(quadratic_nodes)), elements)
    return Lattice(grid, nodes, *groups, volumes=_node_volumes(groups, nodes.shape[1]))


def _node_volumes(groups: Sequence[Cells], count: int) -> Floats:
    """(m,) sums of the cells' node volumes [m³]."""
    volumes = np.zeros(count)
    for cells in groups:
        shares = cells.elements.node_volumes[cells.kinds]
        volumes += sum_by(cells.nodes.ravel(), shares.ravel(), count)
    return volumes


def embed(lattice: Lattice, positions: Floats) -> Embedding:
    """Interpolation of positions (p, 3), each from the cell that contains it or is nearest [m]."""
    grid, count = lattice.grid, len(lattice.linear.nodes)
    first = np.concatenate([cells.nodes[:, 0] for cells in lattice.groups])
    lows = np.rint(lattice.nodes[:, first].T / grid.sizes).astype(np.int64)
    numbers = np.full(grid.counts, -1)
    numbers[tuple(lows.T)] = np.arange(len(lows))
    padded = np.pad(numbers, 1, constant_values=-1)
    cell_coordinates = grid.to_cells(positions)
    best = numbers[_cells_at(grid, cell_coordinates)]
    outer = np.flatnonzero(best < 0)
    least = np.full(len(outer), np.inf)
    for at, outside in _neighbouring_cells(grid, cell_coordinates[outer]):
        number = padded[at]
        better = (number >= 0) & (outside < least - 1e-9)
        best[outer[better]], least[better] = number[better], outside[better]
    for lost in np.flatnonzero(best < 0):
        best[lost] = np.abs(lows + 0.5 - cell_coordinates[lost]).sum(axis=1).argmin()
    local, bent = cell_coordinates - lows[best], best >= count
    weights = corner_weights(local)
    if not bent.any():
        return Embedding(lattice.linear.nodes[best], weights)
    nodes = np.repeat(first[best][:, None], lattice.quadratic.nodes.shape[1], axis=1)
    nodes[~bent, :8] = lattice.linear.nodes[best[~bent]]
    nodes[bent] = lattice.quadratic.nodes[best[bent] - count]
    weights = np.pad(weights, ((0, 0), (0, nodes.shape[1] - weights.shape[1])))
    weights[bent] = quadratic_weights(local[bent], has_edge_nodes(nodes[bent]))
    return Embedding(nodes, weights)


def _neighbouring_cells(
    grid: Grid, cell_coordinates: Floats
) -> Iterator[tuple[tuple[Integers, ...], Floats]]:
    """The 26 neighbour cells of places (n, 3), one by one, and distances (n,) outside [cells].

    Indices are for arrays padded by one. Neighbours at faces come first, then at edges and corners.
    """
    inside = np.stack(_cells_at(grid, cell_coordinates), axis=1)
    steps = np.array(list(np.ndindex(3, 3, 3)))
    for step in steps[np.argsort((steps != 1).sum(axis=1), kind="stable")[1:]]:
        outside = np.abs(cell_coordinates - (inside + step - 0.5)).max(axis=1) - 0.5
        yield tuple((inside + step).T), outside


def _cells_at(grid: Grid, cell_coordinates: Floats) -> tuple[Integers, ...]:
    """Indices of the cells that contain places (n, 3) [cells]."""
    return tuple(np.clip(np.floor(cell_coordinates), 0, grid.counts - 1).astype(np.int64).T)


def _needed(grid: Grid, kept: Booleans, cell_coordinates: Floats) -> Booleans:
    """(x, y, z) bool, cells of points farther than MAX_OUTSIDE_DISTANCE from all kept cells."""
    padded = np.pad(kept, 1)
    far = cell_coordinates[~kept[_cells_at(grid, cell_coordinates)]]
    near = np.zeros(len(far), dtype=bool)
    for at, outside in _neighbouring_cells(grid, far):
        near |= padded[at] & (outside < MAX_OUTSIDE_DISTANCE)
    needed = np.zeros_like(kept)
    needed[_cells_at(grid, far[~near])] = True
    return needed


def node_stiffnesses(lattice: Lattice) -> Floats:
    """(m,) diagonal of the stiffness matrix at a modulus of 1 Pa, mean of three directions [m]."""
    count = lattice.nodes.shape[1]
    stiffnesses = np.zeros(count)
    for cells in lattice.groups:
        elements, width = cells.elements, cells.nodes.shape[1]
        own = np.einsum("kii->ki", elements.stiffnesses).reshape(-1, width, 3).sum(axis=2)
        squares = (elements.gradients * elements.gradients).sum(axis=2)
        own = (own + FIRST_LAME * elements.volumes[:, None] * squares) / 3.0
        stiffnesses += sum_by(cells.nodes.ravel(), own[cells.kinds].ravel(), count)
    return stiffnesses


def _elements(fillings: Floats, sizes: Floats) -> tuple[Integers, Elements]:
    """(h,) kinds and their elements: full cells share kind 0, others have one each."""
    whole = fillings.sum(axis=(1, 2, 3)) > 1.0 - 1e-9
    kinds = np.where(whole, 0, np.cumsum(~whole))
    different = np.concatenate([FULL_CELL, fillings[~whole]])
    return kinds, build_elements(different, sizes)


STIFFNESS_STEPS = 100
"""Number of distinct shares of stiffness; cells with the same share are of one element kind."""


def with_painted_stiffness(lattice: Lattice, vertices: Embedding, weights: Floats) -> Lattice:
    """The lattice with element stiffness scaled by shares (n,) that are given at the vertices."""
    shares = node_shares(lattice, vertices, weights)
    linear, quadratic = (
        _with_shares(cells, shares[cells.nodes[:, :8]]) for cells in lattice.groups
    )
    return replace(lattice, linear=linear, quadratic=quadratic)


def _with_shares(cells: Cells, shares: Floats) -> Cells:
    """Cells with stiffness scaled by the mean of the shares (h, 8) at their corners."""
    steps = np.rint(np.clip(shares.mean(axis=1), 0.0, 1.0) * STIFFNESS_STEPS).astype(np.int64)
    keys, kinds = np.unique(cells.kinds * (STIFFNESS_STEPS + 1) + steps, return_inverse=True)
    previous_kinds, steps = np.divmod(keys, STIFFNESS_STEPS + 1)
    # Nodes of cells without any stiffness would move without bound.
    share, all_ = np.maximum(steps / STIFFNESS_STEPS, 1e-3), cells.elements
    elements = Elements(
        stiffnesses=all_.stiffnesses[previous_kinds] * share[:, None, None],
        gradients=all_.gradients[previous_kinds],
        volumes=all_.volumes[previous_kinds] * share,
        node_volumes=all_.node_volumes[previous_kinds],
    )
    return replace(cells, kinds=kinds.reshape(-1), elements=elements)


def node_shares(lattice: Lattice, vertices: Embedding, weights: Floats) -> Floats:
    """(m,) shares at nodes, from weights (n,) of vertices, averaged inwards node by node."""
    count = lattice.nodes.shape[1]
    corners, parts = vertices.nodes.ravel(), np.abs(vertices.weights)
    cells = np.concatenate([group.nodes[:, :8] for group in lattice.groups])
    total = sum_by(corners, parts.ravel(), count)
    known = total > 0.0
    values = np.where(known, sum_by(corners, (parts * weights[:, None]).ravel(), count), 0.0)
    values /= np.where(known, total, 1.0)
    while not known.all():
        around = known[cells]
        means = (values[cells] * around).sum(axis=1) / np.maximum(around.sum(axis=1), 1)
        touched = np.repeat(around.any(axis=1), 8)
        nodes = cells.ravel()[touched]
        often = np.bincount(nodes, minlength=count)
        mean = sum_by(nodes, np.repeat(means, 8)[touched], count) / np.maximum(often, 1)
        reached = ~known & (often > 0)
        if not reached.any():
            values[~known] = values[known].mean()
            break
        values[reached] = mean[reached]
        known |= reached
    return values
