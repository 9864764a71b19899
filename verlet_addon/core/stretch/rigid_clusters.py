"""Rigid clusters: particles far closer together than the particles around them.

In clumps of tiny triangles, as in scans, no order of sweeps converges on all edge lengths. Their
bending and shear are finer than the mesh around them resolves, so each clump is rigid.
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import Booleans, Floats, Integers, inverse, run_ends, sum_by, sum_products, sum_rows
from ..geometry.graph import edge_lengths
from ..kernel import Sized, Struct, kernel
from ..linear.rotations import nearest_rotations
from ..rigid.pieces import PINNED_MASS_FACTOR

MAX_CLUSTER_SHARE = 0.1
"""Upper limit on the size of a cluster, as a share of the edges around it; twice as much passes the
same tests."""
RATIO_DIGITS = 6
"""Rounding: digits of ratios, since on a lattice the order of the mesh would decide."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """Particles sorted by cluster."""

    particles: Integers
    """(k,)"""
    labels: Integers
    """(k,) cluster number of each particle."""
    movable: Booleans
    """(k,) bool"""
    shares: Floats
    """(k,) shares of the cluster's mass; those of each cluster sum to 1."""
    arms: Floats
    """(3, k) at rest, from the cluster's centre of mass [m]."""


def build_clusters(positions: Floats, edges: Integers, inverse_masses: Floats) -> Clusters:
    """Merges particles along the short ones of the edges (m, 2) of surfaces."""
    members: list[list[int]] = []
    if len(edges):
        spacing = _spacing(positions, edges)
        members = _merge_clusters(positions, _short_edges(positions, edges, spacing), spacing)
    members = [each for each in members if (inverse_masses[each] > 0.0).any()]
    particles = np.array([particle for each in members for particle in each], dtype=np.int64)
    labels = np.repeat(np.arange(len(members)), list(map(len, members)))
    movable = inverse_masses[particles] > 0.0
    masses = inverse(inverse_masses[particles], inverse_masses[particles])
    masses = np.where(
        movable, masses, PINNED_MASS_FACTOR * sum_by(labels, masses, len(members))[labels]
    )
    shares = masses / sum_by(labels, masses, len(members))[labels]
    arms = positions[particles].T
    centres = sum_rows(labels, shares * arms, len(members))
    return Clusters(particles, labels, movable, shares, arms - centres[:, labels])


def _spacing(positions: Floats, edges: Integers) -> Floats:
    """(n,) particle spacing: the mean length of the edges at each particle."""
    n = len(positions)
    length_sums = np.bincount(edges.ravel(), np.repeat(edge_lengths(positions, edges), 2), n)
    return np.asarray(length_sums / np.maximum(np.bincount(edges.ravel(), minlength=n), 1))


def _short_edges(positions: Floats, edges: Integers, spacing: Floats) -> Integers:
    """(s, 2) the edges (m, 2) within clusters, the shortest relative to the spacing first."""
    lengths = edge_lengths(positions, edges)
    ratios = np.round(lengths / spacing[edges].min(axis=1, initial=np.inf), RATIO_DIGITS)
    short = np.flatnonzero(ratios < MAX_CLUSTER_SHARE)
    return np.asarray(edges[short[np.argsort(ratios[short], kind="stable")]])


def _merge_clusters(positions: Floats, short: Integers, spacing: Floats) -> list[list[int]]:
    """The particles of each cluster."""
    clusters: dict[int, list[int]] = {}
    for a, b in short.tolist():
        first, second = clusters.get(a, [a]), clusters.get(b, [b])
        if first is not second and _are_small_together(positions, spacing, first, second):
            first = first + second
            clusters.update(dict.fromkeys(first, first))
    return [members for particle, members in sorted(clusters.items()) if particle == members[0]]


def _are_small_together(
    positions: Floats, spacing: Floats, first: list[int], second: list[int]
) -> bool:
    """Whether the union of two clusters is small compared with the spacing around it."""
    across = positions[first][:, None] - positions[second]
    widest = np.linalg.norm(across, axis=2).max() / spacing[first + second].max()
    return bool(np.round(widest, RATIO_DIGITS) < MAX_CLUSTER_SHARE)


Struct(
    "clusters",
    Clusters,
    reads="particles movable shares arms",
    members=(int, lambda clusters: len(clusters.labels)),
    ends=(Integers, lambda clusters: run_ends(clusters.labels)),
)


@kernel()
def project_clusters(positions: Sized, clusters: Clusters) -> None:
    """Moves each cluster to c + R r, with the rotation R nearest to Σ m (x − c) rᵀ.

    Centre of mass and angular momentum are conserved (M. Müller et al., *Meshless Deformations
    Based on Shape Matching*, 2005).
    """
    if not len(clusters.particles):
        return
    points = positions[:, clusters.particles]
    if not np.isfinite(points).all():
        return  # the check after the frame reports the body
    count = int(clusters.labels[-1]) + 1
    weighted = points * clusters.shares
    centres = sum_rows(clusters.labels, weighted, count)
    covariance = sum_products(clusters.labels, weighted, clusters.arms, count)
    rotations = nearest_rotations(covariance)[clusters.labels]
    rotated = np.einsum("kij,jk->ik", rotations, clusters.arms)
    fitted = centres[:, clusters.labels] + rotated
    positions[:, clusters.particles] = np.where(clusters.movable, fitted, points)
