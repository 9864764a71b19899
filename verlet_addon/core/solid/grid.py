"""A grid of equal cells around a body, along its principal axes."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers, weighted_sums

EQUAL_MOMENT_SHARE = 0.05
"""Second moments that differ by less than this share of the largest count as equal."""
MIN_THICKNESS_SHARE = 1e-6
"""Smallest thickness of a bounding box, as a share of its length."""
JACOBI_SWEEPS = 12
"""Sweeps of the Jacobi eigenvalue algorithm; half as many converge."""
MAX_CELLS = 400
"""Most cells along an axis; cells of a very slender body are longer than it is thick."""


@dataclass(frozen=True, eq=False)
class Grid:
    """Equal cells that fill a body's oriented bounding box."""

    axes: Floats
    """(3, 3) rotation; columns are the grid's axes."""
    origin: Floats
    """(3,) lowest corner, in coordinates along the axes [m]."""
    sizes: Floats
    """(3,) edge lengths of a cell [m]."""
    counts: Integers
    """(3,) numbers of cells along the axes."""

    def to_cells(self, positions: Floats) -> Floats:
        """(n, 3) coordinates in cells, of positions (n, 3) [m]."""
        along = weighted_sums(positions, self.axes)
        return np.asarray((along - self.origin) / self.sizes)

    def to_positions(self, cells: Floats) -> Floats:
        """(n, 3) positions [m], of coordinates in cells (n, 3)."""
        return weighted_sums(self.origin + cells * self.sizes, self.axes.T)


def grid_around(positions: Floats, triangles: Integers, cells: int) -> Grid:
    """The grid in the oriented bounding box of a surface.

    The cell size is the geometric mean of the two largest extents, divided by `cells`, so that it
    depends on neither a thin nor a long extent alone. Along each axis it is rounded to fill the
    box.

    Parameters
    ----------
    positions : (n, 3) [m].
    triangles : (3, t)
    cells : cells along a body of equal extents.
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
    """(3, 3) rotation, with the principal axes of a surface as columns, nearest to the world's.

    Where two or three second moments are equal, as for square beams and balls, axes are chosen
    close to the world's.
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
    """(3, 3) the columns, with the order and signs that are closest to the world's axes."""
    left, axes = np.abs(vectors), np.empty((3, 3))
    for _ in range(3):
        row, column = np.unravel_index(left.argmax(), left.shape)
        axes[:, row] = vectors[:, column] * (1.0 if vectors[row, column] > 0.0 else -1.0)
        left[row], left[:, column] = -1.0, -1.0
    if (axes[:, 0] * np.cross(axes[:, 1], axes[:, 2])).sum() < 0.0:
        axes[:, 2] *= -1.0
    return axes


def symmetric_eigenvectors(matrix: Floats) -> tuple[Floats, Floats]:
    """(3,) ascending eigenvalues, and (3, 3) eigenvectors as columns, of a symmetric (3, 3) matrix.

    By the Jacobi eigenvalue algorithm, as the rounding of LAPACK depends on the processor.
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
