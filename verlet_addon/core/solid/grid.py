"""A grid of equal cells around a body, along its principal axes, and how far they are filled."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from ..arrays import Booleans, Floats, Integers, sum_by, weighted_sums
from ..geometry.graph import edge_keys

EQUAL_MOMENT_SHARE = 0.05
"""Second moments that differ by less than this share of the largest count as equal. Half as much
gives the same bakes; with twice, one jelly has another grid, and lies 0.5 mm elsewhere."""
MIN_THICKNESS_SHARE = 1e-6
"""Bound against division by 0: smallest thickness of a bounding box, as a share of its length."""
JACOBI_SWEEPS = 12
"""Sweeps of the Jacobi eigenvalue algorithm; half as many converge."""
MAX_CELLS = 400
"""Maximum number of cells along an axis, to bound the time; cells of a very slender body are longer
than it is thick."""


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


RAYS_PER_CELL = np.array([8, 11])
"""Vertical rays per cell along x and y. With equal numbers, faces at 45° would be hit row by row,
and the thickness of a part as thick as a cell would be wrong by up to 4 %."""


def fill(
    vertices: Floats,
    triangles: Integers,
    counts: Integers,
    samples: int = 3,
    rays_per_cell: Integers = RAYS_PER_CELL,
) -> Floats:
    """(x, y, z, s, s, s) weights of s samples along each axis of each cell, for integration inside.

    Samples are equidistant, the first and the last on the cell's faces. Integrals are exact for
    products of polynomials of degree s − 1 along the axes (moment fitting, Müller, Kummer and
    Oberlack 2013); the sum of weights is the filled share.

    The inside has a winding number other than 0, counted along vertical rays from below; for
    surfaces without consistent orientation, an odd number of crossings. Rays through an edge are
    assigned to exactly one of its triangles.

    Parameters
    ----------
    vertices : (n, 3) [cells].
    triangles : (3, t) of a surface without open edges.
    counts : (3,) numbers of cells along x, y and z.
    samples : s.
    rays_per_cell : (2,) numbers of vertical rays along x and y.
    """
    across = counts[:2] * rays_per_cell
    rays, heights, signs = find_crossings(vertices, triangles, rays_per_cell, across)
    within = np.flatnonzero((np.cumsum(signs)[:-1] != 0) & (rays[1:] == rays[:-1]))
    x, y, z = counts.tolist()
    ends = np.concatenate([heights[within], heights[within + 1]])
    directions: Floats = np.repeat([-1.0, 1.0], len(within))
    tops = np.clip(np.floor(ends), 0, z - 1)
    at = np.tile(rays[within], 2) * z + tops.astype(np.int64)
    parts = directions * _integrals(np.clip(ends - tops, 0.0, 1.0), samples)
    count = across[0] * across[1] * z
    filled = np.stack([sum_by(at, part, count) for part in parts])
    above = sum_by(at, directions, count).reshape(-1, z)
    whole = np.cumsum(above[:, ::-1], axis=1)[:, ::-1] - above
    filled += whole.ravel() * _integrals(np.ones(1), samples)
    over_x, over_y = (_part_integrals(n, samples) for n in rays_per_cell)
    filled = filled.reshape(samples, x, rays_per_cell[0], y, rays_per_cell[1], z)
    weights = weighted_sums(over_x, filled.transpose(2, 0, 1, 3, 4, 5))
    weights = weighted_sums(over_y, weights.transpose(4, 0, 1, 2, 3, 5))
    return np.asarray(weights.transpose(3, 4, 5, 1, 0, 2))


def moment_weights(shares: Floats, parts: int, samples: int) -> Floats:
    """(x, y, z, s, s, s) weights as of `fill`, from shares of the parts of cells along each axis.

    Parameters
    ----------
    shares : (parts x, parts y, parts z) filled share of each part.
    samples : s.
    """
    weights, over = shares, _part_integrals(parts, samples)
    for axis in range(3):
        rows = np.moveaxis(weights, axis, 0)
        rows = rows.reshape(-1, parts, *rows.shape[1:])
        weights = np.moveaxis(np.einsum("sp,np...->n...s", over, rows), 0, axis)
    return weights


def fill_some(vertices: Floats, triangles: Integers, cells: Integers, samples: int) -> Floats:
    """(k, s, s, s) weights of `fill` for chosen cells alone, with indices (k, 3) along x, y, z."""
    weights = np.zeros((len(cells), samples, samples, samples))
    for layer in np.unique(cells[:, 0]):
        here = np.flatnonzero(cells[:, 0] == layer)
        low, high = cells[here].min(axis=0), cells[here].max(axis=0) + 1
        filled = fill(vertices - low, triangles, high - low, samples)
        weights[here] = filled[tuple((cells[here] - low).T)]
    return weights


def _part_integrals(parts: int, samples: int) -> Floats:
    """(s, parts) integrals of the Lagrange polynomials of s samples over equal parts of 0 … 1."""
    return np.asarray(np.diff(_integrals(np.arange(parts + 1) / parts, samples)))


def _integrals(ends: Floats, samples: int) -> Floats:
    """(s, k) integrals of the Lagrange polynomials of s samples, from 0 to the ends (k,)."""
    powers = np.multiply.accumulate(np.stack([ends] * samples))
    return weighted_sums(_polynomials(samples), powers / np.arange(1, samples + 1)[:, None])


@cache
def _polynomials(samples: int) -> Floats:
    """(s, s) coefficients of 1, t, t², … of the Lagrange polynomials of s samples in 0…1."""
    samples_at = np.linspace(0.0, 1.0, samples)
    coefficients = np.zeros((samples, samples))
    for row, place in zip(coefficients, samples_at, strict=True):
        row[0] = 1.0
        for other in samples_at[samples_at != place]:
            row[:] = (np.append(0.0, row[:-1]) - other * row) / (place - other)
    return coefficients


def find_crossings(
    vertices: Floats, triangles: Integers, rays_per_cell: Integers, across: Integers
) -> tuple[Integers, Floats, Integers]:
    """Crossings of vertical rays and triangles, ray by ray from below.

    Ray numbers, heights [cells], and +1 for entry, −1 for exit. Parameters are those of `fill`, and
    `across` (2,) the numbers of rays along x and y.
    """
    rays, heights, signs = _crossings(vertices, triangles, rays_per_cell, across)
    order = np.lexsort((heights, rays))
    rays, heights, signs = rays[order], heights[order], signs[order]
    return rays, heights, signs if _is_oriented(triangles, len(vertices)) else _alternating(rays)


def _crossings(
    vertices: Floats, triangles: Integers, rays_per_cell: Integers, across: Integers
) -> tuple[Integers, Floats, Integers]:
    """Crossings of rays and triangles: ray numbers, heights [cells], +1 for entry, −1 for exit."""
    rays_at = vertices[:, :2] * rays_per_cell - 0.5
    corners = rays_at[triangles]
    first = np.maximum(np.ceil(corners.min(axis=0)), 0).astype(np.int64)
    last = np.minimum(np.floor(corners.max(axis=0)), across - 1).astype(np.int64)
    spans = np.maximum(last - first + 1, 0)
    counts = spans[:, 0] * spans[:, 1]
    which = np.repeat(np.arange(len(counts)), counts)
    number = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    column, row = np.divmod(number, np.maximum(spans[:, 1], 1)[which])
    column, row = column + first[which, 0], row + first[which, 1]
    starts, ends = np.roll(triangles, -1, axis=0), np.roll(triangles, -2, axis=0)
    upwards, lows = starts < ends, np.minimum(starts, ends)
    x, y = rays_at[lows].transpose(2, 0, 1)
    # One direction per edge, so that its two triangles compute exactly opposite values.
    along_x, along_y = np.where(upwards, 1.0, -1.0) * (
        rays_at[np.maximum(starts, ends)] - rays_at[lows]
    ).transpose(2, 0, 1)
    # Signed distance of rays to the left of edges, times edge length.
    along_x, along_y, x, y = (rows.take(which, axis=1) for rows in (along_x, along_y, x, y))
    sides = along_x * (row - y) - along_y * (column - x)
    ahead = np.where(sides == 0.0, upwards[:, which], sides > 0.0)
    crossed = (ahead[0] == ahead[1]) & (ahead[0] == ahead[2])
    sides, ahead = sides[:, crossed], ahead[:, crossed]
    total = sides.sum(axis=0)
    upright = total == 0.0
    shares = np.where(upright, 1.0 / 3.0, sides / np.where(upright, 1.0, total))
    corners_z = vertices[triangles[:, which[crossed]], 2]
    heights = (shares * corners_z).sum(axis=0)
    rays = column[crossed] * across[1] + row[crossed]
    return rays, heights, np.where(ahead[0], -1, 1)


def _is_oriented(triangles: Integers, count: int) -> bool:
    """True if triangles pass each edge equally often in both directions."""
    starts, ends = triangles.ravel(), np.roll(triangles, -1, axis=0).ravel()
    _, place = np.unique(edge_keys((starts, ends), count), return_inverse=True)
    return not np.bincount(place.reshape(-1), np.where(starts < ends, 1.0, -1.0)).any()


def _alternating(rays: Integers) -> Integers:
    """+1, −1, +1, … for the successive crossings of each ray."""
    fresh = np.append(True, rays[1:] != rays[:-1])
    starts = np.maximum.accumulate(np.where(fresh, np.arange(len(rays)), 0))
    return np.asarray(1 - 2 * ((np.arange(len(rays)) - starts) % 2))


THICK_CELLS, FULL_SHARE = 3, 0.85
"""A part of a body is thick if it has a block of THICK_CELLS cells along each axis, filled to more
than FULL_SHARE; at 45° to the grid, these are parts thicker than 2.6 cells. With 2 cells, or half
of FULL_SHARE, a rolling jelly stretches by 6 % in place of 4.5 %; 6 cells, or 0.99, give the same
bakes."""
MAX_BOX_DEVIATION = 0.05
"""Largest `_box_deviation` of cells in parts that are parallel to the grid. With half, jellies in a
stack lie 2.5 mm elsewhere; with twice, limbs stretch by 19 % in place of 20 %."""


def find_thin_cells(fillings: Floats, kept: Booleans) -> Booleans:
    """(x, y, z) bool, kept cells that are thin and oblique, or neighbours of such cells.

    Parameters
    ----------
    fillings : (x, y, z, 3, 3, 3) integration weights by `grid.fill`.
    kept : (x, y, z) bool, cells of the lattice.
    """
    thin = kept & ~_dilated(_in_full_blocks(fillings.sum(axis=(3, 4, 5))))
    return kept & _dilated(thin & (_box_deviation(fillings) > MAX_BOX_DEVIATION))


def _in_full_blocks(shares: Floats) -> Booleans:
    """(x, y, z) bool, cells that are part of a full block, for filled shares (x, y, z)."""
    in_blocks = np.zeros(shares.shape, dtype=bool)
    starts = np.array(shares.shape) - THICK_CELLS + 1
    if starts.min() > 0:
        steps = list(np.ndindex(THICK_CELLS, THICK_CELLS, THICK_CELLS))
        windows = [tuple(slice(i, i + n) for i, n in zip(s, starts, strict=True)) for s in steps]
        full = np.mean([shares[place] for place in windows], axis=0) > FULL_SHARE
        for place in windows:
            in_blocks[place] |= full
    return in_blocks


def _dilated(cells: Booleans) -> Booleans:
    """(x, y, z) bool, the cells and their 26 neighbours."""
    found = cells
    for axis in range(3):
        ends = [(1, 1) if axis == other else (0, 0) for other in range(3)]
        padded = np.pad(found, ends).swapaxes(0, axis)
        found = (padded[:-2] | padded[1:-1] | padded[2:]).swapaxes(0, axis)
    return found


def _box_deviation(fillings: Floats) -> Floats:
    """(x, y, z) deviation of weights from their closest product along the axes, as a share."""
    total = np.maximum(fillings.sum(axis=(3, 4, 5)), 1e-30)[..., None, None, None]
    along = fillings.sum(axis=(4, 5))[..., :, None, None] / total
    across = fillings.sum(axis=(3, 5))[..., None, :, None] / total
    up = fillings.sum(axis=(3, 4))[..., None, None, :]
    off = np.abs(fillings - along * across * up)
    return np.asarray((off / total).sum(axis=(3, 4, 5)))
