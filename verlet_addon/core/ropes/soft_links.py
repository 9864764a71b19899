"""Soft links of ropes as springs that conserve energy as far as steps resolve their vibration."""

from dataclasses import replace

import numpy as np

from ..stretch.strip_batches import StripBatch


def with_start_spring_forces(batches: list[StripBatch]) -> list[StripBatch]:
    """Batches whose soft links act by their stretch C at a step's start as well as C' at its end.

    XPBD's λ = −C'/α̃ is implicit Euler's and damps every vibration, within a second where
    h ω = 0.1. Here λ = −((1 − β) C + β C')/α̃, with β = m/(m + α̃) and m the mobility of both ends.
    Links whose vibration the steps resolve are integrated almost explicitly, which preserves energy
    and period; stiffer ones stay implicit. The first part is a force at the start of the step,
    −C/(m + α̃); the second is a constraint of compliance α̃/β.
    """
    return [_with_start_spring_forces(batch) for batch in batches]


def _with_start_spring_forces(batch: StripBatch) -> StripBatch:
    """The batch with start spring forces of its soft links; unchanged if there are none."""
    scaled = batch.scaled_compliances
    if not scaled.any():
        return batch
    movable = batch.mobilities > 0.0
    more = scaled**2 / np.where(movable, batch.mobilities, np.inf)
    return replace(
        batch,
        scaled_compliances=scaled + more,
        diagonal=batch.diagonal + more,
        start_stiffnesses=np.where(movable & (scaled > 0.0), 1.0 / batch.diagonal, 0.0),
    )
