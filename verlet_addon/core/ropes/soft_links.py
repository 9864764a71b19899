"""Soft links of ropes as springs, which keep their energy as far as the steps resolve them."""

from dataclasses import replace

import numpy as np

from ..stretch.strip_batches import StripBatch


def with_start_spring_forces(batches: list[StripBatch]) -> list[StripBatch]:
    """Batches whose soft links act by their stretch C at a step's start as well as C' at its end.

    XPBD's λ = −C'/α̃ is implicit Euler's: it brakes every vibration, within a second where
    h ω = 0.1. Here λ = −((1 − β) C + β C')/α̃, with β = m/(m + α̃), m being the mobility of both
    ends: what the steps resolve acts almost explicitly, which keeps its energy and its period; what
    is too stiff for that stays implicit. The first part is a force, −C/(m + α̃); the second is a
    constraint of compliance α̃/β.
    """
    return [_with_start_spring_forces(batch) for batch in batches]


def _with_start_spring_forces(batch: StripBatch) -> StripBatch:
    """The same batch; its soft links act by their stretch at the start too."""
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
