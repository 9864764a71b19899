"""Bends along strips in NumPy."""

from collections.abc import Iterable

from ..bend_strips import BendStripBatch
from ..mesh import Floats
from .numpy_kernels import meet
from .pentadiagonal import solve


def project_bend_strips(positions: Floats, batches: Iterable[BendStripBatch]) -> None:
    """C = g = 0 for all lines of a strip at once: straight at rest, and linear, axis by axis.

    (C M⁻¹ Cᵀ + α̃) Δλ = −(g + α̃ λ) is solved directly, or as `bend_gains` has it where α̃ is by far
    the largest part of it.
    """
    for batch in batches:
        points = positions.take(batch.path, axis=1, mode="clip")
        size = points.shape[1] - 2
        steps = batch.scaled_compliances * batch.multipliers
        for k, coefficients in enumerate(batch.coefficients):
            steps += coefficients * points[:, k : k + size]
        if batch.factors is None:
            steps *= batch.gains
        else:
            steps = solve(batch.factors, steps)
        batch.multipliers[...] -= steps
        for k, responses in enumerate(batch.responses):
            points[:, k : k + size] -= responses * steps
        for row, point in zip(positions, points, strict=True):
            meet(point, batch.copies)
            row[batch.path] = point
