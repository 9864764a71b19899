"""Where rigid pieces are on their way through a step."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, sum_products
from ..linear.rotations import steady_rotations
from .pieces import Pieces


@dataclass(eq=False)
class Placement:
    """Where a body's pieces are; kernels write to its arrays."""

    pieces: Pieces
    turns: Floats
    """(s, 3, 3) how they had turned since they were at rest, when the step began."""
    turned: Floats
    """(s, 3, 3) and how they have now."""
    arms: Floats
    """(3, k) when the step began [m]."""
    second: Floats
    """(s, 3, 3) Σ m a aᵀ [kg m²]."""
    centres: Floats
    """(3, s) now [m]."""
    moments: Floats
    """(3, s) Σ m a × (x − x₀): h L now [kg m²]."""
    placed: Floats
    """(3, k) where particles were put [m]."""


def place_first(pieces: Pieces, positions: Floats) -> Placement:
    """Pieces where they fit their particles best, at positions (3, n)."""
    found = positions[:, pieces.particles] * pieces.masses
    turns = steady_rotations(sum_products(pieces.labels, found, pieces.arms, pieces.count))
    return Placement(
        pieces=pieces,
        turns=turns,
        turned=turns.copy(),
        arms=pieces.arms.copy(),
        second=np.zeros_like(turns),
        centres=np.zeros((3, pieces.count)),
        moments=np.zeros((3, pieces.count)),
        placed=positions.take(pieces.particles, axis=1),
    )
