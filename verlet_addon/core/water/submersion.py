"""Volume of water that submerged bodies and colliders displace, per water column."""

from dataclasses import dataclass

import numpy as np

from ..arrays import NONZERO, Booleans, Floats, Integers, dot, magnitudes, sum_by
from ..geometry.ray_casting import cast_rays


@dataclass(frozen=True, eq=False)
class SubmergedShape:
    """The surface of a body or collider that displaces water."""

    triangles: Integers
    """(3, t) vertices of triangles, counter-clockwise seen from outside."""
    edges: Integers
    """(2, e) ends of the edges that belong to no triangle: ropes."""
    thickness: float
    """Thickness of sheets and ropes [m]; 0 = a closed surface, which displaces its volume."""


def submerged_depths(
    level_positions: Floats, normals: Floats, areas: Floats, vertices: Floats, shape: SubmergedShape
) -> Floats:
    """(n,) submerged length of the water column beneath each vertex of the level surface [m].

    For a closed surface: Σ d over downward faces − Σ d over upward faces, with d the depths at
    which the column crosses them; the sum needs no sorting. For an open surface of thickness 0,
    such as a boat's hull, the column from the level down to it counts. Sheets and ropes count with
    their thickness. Vertices whose normal points down have no column.

    Parameters
    ----------
    level_positions, normals : (3, n) of the level surface [m].
    areas : (n,) vertex areas of the level surface [m²].
    vertices : (3, v) positions of the submerged shape [m].
    """
    up = normals.mean(axis=1)
    up /= max(float(np.sqrt(dot(up, up))), NONZERO)
    filled = np.zeros(level_positions.shape[1])
    columns = np.flatnonzero(dot(up, normals) > 0.0)
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
    """(n,) bool, points (3, n) whose projection along `up` is in the box of (3, k) projected."""
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
    """(n,) length of each water column that rope edges displace, as cylinders [m].

    Each edge counts entirely in the column nearest to its middle.

    Parameters
    ----------
    columns : (c,) vertices that have a water column.
    ends : (3, 2, k) both ends of each edge [m].
    thickness : diameter [m].
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
        # Edges beside the water have a nearest column, too, but are not in it.
        if depths[nearest] > 0.0 and aside[nearest] < areas[vertex]:
            share = min(depths[nearest] / thickness, 1.0)
            filled[vertex] += share * np.pi / 4.0 * thickness**2 * length / areas[vertex]
    return filled
