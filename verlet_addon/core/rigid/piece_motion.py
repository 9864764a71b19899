"""Rigid pieces in motion: their particles' momentum goes to them, and they put their particles.

Arms a turn into Q a so that Σ m a × Q a is the angular momentum h L: the rigid body's Verlet, which
keeps its momentum to the last digit (J. Moser and A. Veselov, *Discrete Versions of Some Classical
Integrable Systems and Factorization of Matrix Polynomials*, 1991).
"""

from dataclasses import replace

import numpy as np

from ..arrays import Floats, sum_products, sum_rows
from ..linear.rotations import orthonormalize
from . import compiled_kernels as kernels
from .piece_poses import PiecePoses
from .pieces import Pieces

NEWTON_ROUNDS, NEWTON_ROUNDS_BETWEEN = 4, 2
"""Rounds of Newton's method that find a piece's turn, at both ends of a step and in between: each
doubles the digits of the turn found last."""


def predict_poses(
    poses: PiecePoses, pieces: Pieces, start: Floats, positions: Floats
) -> PiecePoses:
    """Takes the pieces' momentum from where free motion leads from `start`, both (3, n) [m]."""
    if poses.pieces is not pieces:  # others are pinned than before
        poses = replace(poses, pieces=pieces)
    rotations, masses = poses.rotations, pieces.masses
    poses.start_rotations[:] = orthonormalize(rotations)
    poses.rotations[:] = poses.start_rotations
    poses.arms[:] = np.einsum("kij,jk->ik", poses.start_rotations[pieces.labels], pieces.arms)
    heavy = poses.arms * masses
    poses.second_moments[:] = sum_products(pieces.labels, heavy, poses.arms, pieces.count)
    before = start[:, pieces.particles] * masses
    poses.centres[:] = sum_rows(pieces.labels, before, pieces.count) / pieces.totals
    poses.angular_momenta.fill(0.0)
    poses.particle_positions[:] = poses.centres[:, pieces.labels] + poses.arms
    kernels.transfer_momentum(poses, positions, masses, NEWTON_ROUNDS)
    return poses


def put_particles_on_pieces(poses: PiecePoses | None, positions: Floats) -> None:
    """Puts particles (3, n) back onto their pieces, which get the momentum that they had."""
    if poses is not None:
        kernels.transfer_momentum(poses, positions, poses.pieces.masses, NEWTON_ROUNDS)


def apply_constraints_to_pieces(poses: PiecePoses | None, positions: Floats) -> None:
    """Lets pieces take part in what constraints within the body did to their particles (3, n)."""
    if poses is not None:
        kernels.transfer_momentum(
            poses, positions, poses.pieces.constraint_masses, NEWTON_ROUNDS_BETWEEN
        )


def apply_contacts_to_pieces(poses: PiecePoses | None, positions: Floats) -> bool:
    """Lets pieces take part in what contacts did to their particles (3, n); whether there were any.

    Contacts of one piece share its mass, so that together they push no farther than each alone.
    """
    return poses is not None and kernels.transfer_contacts(poses, positions)


def project_joints(poses: PiecePoses | None, positions: Floats) -> None:
    """Draws pieces, and what is near them, together until no edge there is stretched."""
    if poses is not None and poses.pieces.joints.pairs.size:
        kernels.project_joints(poses, poses.pieces.joints, positions)
