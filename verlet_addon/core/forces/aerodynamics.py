"""The air that force fields set in motion, and how it presses on faces and ropes.

A flat plate of area A feels F = ½ ρ c A |u| (u·n) n, u being the air's velocity relative to it and
n its normal: drag and lift in one. A rope of diameter d and length L feels F = ½ ρ c d L |u| u, u
being the part across it.
"""

import numpy as np

from ..arrays import Floats, magnitudes, sum_rows
from .compiled_kernels import press_plates
from .fields import Feeling
from .windage import Windage


def air_forces(
    windage: Windage, felt: Feeling, positions: Floats, velocities: Floats
) -> tuple[Floats, Floats]:
    """Returns (3, n) forces of the air [N] and how fast they grow with speed (n,) [kg/s]."""
    relative = felt.air - felt.grip * velocities
    rows = np.concatenate([relative, felt.grip[None]])
    forces = np.zeros((4, positions.shape[1]))
    if len(windage.plate_factors):
        forces += press_plates(windage, positions, rows)
    if len(windage.edges):
        forces += _ropes(windage, positions, rows)
    return forces[:3], forces[3]


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
