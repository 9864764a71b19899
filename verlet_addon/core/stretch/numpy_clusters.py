"""Clusters in NumPy: each is put where its particles lie best, as the rigid piece that it is."""

import numpy as np

from ..arrays import Floats, sum_by
from .clusters import Clusters


def project_clusters(positions: Floats, clusters: Clusters) -> None:
    """Puts each cluster at c + R r, with the rotation R that is nearest to Σ m (x − c) rᵀ.

    Centre of mass and angular momentum stay (M. Müller et al., *Meshless Deformations Based on
    Shape Matching*, 2005). R comes from the singular value decomposition (W. Kabsch, *A Solution
    for the Best Rotation to Relate Two Sets of Vectors*, 1976).
    """
    if not len(clusters.particles):
        return
    found = positions[:, clusters.particles]
    if not np.isfinite(found).all():
        return  # the frame's check will say which body broke
    count = int(clusters.labels[-1]) + 1
    weighted = found * clusters.shares
    centres = np.stack([sum_by(clusters.labels, row, count) for row in weighted])
    products = weighted[:, None] * clusters.arms
    spread = [sum_by(clusters.labels, row, count) for row in products.reshape(9, -1)]
    left, _, right = np.linalg.svd(np.stack(spread, axis=1).reshape(-1, 3, 3))
    # The least certain axis is turned over where the best fit is a mirror image.
    left[:, :, 2] *= np.sign(np.linalg.det(left) * np.linalg.det(right))[:, None]
    turned = np.einsum("kij,jk->ik", (left @ right)[clusters.labels], clusters.arms)
    placed = centres[:, clusters.labels] + turned
    positions[:, clusters.particles] = np.where(clusters.movable, placed, found)
