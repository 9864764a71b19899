"""What sweeps leave over at single edges, shared with the edges around them."""

import numpy as np

from ..mesh import Floats, Integers
from ..sharing import Links
from ..topology import sum_by
from .numpy_kernels import SHORTEST

SHARINGS = 16
"""So often edges are looked for that are stretched too far…"""
PATIENCE = 0.2
"""…each time by this share of the tolerance more, so that little is left for the last rounds…"""
MOST_WORK = 0.5
"""…and no longer than until so many were mended, as a share of all: it is for single edges…"""
PULLS = 2
"""…and their ends are so often drawn together."""


def share_stretch(positions: Floats, links: Links, tolerance: float) -> None:
    """Draws edges together that are stretched by more than this share, all at once (Jacobi).

    Each edge gets an even part of its ends' masses (R. Tonge et al., *Mass Splitting for
    Jitter-Free Parallel Rigid Body Simulation*, 2012), so that it takes the edges around it along a
    little. That spreads peaks, which sweeps over whole strips push to and fro.
    """
    multipliers = np.concatenate([np.empty(0), *(batch.multipliers for batch in links.batches)])
    looked_at: Integers | slice = slice(None)
    work = 0
    for sharing in range(SHARINGS):
        least = tolerance * (1.0 + PATIENCE * sharing)
        found = _stretched_links(positions, links, multipliers, least, looked_at)
        if not len(found):
            break
        looked_at = links.at(_draw_together(positions, links, multipliers, found))
        work += len(found)
        if work > MOST_WORK * len(links.first):
            break
    start = 0
    for batch in links.batches:
        stop = start + len(batch.multipliers)
        batch.multipliers[...] = multipliers[start:stop]
        start = stop


def _stretched_links(
    positions: Floats,
    links: Links,
    multipliers: Floats,
    tolerance: float,
    looked_at: Integers | slice,
) -> Integers:
    """Those of the links looked at that are stretched by more than this share."""
    first, second = links.first[looked_at], links.second[looked_at]
    squares = np.zeros(len(first))
    for row in positions:
        across = row.take(second, mode="clip")
        across -= row.take(first, mode="clip")
        across *= across
        squares += across
    limits = (1.0 + tolerance) * links.rest_lengths[looked_at]
    limits -= links.scaled_compliances[looked_at] * multipliers[looked_at]
    stretched = np.flatnonzero(squares > limits * limits)
    return stretched if isinstance(looked_at, slice) else looked_at[stretched]


def _draw_together(
    positions: Floats, links: Links, multipliers: Floats, found: Integers
) -> Integers:
    """Mends the links found; the particles that have moved."""
    ends = np.concatenate([links.first[found], links.second[found]])
    often = np.bincount(ends, minlength=positions.shape[1])
    particles = np.flatnonzero(often)
    number = np.empty(len(often), dtype=np.int64)
    number[particles] = np.arange(len(particles))
    masses = links.inverse_masses[:, found]
    rest_lengths, compliances = links.rest_lengths[found], links.scaled_compliances[found]
    gains = 1.0 / ((masses * often[ends].reshape(2, -1)).sum(axis=0) + compliances)
    masses[1] *= -1.0
    ends = number[ends]
    points: Floats = positions.take(particles, axis=1)
    for _ in range(PULLS):
        at_ends = points.take(ends, axis=1).reshape(3, 2, -1)
        along = at_ends[:, 1] - at_ends[:, 0]
        lengths = np.maximum(np.sqrt((along * along).sum(axis=0)), SHORTEST)
        excess: Floats = lengths - rest_lengths + compliances * multipliers[found]
        steps = np.maximum(excess, 0.0) * gains
        multipliers[found] -= steps
        along *= steps / lengths
        for axis, pull in enumerate(along):
            points[axis] += sum_by(ends, (masses * pull).ravel(), len(particles))
    positions[:, particles] = points
    return particles
