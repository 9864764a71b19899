"""How much of the water things displace that dip into it."""

from dataclasses import dataclass

import numpy as np

from ..arrays import NONZERO, Booleans, Floats, Integers, dot, magnitudes, sum_by
from ..geometry.ray_casting import cast_rays

MIN_UPWARD_COSINE = 0.1
"""Of the water, what looks up at least so much takes part; up is where all of it looks."""


@dataclass(frozen=True, eq=False)
class SubmergedShape:
    """A body or collider that may dip in."""

    triangles: Integers
    """(3, t) counter-clockwise seen from outside."""
    edges: Integers
    """(2, e) of a rope, those that belong to no triangle."""
    thickness: float
    """How thick its sheets and ropes are [m]; 0 = it encloses what it displaces."""


def submerged_depths(
    level_positions: Floats, normals: Floats, areas: Floats, vertices: Floats, shape: SubmergedShape
) -> Floats:
    """(n,) how much of the column at each vertex of the level a diver fills [m].

    Where a column enters and leaves a solid, at depths d: Σ d of what looks down − Σ d of what
    looks up, which needs no order. Of open ones, all that is beneath them counts. Sheets and ropes
    fill what their thickness does.

    Parameters
    ----------
    level_positions, normals : (3, n) of the level.
    areas : (n,) of the level that belong to its vertices [m²].
    vertices : (3, v) of the diver.
    """
    up = normals.mean(axis=1)
    up /= max(float(np.sqrt(dot(up, up))), NONZERO)
    filled = np.zeros(level_positions.shape[1])
    columns = np.flatnonzero(dot(up, normals) > MIN_UPWARD_COSINE)
    levels = dot(up, level_positions[:, columns])
    under_level = dot(up, vertices) < levels.max(initial=-np.inf)
    if not under_level.any():
        return filled
    wet = shape.triangles[:, under_level[shape.triangles].any(axis=0)]
    beneath = columns[_in_box(level_positions[:, columns], vertices[:, wet.ravel()], up)]
    through = cast_rays(level_positions[:, beneath], vertices, wet, up)
    depths = np.maximum(-through.heights, 0.0)
    if shape.thickness > 0.0:
        filled[beneath] += sum_by(through.points, np.minimum(depths, shape.thickness), len(beneath))
        sunk = vertices[:, shape.edges[:, under_level[shape.edges].all(axis=0)]]
        return filled + _displaced_by_ropes(
            level_positions, areas, columns, up, sunk, shape.thickness
        )
    filled[beneath] = sum_by(through.points, -through.turns * depths, len(beneath))
    return np.abs(filled)


def _in_box(points: Floats, box_points: Floats, up: Floats) -> Booleans:
    """(n,) bool, which points (3, n) are seen along `up` in the box around places (3, k)."""
    here, there = (rows - up[:, None] * dot(up, rows) for rows in (points, box_points))
    low, high = there.min(axis=1, initial=np.inf), there.max(axis=1, initial=-np.inf)
    return np.asarray(((here >= low[:, None]) & (here <= high[:, None])).all(axis=0))


def _displaced_by_ropes(
    level_positions: Floats,
    areas: Floats,
    columns: Integers,
    up: Floats,
    ends: Floats,
    thickness: float,
) -> Floats:
    """(n,) what round threads of a thickness fill, each in the column it is nearest to [m].

    Threads go from ends (3, k) to (3, k).
    """
    middles, along = ends.mean(axis=1), ends[:, 1] - ends[:, 0]
    lengths = magnitudes(along)
    filled = np.zeros(level_positions.shape[1])
    for middle, length in zip(middles.T, lengths.tolist(), strict=True):
        away = level_positions[:, columns] - middle[:, None]
        depths = dot(up, away)
        aside = (away * away).sum(axis=0) - depths * depths
        nearest = int(aside.argmin())
        vertex = int(columns[nearest])
        # Those beyond the water's edge are nearest to it, but not in it.
        if depths[nearest] > 0.0 and aside[nearest] < areas[vertex]:
            share = min(depths[nearest] / thickness, 1.0)
            filled[vertex] += share * np.pi / 4.0 * thickness**2 * length / areas[vertex]
    return filled
