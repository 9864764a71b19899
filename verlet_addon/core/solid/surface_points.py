"""The points at which a solid touches things: its vertices, and more on faces that are large."""

import numpy as np

from ..arrays import Floats, Integers, contracted, sum_by


def spread_points(positions: Floats, triangles: Integers, spacing: float) -> tuple[Floats, Floats]:
    """Positions (p, 3) of vertices and further points, and the area that each stands for (p,).

    Triangles with an edge longer than `spacing` are covered by a lattice of points as close as
    that; every triangle's area is shared out over its points.

    Parameters
    ----------
    positions : (n, 3), which come first [m].
    triangles : (3, t)
    """
    corners = positions[triangles].transpose(1, 0, 2)
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(normals, axis=1) / 2
    cuts = np.ceil(longest / spacing - 1e-9).astype(np.int64)
    found, shares = [positions], [np.zeros(len(positions))]
    for cut in np.unique(cuts).tolist():
        chosen = np.flatnonzero(cuts == cut)
        places, weights = _division(max(cut, 1))
        for corner in range(3):
            part = areas[chosen] * weights[corner]
            shares[0] += sum_by(triangles[corner, chosen], part, len(positions))
        found.append(
            contracted(places[3:], corners[chosen].transpose(1, 0, 2))
            .transpose(1, 0, 2)
            .reshape(-1, 3)
        )
        shares.append(np.outer(areas[chosen], weights[3:]).ravel())
    return np.concatenate(found), np.concatenate(shares)


def _division(cut: int) -> tuple[Floats, Floats]:
    """Barycentric places (q, 3) that cut a triangle's edges in so many, corners first, and shares.

    Each small triangle shares its area out over its three corners.
    """
    places = [(i, j, cut - i - j) for i in range(cut + 1) for j in range(cut + 1 - i)]
    places.sort(key=lambda place: (max(place) < cut, place[::-1]))
    number = {place: k for k, place in enumerate(places)}
    weights = np.zeros(len(places))
    for i, j, k in places:
        for triangle in (
            ((i, j, k), (i + 1, j, k - 1), (i, j + 1, k - 1)),
            ((i, j, k), (i + 1, j, k - 1), (i + 1, j - 1, k)),
        ):
            if all(corner in number for corner in triangle):
                weights[[number[corner] for corner in triangle]] += 1.0 / (3 * cut * cut)
    order = np.array(places, dtype=float) / cut
    first = [number[corner] for corner in ((cut, 0, 0), (0, cut, 0), (0, 0, cut))]
    rest = [k for k in range(len(places)) if k not in first]
    return order[first + rest], weights[first + rest]
