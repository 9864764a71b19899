"""Cholesky elimination row by row since LAPACK rounds differently from CPU to CPU."""

import numpy as np

from ..kernel import Sized, kernel


@kernel()
def eliminate_unknowns(front: Sized, root: Sized) -> None:
    """Eliminates the first s unknowns of a symmetric positive definite matrix, by Cholesky.

    Parameters
    ----------
    front : (m, m) matrix [A, B; Bᵀ, C] with A = L Lᵀ of s unknowns, which becomes
        [Lᵀ, L⁻¹ B; ·, C − Bᵀ A⁻¹ B]; elements of the first s columns below the diagonal are not
        meaningful.
    root : (s, s) unit matrix, which becomes L⁻¹.
    """
    for k in range(len(root)):
        scale = 1.0 / np.sqrt(front[k, k])
        front[k, k:] *= scale
        root[k, : k + 1] *= scale
        pulls = front[k, k + 1 :]
        front[k + 1 :, k + 1 :] -= pulls[:, None] * pulls
        inner = pulls[: len(root) - k - 1]
        root[k + 1 :, : k + 1] -= inner[:, None] * root[k, : k + 1]
