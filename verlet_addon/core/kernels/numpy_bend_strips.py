"""Bends along strips in NumPy."""

from collections.abc import Iterable

import numpy as np

from ..bend_strips import BendStripBatch
from ..mesh import Floats
from .pentadiagonal import Factors, solve


def project_bend_strips(
    positions: Floats, batches: Iterable[BendStripBatch], *, backwards: bool
) -> None:
    """C = g = 0 for all lines of a strip: straight at rest, and linear, axis by axis.

    Stiff strips are solved directly. In soft ones every third line is relaxed at once, for those
    share no particle.
    """
    for batch in batches:
        points = positions.take(batch.path, axis=1, mode="clip")
        if batch.factors is not None:
            _bend_together(points, batch, batch.factors)
        else:
            for first in (2, 1, 0) if backwards else (0, 1, 2):
                _bend_every_third(points, batch, first)
        for row, point in zip(positions, points, strict=True):
            row[batch.path] = point


def _bend_together(points: Floats, batch: BendStripBatch, factors: Factors) -> None:
    """Moves the points (3, c) of the path by the solution of its system."""
    size = points.shape[1] - 2
    violation = batch.scaled_compliances * batch.multipliers
    for k, coefficients in enumerate(batch.coefficients):
        violation += coefficients * points[:, k : k + size]
    steps = solve(factors, violation)
    batch.multipliers[...] -= steps
    for k, responses in enumerate(batch.responses):
        points[:, k : k + size] -= responses * steps


def _bend_every_third(points: Floats, batch: BendStripBatch, first: int) -> None:
    """Relaxes every third line from this one on."""
    lines = np.s_[first::3]
    size = points.shape[1] - 2
    multipliers = batch.multipliers[:, lines]
    steps = batch.scaled_compliances[lines] * multipliers
    for k, coefficients in enumerate(batch.coefficients):
        steps += coefficients[lines] * points[:, first + k : size + k : 3]
    steps *= batch.gains[lines]
    multipliers -= steps
    for k, responses in enumerate(batch.responses):
        points[:, first + k : size + k : 3] -= responses[lines] * steps
