"""The air that force fields set in motion, and how it presses on faces and ropes.

A flat plate of area A feels F = ½ ρ c A |u| (u·n) n, u being the air's velocity relative to it and
n its normal: drag and lift in one. A rope of diameter d and length L feels F = ½ ρ c d L |u| u, u
being the part across it.
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Integers, magnitudes, sum_rows
from ..geometry.faces import Corners
from ..geometry.rest_shape import RestShape
from .fields import Feeling

AIR_DENSITY = 1.225
"""At sea level and 15 °C [kg/m³]."""
DRAG_COEFFICIENT = 1.2
"""Of a flat plate across the stream, and of a round rope."""


@dataclass(frozen=True, eq=False)
class Windage:
    """What of a body is exposed to the air."""

    corners: Corners
    """Of all faces."""
    plate_factors: Floats
    """(f,) ½ ρ c; half of that for faces that have the body behind them [kg/m³]."""
    edges: Integers
    """(e, 2) without faces."""
    rope_factor: float
    """½ ρ c d [kg/m²]"""


def build_windage(shape: RestShape) -> Windage:
    """What of a body is exposed: faces, and edges that carry none, twice its thickness wide."""
    factor = 0.5 * AIR_DENSITY * DRAG_COEFFICIENT
    inside = shape.settings.body_type == "SOFT"
    return Windage(
        corners=shape.corners,
        plate_factors=np.full(len(shape.areas), factor / 2 if inside else factor),
        edges=shape.mesh.edges[shape.loose],
        rope_factor=factor * 2.0 * shape.settings.thickness,
    )


def air_forces(
    windage: Windage, felt: Feeling, positions: Floats, velocities: Floats
) -> tuple[Floats, Floats]:
    """Returns (3, n) forces of the air [N] and how fast they grow with speed (n,) [kg/s]."""
    relative = felt.air - felt.grip * velocities
    rows = np.concatenate([relative, felt.grip[None]])
    forces = np.zeros((4, positions.shape[1]))
    if len(windage.plate_factors):
        forces += _plates(windage, positions, rows)
    if len(windage.edges):
        forces += _ropes(windage, positions, rows)
    return forces[:3], forces[3]


def _plates(windage: Windage, positions: Floats, rows: Floats) -> Floats:
    """(4, n) forces on faces, shared out evenly over their corners, and their growth."""
    corners, count = windage.corners, len(windage.plate_factors)
    normals = _area_vectors(corners, positions, count)
    areas = magnitudes(normals)
    normals = normals / np.where(areas > 0.0, areas, 1.0)
    shares = 1.0 / np.bincount(corners.face, minlength=count)
    means = sum_rows(corners.face, rows[:, corners.vertex], count) * shares
    factors = windage.plate_factors * areas * magnitudes(means[:3])
    along = (means[:3] * normals).sum(axis=0)
    blown = np.concatenate([normals * along, means[3:]]) * (factors * shares)
    return sum_rows(corners.vertex, blown[:, corners.face], positions.shape[1])


def _area_vectors(corners: Corners, positions: Floats, count: int) -> Floats:
    """(3, f) vectors normal to the faces, as long as their areas [m²] (Newell's formula)."""
    near = positions - positions[:, :1]  # far from the origin, areas would lose digits
    ax, ay, az = near[:, corners.vertex]
    bx, by, bz = near[:, corners.following]
    doubled = (ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx)
    return 0.5 * sum_rows(corners.face, np.array(doubled), count)


def _ropes(windage: Windage, positions: Floats, rows: Floats) -> Floats:
    """(4, n) forces on edges without faces, shared out evenly over their ends, and their growth."""
    starts, ends = windage.edges.T
    spans = positions[:, ends] - positions[:, starts]
    lengths = magnitudes(spans)
    spans = spans / np.where(lengths > 0.0, lengths, 1.0)
    middle = (rows[:, starts] + rows[:, ends]) / 2
    across = middle[:3] - spans * (middle[:3] * spans).sum(axis=0)
    factors = windage.rope_factor * lengths * magnitudes(across)
    blown = np.concatenate([across, middle[3:]]) * (factors / 2)
    n = positions.shape[1]
    return sum_rows(starts, blown, n) + sum_rows(ends, blown, n)
