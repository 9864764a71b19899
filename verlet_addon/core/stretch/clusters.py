"""Particles far closer together than those around them, which move as one small rigid piece.

Where scans have clumps of tiny triangles, no order of sweeps brings all their edges to length.
What they could bend or shear is finer than what the mesh around them can show.
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import Booleans, Floats, Integers, inverse, sum_by, sum_rows
from ..geometry.graph import edge_lengths
from ..rigid.pieces import PINNED

SMALL = 0.1
"""Clusters are smaller than this share of the edges around them."""
GRADING = 0.5
"""Where edges shrink by no more than this from particle to particle, the mesh is only graded."""
DIGITS = 6
"""Lengths that agree so far are equal: on a lattice the order of the mesh decides."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """Particles sorted by cluster."""

    particles: Integers
    """(k,)"""
    labels: Integers
    """(k,) number of the cluster that each belongs to."""
    movable: Booleans
    """(k,) bool"""
    shares: Floats
    """(k,) of the cluster's mass; those of each cluster sum to 1."""
    arms: Floats
    """(3, k) at rest, from the cluster's centre of mass [m]."""


def build_clusters(positions: Floats, edges: Integers, inverse_masses: Floats) -> Clusters:
    """Joins particles along the short ones of the edges (m, 2) of surfaces."""
    members: list[list[int]] = []
    if len(edges):
        spacing = _spacing(positions, edges)
        members = _join(positions, _short_edges(positions, edges, spacing), spacing)
    members = [found for found in members if (inverse_masses[found] > 0.0).any()]
    particles = np.array([p for found in members for p in found], dtype=np.int64)
    labels = np.repeat(np.arange(len(members)), [len(found) for found in members])
    movable = inverse_masses[particles] > 0.0
    masses = inverse(inverse_masses[particles], inverse_masses[particles])
    masses = np.where(movable, masses, PINNED * sum_by(labels, masses, len(members))[labels])
    shares = masses / sum_by(labels, masses, len(members))[labels]
    arms = positions[particles].T
    centres = sum_rows(labels, shares * arms, len(members))
    return Clusters(particles, labels, movable, shares, arms - centres[:, labels])


def _spacing(positions: Floats, edges: Integers) -> Floats:
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


def _short_edges(positions: Floats, edges: Integers, spacing: Floats) -> Integers:
    """(s, 2) those of the edges (m, 2) that join clusters, the shortest for their place first."""
    lengths = edge_lengths(positions, edges)
    ratios = np.round(lengths / spacing[edges].min(axis=1, initial=np.inf), DIGITS)
    short = np.flatnonzero(ratios < SMALL)
    return np.asarray(edges[short[np.argsort(ratios[short], kind="stable")]])


def _join(positions: Floats, short: Integers, spacing: Floats) -> list[list[int]]:
    """The particles of each cluster."""
    clusters: dict[int, list[int]] = {}
    for a, b in short.tolist():
        first, second = clusters.get(a, [a]), clusters.get(b, [b])
        if first is not second and _are_small_together(positions, spacing, first, second):
            first = first + second
            clusters.update(dict.fromkeys(first, first))
    return [found for particle, found in sorted(clusters.items()) if particle == found[0]]


def _are_small_together(
    positions: Floats, spacing: Floats, first: list[int], second: list[int]
) -> bool:
    """Whether two clusters are near each other compared with the spacing around them."""
    across = positions[first][:, None] - positions[second]
    widest = np.linalg.norm(across, axis=2).max() / spacing[first + second].max()
    return bool(np.round(widest, DIGITS) < SMALL)
