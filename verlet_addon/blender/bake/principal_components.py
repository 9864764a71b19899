"""Principal components of a trajectory: the fewest shapes whose mixes stay within a tolerance."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats


class Components(NamedTuple):
    """Shapes of which each frame of a trajectory is a weighted sum."""

    shapes: NDArray[np.float32]
    """(k, n, 3) displacements at weight 1; the first one is that of all frames."""
    weights: NDArray[np.float32]
    """(frames, k) from 0 to 1, as programs expect that read shape keys; 1 for the first."""


def find_components(
    displacements: NDArray[np.float32], linear: Floats, tolerance: float
) -> Components:
    """The fewest principal components that keep each vertex within a tolerance at each frame.

    They are the singular vectors of the (frames, 3 n) displacements from their mean, by the
    eigenvectors of their Gram matrix. A frame's first k coefficients leave the least sum of
    squares; k is found by bisection, for the largest distance.

    Parameters
    ----------
    displacements
        (frames, n, 3) in the object's space.
    linear
        (frames, 3, 3) linear map from there to the world at each frame.
    tolerance
        Largest distance in the world [m].
    """
    count = len(displacements)
    rows = displacements.reshape(count, -1).astype(np.float64)
    mean = rows.mean(axis=0)
    rows -= mean
    _, vectors = np.linalg.eigh(rows @ rows.T)
    vectors = vectors[:, ::-1]
    shapes = vectors.T @ rows
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        errors = vectors[:, :middle] @ shapes[:middle] - rows
        if _is_within(errors.reshape(displacements.shape), linear, tolerance):
            high = middle
        else:
            low = middle + 1
    vectors, shapes = vectors[:, :low], shapes[:low]
    least = vectors.min(axis=0)
    spread = np.maximum(vectors.max(axis=0) - least, 1e-30)
    common = mean + least @ shapes
    return Components(
        np.concatenate([common[None], shapes * spread[:, None]])
        .reshape(-1, *displacements.shape[1:])
        .astype(np.float32),
        np.column_stack([np.ones(count), (vectors - least) / spread]).astype(np.float32),
    )


def _is_within(errors: Floats, linear: Floats, tolerance: float) -> bool:
    """Whether all errors (frames, n, 3) in an object's space are at most so large in the world."""
    return all(
        np.linalg.norm(each @ turned.T, axis=1).max(initial=0.0) <= tolerance
        for each, turned in zip(errors, linear, strict=True)
    )
