"""Edges far shorter than those around them, as scans have them, which are solved once more.

An error that nobody sees between distant particles tears tiny edges apart by many times their
length.
"""

import numpy as np

from ..arrays import Floats, Integers
from ..geometry.graph import edge_lengths
from .paths import Strips, build_strips

SHORT = 0.4
"""Edges are short that have less than this share of the spacing around them. From 0.2 to 0.6 real
meshes are stretched alike; with none, tiny edges of a scan become twelve times as long."""
LIMP = 1e6
"""Compliance that is as good as no resistance at all [m/N]."""
GRADING = 0.5
"""Where edges shrink by no more than this from particle to particle, the mesh is only graded."""
DIGITS = 6
"""Lengths that agree so far are equal: on a lattice the order of the mesh decides."""


def short_edges(
    positions: Floats, edges: Integers, spacing: Floats, share: float = SHORT
) -> Integers:
    """(s, 2) edges, of (m, 2), shorter than this share of the spacing there, shortest first."""
    lengths = edge_lengths(positions, edges)
    ratios = np.round(lengths / spacing[edges].min(axis=1, initial=np.inf), DIGITS)
    short = np.flatnonzero(ratios < share)
    return np.asarray(edges[short[np.argsort(ratios[short], kind="stable")]])


def short_strips(positions: Floats, edges: Integers, spacing: Floats) -> Strips:
    """The edges (m, 2) among these that are much shorter than those around; they only pull."""
    short = short_edges(positions, edges, spacing)
    none, lengths = np.zeros(len(short)), edge_lengths(positions, short)
    return build_strips(positions, short, lengths, none, none + LIMP, none > 0.0)


def find_spacing(positions: Floats, edges: Integers) -> Floats:
    """(n,) how far apart particles are there: the mean length of their edges.

    It is never less than grading leaves of what it is at neighbours.
    """
    n = len(positions)
    both = np.bincount(edges.ravel(), np.repeat(edge_lengths(positions, edges), 2), n)
    spacing = np.asarray(both / np.maximum(np.bincount(edges.ravel(), minlength=n), 1))
    first, second = edges.T
    while True:
        spread = spacing.copy()
        np.maximum.at(spread, first, GRADING * spacing[second])
        np.maximum.at(spread, second, GRADING * spacing[first])
        if (spread <= spacing).all():
            return spacing
        spacing = spread
