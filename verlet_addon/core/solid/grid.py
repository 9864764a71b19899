"""A grid of equal cells around a body, along axes of its own."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers, weighted_sums

EQUAL_MOMENT_SHARE = 0.05
"""Second moments that differ by less than this share have no axes of their own."""
MIN_THICKNESS_SHARE = 1e-6
"""No bounding box is thinner than this share of its length."""
JACOBI_SWEEPS = 12
"""Of Jacobi's rotations; half as many do."""
MAX_CELLS = 400
"""Along any axis: a needle's cells are longer than it is thick."""


@dataclass(frozen=True, eq=False)
class Grid:
    """Cells of one size that a body's bounding box is cut into."""

    axes: Floats
    """(3, 3) a rotation, whose columns are the body's principal axes."""
    origin: Floats
    """(3,) the grid's lowest corner, along these axes [m]."""
    sizes: Floats
    """(3,) of a cell [m]."""
    counts: Integers
    """(3,) cells along each axis."""

    def to_cells(self, positions: Floats) -> Floats:
        """(n, 3) positions (n, 3), counted in cells."""
        along = weighted_sums(positions, self.axes)
        return np.asarray((along - self.origin) / self.sizes)

    def to_positions(self, cells: Floats) -> Floats:
        """(n, 3) where places (n, 3) are [m]."""
        return weighted_sums(self.origin + cells * self.sizes, self.axes.T)


def grid_around(positions: Floats, triangles: Integers, cells: int) -> Grid:
    """The grid that fits closely around a surface, with so many cells along it.

    They are counted along a body that is as long as the mean of its two largest dimensions, so that
    neither a thin one nor a very long one alone decides; the others get cells of nearly that size.

    Parameters
    ----------
    positions : (n, 3) [m].
    triangles : (3, t)
    """
    axes = principal_axes(positions, triangles)
    along = weighted_sums(positions, axes)
    low, high = along.min(axis=0), along.max(axis=0)
    extents = np.maximum(high - low, MIN_THICKNESS_SHARE * (high - low).max())
    wanted = float(np.sqrt(np.prod(np.sort(extents)[1:]))) / cells
    wanted = max(wanted, float(extents.max()) / MAX_CELLS)
    counts = np.maximum(np.rint(extents / wanted), 1.0).astype(np.int64)
    return Grid(axes, low, extents / counts, counts)


def principal_axes(positions: Floats, triangles: Integers) -> Floats:
    """(3, 3) a rotation to the principal axes of a surface, as near the world's as they allow.

    Where two or all second moments are alike, as those of square beams and of balls, axes are the
    world's as far as they can be.
    """
    corners = positions[triangles]
    areas = np.linalg.norm(np.cross(corners[1] - corners[0], corners[2] - corners[0]), axis=1)
    middles = corners.mean(axis=0)
    arms = middles - (areas[:, None] * middles).sum(axis=0) / areas.sum()
    moments, vectors = symmetric_eigenvectors(
        (areas[:, None, None] * arms[:, :, None] * arms[:, None, :]).sum(axis=0)
    )
    low, high = np.diff(moments) < EQUAL_MOMENT_SHARE * moments[2]
    if low and high:
        return np.eye(3)
    if low or high:
        distinct = vectors[:, 2 if low else 0]
        beside = np.eye(3)[np.abs(distinct).argmin()]
        across = beside - distinct * (distinct * beside).sum()
        across /= np.linalg.norm(across)
        vectors = np.stack([distinct, across, np.cross(distinct, across)], axis=1)
    return _nearest_order(vectors)


def _nearest_order(vectors: Floats) -> Floats:
    """The columns of (3, 3), in the order and with the signs that turn the world's axes least."""
    left, axes = np.abs(vectors), np.empty((3, 3))
    for _ in range(3):
        row, column = np.unravel_index(left.argmax(), left.shape)
        axes[:, row] = vectors[:, column] * (1.0 if vectors[row, column] > 0.0 else -1.0)
        left[row], left[:, column] = -1.0, -1.0
    if (axes[:, 0] * np.cross(axes[:, 1], axes[:, 2])).sum() < 0.0:
        axes[:, 2] *= -1.0
    return axes


def symmetric_eigenvectors(matrix: Floats) -> tuple[Floats, Floats]:
    """(3,) eigenvalues, the smallest first, and (3, 3) eigenvectors of a symmetric (3, 3).

    Jacobi's rotations: LAPACK ends in other digits on every processor.
    """
    left, axes = matrix.copy(), np.eye(3)
    for _ in range(JACOBI_SWEEPS):
        for i, j in ((0, 1), (0, 2), (1, 2)):
            if abs(left[i, j]) <= 1e-17 * np.trace(matrix):
                continue
            ratio = (left[j, j] - left[i, i]) / (2.0 * left[i, j])
            tangent = (1.0 if ratio >= 0.0 else -1.0) / (abs(ratio) + np.sqrt(ratio * ratio + 1.0))
            cosine = 1.0 / np.sqrt(tangent * tangent + 1.0)
            turn = np.eye(3)
            turn[[i, j], [i, j]] = cosine
            turn[i, j], turn[j, i] = tangent * cosine, -tangent * cosine
            left = weighted_sums(weighted_sums(turn.T, left), turn)
            left[i, j] = left[j, i] = 0.0
            axes = weighted_sums(axes, turn)
    order = np.argsort(np.diag(left), kind="stable")
    return np.diag(left)[order], axes[:, order]
