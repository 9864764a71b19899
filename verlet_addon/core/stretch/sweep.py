"""One sweep over everything that keeps the lengths of a surface."""

from ..arrays import Floats
from .constraints import LengthBatches, LengthConstraints
from .kernels import (
    add_interpolated,
    project_at_most,
    project_strips,
    project_tethers,
    share_stretch,
    strain_range,
)
from .numpy_kernels import LEAST

TOLERANCE = 4e-3
"""Edges that are stretched by no more than this share are left as they are."""
UNREST = 300.0
"""In short steps the tolerance is this times h² [1/s²]: what is left over acts as a force there,
and would shake the cloth."""
MOST_SHORT_ROUNDS = 6
"""Short edges, and then those around them, are mended in turn so often at most."""


def project_levels(positions: Floats, lengths: LengthConstraints, batches: LengthBatches) -> None:
    """Solves each coarse level, and hands its corrections down to the next finer one."""
    for level, limits in zip(lengths.levels, batches.levels, strict=True):
        coarse = positions.take(level.particles, axis=1)
        before = coarse.copy()
        project_at_most(coarse, limits)
        coarse -= before
        if coarse.any():
            add_interpolated(positions, level, coarse)


def project_shear(positions: Floats, batches: LengthBatches, *, backwards: bool) -> None:
    """Draws faces back to their angles."""
    way = slice(None, None, -1) if backwards else slice(None)
    project_strips(positions, batches.shear[way])
    project_at_most(positions, batches.folds[way])


def project_stretch(
    positions: Floats,
    lengths: LengthConstraints,
    batches: LengthBatches,
    *,
    dt: float,
    backwards: bool,
) -> None:
    """Sweeps over edges and tethers, once if that leaves no edge stretched, else twice.

    The last sweep goes from the tautest strips to the slackest: slack strips adapt to taut ones,
    which hardly give way to them. The first goes the same way in one step and the opposite way in
    the next, for always the same order is slightly unstable. What is stretched even then shares it
    with the edges around.
    """
    pins = positions[:, lengths.tethers.pins]
    tautest_first = sorted(batches.edges, key=lambda batch: batch.multipliers.min())
    tolerance = min(TOLERANCE, UNREST * dt**2)
    for way in (-1 if backwards else 1, 1):
        project_tethers(positions, lengths.tethers, pins)
        if project_strips(positions, tautest_first[::way]) < tolerance:
            break
    else:
        share_stretch(positions, batches.links, tolerance)
    _mend_short(positions, batches)


def _mend_short(positions: Floats, batches: LengthBatches) -> None:
    """Mends what is left of edges much shorter than those around, which hardly notice it."""
    for _ in range(MOST_SHORT_ROUNDS if batches.short else 0):
        share_stretch(positions, batches.links, TOLERANCE)
        project_strips(positions, batches.short)
        low, high = strain_range(positions, batches.short)
        if high < TOLERANCE and low > LEAST - 1.0 - TOLERANCE:
            break
