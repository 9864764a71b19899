"""What sweeps leave over at single edges, shared with the edges around them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..mesh import Booleans, Floats, Integers
from ..strips import StripBatch
from ..topology import sum_by
from .numpy_kernels import SHORTEST

SHARINGS = 4
"""So often edges are looked for that are stretched too far…"""
PULLS = 2
"""…and their ends are so often drawn together."""


def share_stretch(
    positions: Floats, inverse_masses: Floats, batches: Sequence[StripBatch], tolerance: float
) -> None:
    """Draws edges together that are stretched by more than this share, all at once (Jacobi).

    Each edge gets an even part of its ends' masses (R. Tonge et al., *Mass Splitting for
    Jitter-Free Parallel Rigid Body Simulation*, 2012), so that it takes the edges around it along a
    little. That spreads peaks, which sweeps over whole strips push to and fro.
    """
    looked_at: list[Integers | slice] = [slice(None)] * len(batches)
    for _ in range(SHARINGS):
        found = [
            _stretched_links(positions, batch, tolerance, links)
            for batch, links in zip(batches, looked_at, strict=True)
        ]
        if not any(len(links) for links in found):
            break
        moved = _draw_together(positions, inverse_masses, batches, found)
        looked_at = [_links_at(batch, moved) for batch in batches]


def _stretched_links(
    positions: Floats, batch: StripBatch, tolerance: float, links: Integers | slice
) -> Integers:
    """Those of the links of a batch that are stretched by more than this share."""
    first, second = batch.path[:-1][links], batch.path[1:][links]
    squares = np.zeros(len(first))
    for row in positions:
        across = row.take(second, mode="clip")
        across -= row.take(first, mode="clip")
        across *= across
        squares += across
    limits = (1.0 + tolerance) * batch.rest_lengths[links]
    limits -= batch.scaled_compliances[links] * batch.multipliers[links]
    stretched = (squares > limits**2) & (batch.movable[links] > 0.0)
    return np.arange(len(batch.movable))[links][stretched]


def _links_at(batch: StripBatch, moved: Booleans) -> Integers:
    """The links of a batch, and gaps, that have an end at these particles, bool (n,)."""
    touched = moved[batch.path]
    return np.flatnonzero(touched[1:] | touched[:-1])


def _draw_together(
    positions: Floats,
    inverse_masses: Floats,
    batches: Sequence[StripBatch],
    found: Sequence[Integers],
) -> Booleans:
    """Mends the links found, each batch's by its own numbers; (n,) bool, what has moved."""

    def gather(of_links: Callable[[StripBatch], NDArray[Any]]) -> NDArray[Any]:
        parts = [of_links(batch)[at] for batch, at in zip(batches, found, strict=True)]
        return np.concatenate(parts)

    n = positions.shape[1]
    first = gather(lambda batch: batch.path[:-1])
    second = gather(lambda batch: batch.path[1:])
    first_masses, second_masses = inverse_masses[first], inverse_masses[second]
    rest_lengths = gather(lambda batch: batch.rest_lengths)
    compliances = gather(lambda batch: batch.scaled_compliances)
    multipliers = gather(lambda batch: batch.multipliers)
    often = np.bincount(np.concatenate([first, second]), minlength=n)
    gains = 1.0 / (first_masses * often[first] + second_masses * often[second] + compliances)
    for _ in range(PULLS):
        along = positions.take(second, axis=1) - positions.take(first, axis=1)
        lengths = np.maximum(np.sqrt((along * along).sum(axis=0)), SHORTEST)
        steps = np.maximum(lengths - rest_lengths + compliances * multipliers, 0.0) * gains
        multipliers -= steps
        along *= steps / lengths
        for axis, pull in enumerate(along):
            positions[axis] += sum_by(first, first_masses * pull, n)
            positions[axis] -= sum_by(second, second_masses * pull, n)
    start = 0
    for batch, at in zip(batches, found, strict=True):
        batch.multipliers[at] = multipliers[start : start + len(at)]
        start += len(at)
    moved: Booleans = often > 0
    return moved
