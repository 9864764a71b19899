"""Rigid clusters in NumPy: shape matching with rotation and translation only."""

import numpy as np

from ..arrays import Floats, sum_products, sum_rows
from ..linear.rotations import nearest_rotations
from .rigid_clusters import Clusters


def project_clusters(positions: Floats, clusters: Clusters) -> None:
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
