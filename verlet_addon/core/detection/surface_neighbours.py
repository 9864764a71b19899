"""Neighbours along a surface: particles within a short path of edges."""

import numpy as np

from ..arrays import Booleans, Floats, Integers, ranges
from ..geometry.graph import Graph, find_neighbours

PATH_GAPS = 1.5
"""Paths count up to this many gaps: along edges they are somewhat longer than straight…"""
MAX_HOPS = 6
"""…and up to so many edges. Two that an edge joins are always near."""


def find_near_particles(
    rest: Floats, edges: Integers, gaps: Floats, wanted: Booleans
) -> tuple[Integers, Integers]:
    """Returns which particles are near each other along the edges of their surface.

    Where they are also nearer at rest than their gap, the guard leaves them alone: the mesh is
    finer there than the surface is thick, and to keep it from folding over would stretch edges of
    a millimetre to twice their length.

    Parameters
    ----------
    rest : (3, N) [m].
    edges : (2, e)
    gaps, wanted : (N,) how far each is kept off others of its surface [m], and whether it is.

    Returns
    -------
    starts : (N + 1,) where the others of each particle begin.
    others : (k,) their numbers, sorted for each.
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
    """Each key once, with the shortest of its paths."""
    order = np.lexsort((paths, keys))
    keys, paths = keys[order], paths[order]
    first = np.ones(len(keys), dtype=bool)
    first[1:] = keys[1:] != keys[:-1]
    return keys[first], paths[first]
