"""The air that force fields set in motion, and how it presses on faces and ropes.

A flat plate of area A feels F = ½ ρ c A |u| (u·n) n, u being the air's velocity relative to it and
n its normal: drag and lift in one. A rope of diameter d and length L feels F = ½ ρ c d L |u| u, u
being the part across it.
"""

import numpy as np

from ..arrays import Floats, magnitudes, sum_rows
from .compiled_kernels import plate_forces
from .exposed_surface import ExposedSurface
from .fields import FieldEffect


def air_forces(
    exposed_surface: ExposedSurface, effect: FieldEffect, positions: Floats, velocities: Floats
) -> tuple[Floats, Floats]:
    """Returns (3, n) forces of the air [N] and how fast they grow with speed (n,) [kg/s]."""
    relative = effect.air - effect.slip_shares * velocities
    rows = np.concatenate([relative, effect.slip_shares[None]])
    forces = np.zeros((4, positions.shape[1]))
    if len(exposed_surface.plate_factors):
        forces += plate_forces(exposed_surface, positions, rows)
    if len(exposed_surface.edges):
        forces += _rope_forces(exposed_surface, positions, rows)
    return forces[:3], forces[3]


def _rope_forces(exposed_surface: ExposedSurface, positions: Floats, rows: Floats) -> Floats:
    """(4, n) forces on edges without faces, shared out evenly over their ends, and their growth."""
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
