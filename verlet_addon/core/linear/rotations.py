"""The rotation that fits best where points have gone."""

import numpy as np

from ..arrays import Floats


def nearest_rotations(products: Floats) -> Floats:
    """(…, 3, 3) rotations R of which Σ m |x − R a|² is least, for Σ m x aᵀ (…, 3, 3).

    x and a are places about their centres of mass, now and at rest (W. Kabsch, *A Solution for the
    Best Rotation to Relate Two Sets of Vectors*, 1976).
    """
    left, _, right = np.linalg.svd(products)
    # The least certain axis is turned over where the best fit is a mirror image.
    left[..., 2] *= np.sign(np.linalg.det(left) * np.linalg.det(right))[..., None]
    return np.ascontiguousarray(left @ right)
