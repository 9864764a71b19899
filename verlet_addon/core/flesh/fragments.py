"""Fragments of cells: what a gap in the body divides a cell into, each with nodes of its own.

A cell may hold two parts of a body that are far apart along its skin, as of two thighs, or of an
arm and the torso. Each gets a copy of the cell, and copies share the nodes of a face through which
material leads from one to the other (J. Molino, Z. Bao, R. Fedkiw, *A Virtual Node Algorithm for
Changing Mesh Topology During Simulation*, 2004).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from ..arrays import Booleans, Floats, Integers, ranges
from ..geometry.graph import Graph, Neighbours, find_components, find_neighbours
from ..solid.elements import CELL_CORNERS
from ..solid.grid import Grid, find_crossings

SAMPLES = 4
"""Samples along each axis of a cell, in which material is told from gaps; a gap that is narrower
than their distance divides what is on both sides of it, too."""

Rows = TypeVar("Rows", Integers, Booleans)


@dataclass(frozen=True, eq=False)
class Fragments:
    """f fragments, in the order of their cells."""

    grid: Grid
    cells: Integers
    """(f, 3) the cell of each."""
    samples: Integers
    """(SAMPLES x, SAMPLES y, SAMPLES z) the fragment at each sample, −1 = outside of the body."""
    links: Integers
    """(l, 3) two fragments of cells with a common face that material leads through, the lower cell
    first, and the axis across the face."""

    def at(self, samples: Integers) -> Integers:
        """(k,) the fragment at each sample (k, 3), −1 = outside or no sample."""
        return np.where(samples[:, 0] < 0, -1, self.samples[tuple(samples.T)])

    @cached_property
    def neighbours(self) -> Neighbours:
        """The fragments that each is linked with."""
        graph = Graph(self.links[:, :2], np.zeros(len(self.links)))
        return find_neighbours(graph, len(self.cells))

    @cached_property
    def near_pairs(self) -> Integers:
        """(k,) keys of all pairs of fragments within two links, sorted."""
        near, count = self.neighbours, len(self.cells)
        own = np.repeat(np.arange(count), near.counts)
        twice = np.repeat(own, near.counts[near.others])
        further = near.others[ranges(near.starts[near.others], near.counts[near.others])]
        alone = np.arange(count)
        pairs = (alone, alone), (own, near.others), (twice, further)
        return np.asarray(np.unique(np.concatenate([count * a + b for a, b in pairs])))

    def see_each_other(self, starts: Integers, ends: Integers) -> Booleans:
        """(k,) bool, whether straight lines from samples (k, 3) to others run within the body.

        Two fragments that follow each other on a line are linked, directly or by a third; so a line
        may graze the skin, but not pass a gap.
        """
        count, ways = len(self.cells), ends - starts
        steps = int(np.abs(ways).max(initial=0))
        last = self.samples[tuple(starts.T)]
        seen = np.ones(len(starts), dtype=bool)
        at = starts.copy()
        for step in range(1, steps + 1):
            target = starts + np.rint(ways * (step / steps)).astype(np.int64)
            for axis in range(3):
                at[:, axis] = target[:, axis]
                now = self.samples[tuple(at.T)]
                moved = np.flatnonzero((now >= 0) & (now != last) & seen)
                keys = count * last[moved] + now[moved]
                places = np.searchsorted(self.near_pairs, keys)
                places = np.minimum(places, len(self.near_pairs) - 1)
                seen[moved] = self.near_pairs[places] == keys
                last[moved] = now[moved]
        return seen

    def corner_labels(self) -> Integers:
        """(f, 8) labels of the fragments' corners, equal where fragments share a node."""
        corners, edges = CELL_CORNERS.astype(np.int64), []
        for axis in range(3):
            lower, upper = self.links[self.links[:, 2] == axis, :2].T
            ends = [np.flatnonzero(corners[:, axis] == side) for side in (1, 0)]
            pairs = (8 * own[:, None] + end for own, end in zip((lower, upper), ends, strict=True))
            edges.append(np.stack([each.ravel() for each in pairs], axis=1))
        labels = find_components(8 * len(self.cells), np.concatenate(edges))
        return labels.reshape(-1, 8)

    def shares(self, filled: Floats) -> Floats:
        """(f, p, p, p) filled shares of the parts of fragments, of those of cells' parts.

        A part that fragments divide is divided as their samples there are.

        Parameters
        ----------
        filled : (p x, p y, p z) of p parts along each axis of a cell, a divisor of SAMPLES.
        """
        parts = filled.shape[0] // int(self.grid.counts[0])
        inside = np.argwhere(self.samples >= 0)
        numbers = self.samples[tuple(inside.T)]
        x, y, z = (inside % SAMPLES // (SAMPLES // parts)).T
        keys = ((numbers * parts + x) * parts + y) * parts + z
        shape = (len(self.cells), parts, parts, parts)
        counts = np.bincount(keys, minlength=int(np.prod(shape))).reshape(shape).astype(np.float64)
        # Without samples in a part, it goes by those of the whole cell.
        counts += 1e-6 * counts.sum(axis=(1, 2, 3), keepdims=True)
        cells = np.ravel_multi_index(tuple(self.cells.T), tuple(self.grid.counts))
        _, labels = np.unique(cells, return_inverse=True)
        totals = np.zeros((int(labels.max(initial=-1)) + 1, *shape[1:]))
        np.add.at(totals, labels.reshape(-1), counts)
        low = parts * self.cells
        steps = np.stack(np.meshgrid(*(np.arange(parts),) * 3, indexing="ij"), axis=3)
        at = (low[:, None, None, None] + steps).transpose(4, 0, 1, 2, 3)
        return np.asarray(filled[tuple(at)] * (counts / totals[labels.reshape(-1)]))


def find_fragments(grid: Grid, vertices: Floats, triangles: Integers) -> Fragments:
    """The fragments of all cells of a grid with a sample inside of a closed surface.

    Parameters
    ----------
    vertices, triangles : (n, 3) [cells] and (3, t) of the surface.
    """
    counts = SAMPLES * grid.counts
    found = [_along(SAMPLES * vertices, triangles, counts, axis) for axis in range(3)]
    inside, gaps = found[2][0], [own for _, own in found]
    cells = np.argwhere(_blocks(inside).any(axis=(3, 4, 5)))
    at, size = tuple(cells.T), SAMPLES**3
    labels = _label(_blocks(inside)[at], [_blocks(own)[at] for own in gaps]).reshape(-1, size)
    # A fragment is known by its first sample in the cell.
    first = np.flatnonzero(labels == np.arange(size))
    numbers = np.searchsorted(first, np.arange(len(cells))[:, None] * size + labels)
    samples = np.full(tuple(counts), -1)
    _blocks(samples)[at] = np.where(labels < size, numbers, -1).reshape(-1, *(SAMPLES,) * 3)
    links = [_links(samples, own, axis) for axis, own in enumerate(gaps)]
    return Fragments(grid, cells[first // size], samples, np.concatenate(links))


def _along(
    vertices: Floats, triangles: Integers, counts: Integers, axis: int
) -> tuple[Booleans, Booleans]:
    """Samples that are inside, and those with a gap between them and the one before on an axis.

    Parameters
    ----------
    vertices : (n, 3) in distances of samples, which are half of one from the faces of their grid.
    counts : (3,) numbers of samples.
    """
    order = np.roll(np.arange(3), 2 - axis)
    width, depth, height = counts[order].tolist()
    one_each = np.ones(2, dtype=np.int64)
    rays, heights, signs = find_crossings(
        vertices[:, order], triangles, one_each, counts[order][:2]
    )
    above = np.clip(np.ceil(heights - 0.5), 0, height).astype(np.int64)
    at, size = rays * (height + 1) + above, width * depth * (height + 1)
    turns = np.bincount(at, signs, size).reshape(width, depth, -1).cumsum(axis=2)
    leaves = (np.cumsum(signs)[:-1] == 0) & (at[1:] == at[:-1])
    gaps = np.zeros(size, dtype=bool)
    gaps[at[:-1][leaves]] = True
    back = np.argsort(order)
    shape = (width, depth, height + 1)
    results = (np.rint(turns) != 0, gaps.reshape(shape))
    inside, gaps = (np.ascontiguousarray(rows[:, :, :-1].transpose(back)) for rows in results)
    return inside, gaps


def _blocks(samples: Rows) -> Rows:
    """(x, y, z, SAMPLES, SAMPLES, SAMPLES) a view of contiguous samples, by their cells."""
    x, y, z = (count // SAMPLES for count in samples.shape)
    return samples.reshape(x, SAMPLES, y, SAMPLES, z, SAMPLES).transpose(0, 2, 4, 1, 3, 5)


def _label(inside: Booleans, gaps: list[Booleans]) -> Integers:
    """(k, s, s, s) the first sample of a cell that each is joined to within it, s³ = outside.

    Parameters
    ----------
    inside : (k, s, s, s) samples of k cells that are inside.
    gaps : per axis (k, s, s, s), those with a gap between them and the one before.
    """
    first = np.arange(SAMPLES**3, dtype=np.int64).reshape((SAMPLES,) * 3)
    labels = np.where(inside, first, SAMPLES**3)
    while True:
        before = labels.copy()
        for axis, own in enumerate(gaps, 1):
            rows, between = np.moveaxis(labels, axis, 0), np.moveaxis(own, axis, 0)
            within = np.moveaxis(inside, axis, 0)
            joined = within[1:] & within[:-1] & ~between[1:]
            for step in (*range(SAMPLES - 1), *range(SAMPLES - 1)[::-1]):
                lowest = np.minimum(rows[step], rows[step + 1])
                for each in (step, step + 1):
                    rows[each] = np.where(joined[step], lowest, rows[each])
        if np.array_equal(before, labels):
            return labels


def _links(samples: Integers, gaps: Booleans, axis: int) -> Integers:
    """(l, 3) fragments that are joined across the faces between cells along an axis."""
    rows, between = np.moveaxis(samples, axis, 0), np.moveaxis(gaps, axis, 0)
    upper = np.arange(SAMPLES, len(rows), SAMPLES)
    low, high = rows[upper - 1], rows[upper]
    joined = (low >= 0) & (high >= 0) & ~between[upper]
    pairs = np.unique(np.stack([low[joined], high[joined]], axis=1), axis=0)
    return np.column_stack([pairs, np.full(len(pairs), axis)])
