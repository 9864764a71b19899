"""Where rigid pieces are on their way through a step."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, sum_products
from ..linear.rotations import portable_rotations
from .pieces import Pieces


@dataclass(eq=False)
class PiecePoses:
    """Where a body's pieces are; kernels write to its arrays."""

    pieces: Pieces
    start_rotations: Floats
    """(s, 3, 3) how they had turned since they were at rest, when the step began."""
    rotations: Floats
    """(s, 3, 3) and how they have now."""
    arms: Floats
    """(3, k) when the step began [m]."""
    second_moments: Floats
    """(s, 3, 3) Σ m a aᵀ [kg m²]."""
    centres: Floats
    """(3, s) now [m]."""
    angular_momenta: Floats
    """(3, s) Σ m a × (x − x₀): h L now [kg m²]."""
    particle_positions: Floats
    """(3, k) where particles were put [m]."""


def fit_poses(pieces: Pieces, positions: Floats) -> PiecePoses:
    """Pieces where they fit their particles best, at positions (3, n)."""
    weighted = positions[:, pieces.particles] * pieces.masses
    rotations = portable_rotations(sum_products(pieces.labels, weighted, pieces.arms, pieces.count))
    return PiecePoses(
        pieces=pieces,
        start_rotations=rotations,
        rotations=rotations.copy(),
        arms=pieces.arms.copy(),
        second_moments=np.zeros_like(rotations),
        centres=np.zeros((3, pieces.count)),
        angular_momenta=np.zeros((3, pieces.count)),
        particle_positions=positions.take(pieces.particles, axis=1),
    )
