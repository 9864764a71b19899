"""How much of each cell of a grid a closed surface fills."""

import numpy as np

from ..arrays import Floats, Integers, contracted
from ..geometry.graph import edge_keys

RAYS = 8
"""Vertical lines through each cell along x, and along y."""
SAMPLES = np.array([0.0, 0.5, 1.0])
"""Along each axis of a cell, where what is integrated over its filled part is known."""
PARABOLAS = np.array([[1.0, -3.0, 2.0], [0.0, 4.0, -4.0], [0.0, -1.0, 2.0]])
"""Coefficients of 1, t, t² of those through the samples that are 1 at one of them, 0 at others."""


def fill(places: Floats, triangles: Integers, counts: Integers) -> Floats:
    """(cells along x, y, z, 3, 3, 3) weights of the samples that integrate over what is inside.

    They are exact for products of parabolas along the axes, for a cell of size 1 (moment fitting,
    Müller, Kummer and Oberlack 2013); their sum is the share of the cell that is filled.

    Vertical rays are followed from below. What they have entered more often than left, or left more
    often than entered, is inside; where faces are turned this way and that, what they have crossed
    an odd number of times. Edges are decided alike from both sides, so no ray slips through.

    Parameters
    ----------
    places : (n, 3) of vertices, in cells.
    triangles : (3, t) of a surface without open edges.
    counts : (3,) cells along x, y and z.
    """
    across = counts[:2] * RAYS
    rays, heights, signs = _crossings(places, triangles, across)
    order = np.lexsort((heights, rays))
    rays, heights, signs = rays[order], heights[order], signs[order]
    if not _is_oriented(triangles, len(places)):
        signs = _alternating(rays)
    within = np.flatnonzero((np.cumsum(signs)[:-1] != 0) & (rays[1:] == rays[:-1]))
    x, y, z = counts.tolist()
    floors = heights[:, None] - np.arange(z)
    filled = np.zeros((across[0] * across[1], z, 3))
    for part in np.array_split(within, len(within) * z // 1_000_000 + 1):
        tops, bottoms = (_integrals(np.clip(floors[part + k], 0.0, 1.0)) for k in (1, 0))
        np.add.at(filled, rays[part], tops - bottoms)
    strips = np.diff(_integrals(np.arange(RAYS + 1) / RAYS), axis=0)
    filled = filled.reshape(x, RAYS, y, RAYS, z, 3)
    over_x = contracted(strips.T, filled.transpose(1, 0, 2, 3, 4, 5))
    found = contracted(strips.T, over_x.transpose(3, 0, 1, 2, 4, 5))
    return np.asarray(found.transpose(2, 3, 4, 1, 0, 5))


def _integrals(ends: Floats) -> Floats:
    """(…, 3) integrals of the three parabolas from 0 to the ends (…)."""
    powers = np.stack([ends, ends * ends / 2.0, ends * ends * ends / 3.0], axis=-1)
    return contracted(powers.reshape(-1, 3), PARABOLAS.T).reshape(powers.shape)


def _crossings(
    places: Floats, triangles: Integers, across: Integers
) -> tuple[Integers, Floats, Integers]:
    """Where rays go through triangles: which ray, how high, +1 from below, −1 from above."""
    rays_at = places[:, :2] * RAYS - 0.5
    corners = rays_at[triangles]
    first = np.maximum(np.ceil(corners.min(axis=0)), 0).astype(np.int64)
    last = np.minimum(np.floor(corners.max(axis=0)), across - 1).astype(np.int64)
    spans = np.maximum(last - first + 1, 0)
    counts = spans[:, 0] * spans[:, 1]
    which = np.repeat(np.arange(len(counts)), counts)
    number = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    column = first[which, 0] + number // np.maximum(spans[which, 1], 1)
    row = first[which, 1] + number % np.maximum(spans[which, 1], 1)
    a, b, c = triangles[:, which]
    sides = np.stack([_side(rays_at, *ends, column, row) for ends in ((b, c), (c, a), (a, b))])
    ahead = np.stack(
        [
            np.where(side == 0.0, upwards, side > 0.0)
            for side, upwards in zip(sides, (b < c, c < a, a < b), strict=True)
        ]
    )
    crossed = ahead.all(axis=0) | ~ahead.any(axis=0)
    sides, ahead = sides[:, crossed], ahead[:, crossed]
    total = sides.sum(axis=0)
    upright = total == 0.0
    shares = np.where(upright, 1.0 / 3.0, sides / np.where(upright, 1.0, total))
    corners_z = places[triangles[:, which[crossed]], 2]
    heights = (shares * corners_z).sum(axis=0)
    rays = column[crossed] * across[1] + row[crossed]
    return rays, heights, np.where(ahead[0], -1, 1)


def _side(places: Floats, a: Integers, b: Integers, column: Integers, row: Integers) -> Floats:
    """How far left of the line from a to b each ray is; exactly the opposite from b to a."""
    low, high = np.minimum(a, b), np.maximum(a, b)
    way, arm = places[high] - places[low], np.stack([column, row], axis=1) - places[low]
    area = way[:, 0] * arm[:, 1] - way[:, 1] * arm[:, 0]
    return np.asarray(np.where(a < b, area, -area))


def _is_oriented(triangles: Integers, count: int) -> bool:
    """Whether every edge is passed as often one way as the other."""
    starts, ends = triangles.ravel(), np.roll(triangles, -1, axis=0).ravel()
    _, place = np.unique(edge_keys(starts, ends, count), return_inverse=True)
    return not np.bincount(place.reshape(-1), np.where(starts < ends, 1.0, -1.0)).any()


def _alternating(rays: Integers) -> Integers:
    """+1, −1, +1, … along each ray."""
    fresh = np.append(True, rays[1:] != rays[:-1])
    starts = np.maximum.accumulate(np.where(fresh, np.arange(len(rays)), 0))
    return np.asarray(1 - 2 * ((np.arange(len(rays)) - starts) % 2))
