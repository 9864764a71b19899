"""Neighbours along a surface: particles within a short path of edges."""

import numpy as np

from ..arrays import Booleans, Floats, Integers, ranges
from ..geometry.graph import Graph, find_neighbours

PATH_GAPS = 1.5
"""Longest path between near particles, in gaps: paths along edges are longer than straight ones."""
MAX_HOPS = 6
"""Largest number of edges of such a path. Particles joined by an edge are always near."""


def find_near_particles(
    rest: Floats, edges: Integers, gaps: Floats, wanted: Booleans
) -> tuple[Integers, Integers]:
    """Finds particles that are near each other along the edges of their surface.

    Pairs that are also much nearer at rest than their gap are exempt from the tunnelling guard:
    there the mesh is much finer than the surface is thick, and guarding it against folding over
    would stretch edges of a millimetre to twice their length.

    Parameters
    ----------
    rest : (3, N) positions at rest [m].
    edges : (2, e) particles of all edges.
    gaps : (N,) gap of self-collision [m].
    wanted : (N,) bool, particles with self-collision.

    Returns
    -------
    starts : (N + 1,) index of each particle's first neighbour in `others`.
    others : (k,) near particles, sorted for each particle.
    """
    count = rest.shape[1]
    used = edges[:, wanted[edges[0]]]
    lengths = np.sqrt(((rest[:, used[1]] - rest[:, used[0]]) ** 2).sum(axis=0))
    around = find_neighbours(Graph(used.T, lengths), count)
    here = np.repeat(np.arange(count), around.counts)
    keys, paths = here * count + around.others, around.lengths
    for _ in range(MAX_HOPS - 1):
        going = np.flatnonzero(paths < PATH_GAPS * gaps[keys // count])
        first, middle = np.divmod(keys[going], count)
        counts = around.counts[middle]
        hops = ranges(around.starts[middle], counts)
        first, farther = np.repeat(first, counts), np.repeat(paths[going], counts)
        last, farther = around.others[hops], farther + around.lengths[hops]
        kept = (farther <= PATH_GAPS * gaps[first]) & (first != last)
        known = len(keys)
        keys, paths = _shortest(
            np.concatenate([keys, first[kept] * count + last[kept]]),
            np.concatenate([paths, farther[kept]]),
        )
        if len(keys) == known:
            break
    keys = np.sort(keys)
    return np.searchsorted(keys, np.arange(count + 1) * count), keys % max(count, 1)


def _shortest(keys: Integers, paths: Floats) -> tuple[Integers, Floats]:
    """Distinct keys, each with the shortest of its paths [m]."""
    order = np.lexsort((paths, keys))
    keys, paths = keys[order], paths[order]
    first = np.ones(len(keys), dtype=bool)
    first[1:] = keys[1:] != keys[:-1]
    return keys[first], paths[first]
