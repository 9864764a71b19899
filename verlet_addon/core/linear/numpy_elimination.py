"""Elimination of unknowns, row by row: linear algebra of others rounds as the processor does."""

import numpy as np

from ..arrays import Floats


def eliminate(front: Floats, root: Floats) -> None:
    """Eliminates the first s unknowns of a symmetric positive definite matrix, by Cholesky.

    Parameters
    ----------
    front : (m, m) becomes [Lᵀ, L⁻¹ B; ·, C − Bᵀ A⁻¹ B] of what was [A, B; Bᵀ, C], A = L Lᵀ; what
        is left of Lᵀ and beneath L⁻¹ B is no matter.
    root : (s, s) the unit matrix, which becomes L⁻¹.
    """
    for k in range(len(root)):
        scale = 1.0 / np.sqrt(front[k, k])
        front[k, k:] *= scale
        root[k, : k + 1] *= scale
        pulls = front[k, k + 1 :]
        front[k + 1 :, k + 1 :] -= pulls[:, None] * pulls
        inner = pulls[: len(root) - k - 1]
        root[k + 1 :, : k + 1] -= inner[:, None] * root[k, : k + 1]
