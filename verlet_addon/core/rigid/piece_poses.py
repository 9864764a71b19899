"""Poses of rigid pieces during a step."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, sum_products
from ..linear.rotations import portable_rotations
from .pieces import Pieces


@dataclass(eq=False)
class PiecePoses:
    """Positions, rotations and momenta of s pieces with k particles; kernels write to arrays."""

    pieces: Pieces
    start_rotations: Floats
    """(s, 3, 3) rotations from rest to the start of the step."""
    rotations: Floats
    """(s, 3, 3) present rotations from rest."""
    arms: Floats
    """(3, k) lever arms from the centre of mass at the start of the step [m]."""
    second_moments: Floats
    """(s, 3, 3) Σ m a aᵀ at the start of the step [kg m²]."""
    centres: Floats
    """(3, s) present centres of mass [m]."""
    angular_momenta: Floats
    """(3, s) Σ m a × (x − x₀) in this step, h L [kg m²]."""
    particle_positions: Floats
    """(3, k) positions of particles on the pieces [m]."""
    linearizations: int = 0
    """Number of linearizations of joints in this step."""


def fit_poses(pieces: Pieces, positions: Floats) -> PiecePoses:
    """Poses whose rotations fit particles at positions (3, n) best; centres are not set yet."""
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
