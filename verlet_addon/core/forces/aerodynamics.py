"""Forces on faces and ropes by the air that force fields move.

The force on a flat plate of area A is F = ½ ρ c A |u| (u·n) n, with u the velocity of the air
relative to it and n its normal: drag and lift in one. That on a rope of diameter d and length L is
F = ½ ρ c d L |u| u, with u the component perpendicular to it.
"""

import numpy as np

from ..arrays import Floats, magnitudes, sum_rows
from .exposed_surface import ExposedSurface
from .fields import FieldEffect
from .kernels import plate_forces


def air_forces(
    exposed_surface: ExposedSurface, effect: FieldEffect, positions: Floats, velocities: Floats
) -> tuple[Floats, Floats]:
    """Returns (3, n) forces of the air [N], and (n,) their rate of growth with speed [kg/s]."""
    relative = effect.air - effect.slip_shares * velocities
    rows = np.concatenate([relative, effect.slip_shares[None]])
    forces = np.zeros((4, positions.shape[1]))
    if len(exposed_surface.plate_factors):
        forces += plate_forces(exposed_surface, positions, rows)
    if len(exposed_surface.edges):
        forces += _rope_forces(exposed_surface, positions, rows)
    return forces[:3], forces[3]


def _rope_forces(exposed_surface: ExposedSurface, positions: Floats, rows: Floats) -> Floats:
    """(4, n) forces on edges without faces, half at each end, and their growth with speed."""
    starts, ends = exposed_surface.edges.T
    spans = positions[:, ends] - positions[:, starts]
    lengths = magnitudes(spans)
    spans = spans / np.where(lengths > 0.0, lengths, 1.0)
    middle = (rows[:, starts] + rows[:, ends]) / 2
    across = middle[:3] - spans * (middle[:3] * spans).sum(axis=0)
    factors = exposed_surface.rope_factor * lengths * magnitudes(across)
    blown = np.concatenate([across, middle[3:]]) * (factors / 2)
    n = positions.shape[1]
    return sum_rows(starts, blown, n) + sum_rows(ends, blown, n)
