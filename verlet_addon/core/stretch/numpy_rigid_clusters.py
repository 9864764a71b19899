"""Clusters in NumPy: each is put where its particles lie best, as the rigid piece that it is."""

import numpy as np

from ..arrays import Floats, sum_products, sum_rows
from ..linear.rotations import nearest_rotations
from .rigid_clusters import Clusters


def project_clusters(positions: Floats, clusters: Clusters) -> None:
    """Puts each cluster at c + R r, with the rotation R that is nearest to Σ m (x − c) rᵀ.

    Centre of mass and angular momentum stay (M. Müller et al., *Meshless Deformations Based on
    Shape Matching*, 2005).
    """
    if not len(clusters.particles):
        return
    points = positions[:, clusters.particles]
    if not np.isfinite(points).all():
        return  # the frame's check will say which body broke
    count = int(clusters.labels[-1]) + 1
    weighted = points * clusters.shares
    centres = sum_rows(clusters.labels, weighted, count)
    covariance = sum_products(clusters.labels, weighted, clusters.arms, count)
    rotations = nearest_rotations(covariance)[clusters.labels]
    rotated = np.einsum("kij,jk->ik", rotations, clusters.arms)
    fitted = centres[:, clusters.labels] + rotated
    positions[:, clusters.particles] = np.where(clusters.movable, fitted, points)
