"""Motion of rigid pieces in a step: momentum from particles to pieces, positions back to particles.

The rotation Q of a step solves Σ m a × Q a = h L for lever arms a and angular momentum L. This
discrete Euler top is Verlet integration of a rigid body, and conserves momentum up to rounding (J.
Moser and A. Veselov, *Discrete Versions of Some Classical Integrable Systems and Factorization of
Matrix Polynomials*, 1991).
"""

from dataclasses import replace

from ..arrays import Floats
from . import kernels
from .pieces import PiecePoses, Pieces

NEWTON_ROUNDS, NEWTON_ROUNDS_BETWEEN = 4, 2
"""Rounds of Newton's method for the rotation of a piece, at start and end of a step and in between;
each doubles the number of correct digits."""

JOINT_LINEARIZATIONS, MAX_LINEARIZATIONS = 8, 64
"""Maximum linearizations in a projection of joints, and in a step, after which each projection has
one. Where joints can hold, a step has 33; where contacts keep them apart, hundreds would bring them
no nearer. With half of either, a ragdoll lies 0.2 mm elsewhere; with twice of the first, 0.03 mm;
with twice of the second, bakes are the same."""


def poses_of(poses: PiecePoses, pieces: Pieces) -> PiecePoses:
    """Poses of these pieces, which are others than before where pins have changed."""
    return poses if poses.pieces is pieces else replace(poses, pieces=pieces)


def put_particles_on_pieces(poses: PiecePoses | None, positions: Floats) -> None:
    """Places particles (3, n) on their pieces, and transfers momentum of displacements to these."""
    if poses is not None:
        kernels.transfer_momentum(poses, positions, poses.pieces.masses, NEWTON_ROUNDS)


def apply_constraints_to_pieces(poses: PiecePoses | None, positions: Floats) -> None:
    """Transfers corrections of particles (3, n) by internal constraints to their pieces."""
    if poses is not None:
        kernels.transfer_momentum(
            poses, positions, poses.pieces.constraint_masses, NEWTON_ROUNDS_BETWEEN
        )


def apply_contacts_to_pieces(poses: PiecePoses | None, positions: Floats) -> bool:
    """Transfers contact corrections of particles (3, n) to their pieces; True if there were any."""
    return poses is not None and kernels.transfer_contacts(poses, positions)


def project_joints(poses: PiecePoses | None, positions: Floats) -> None:
    """Projects the edges on and near pieces on their rest lengths, in positions (3, n) [m]."""
    if poses is not None and poses.pieces.joints.pairs.size:
        left = MAX_LINEARIZATIONS - int(poses.linearizations[0])
        most = max(min(left, JOINT_LINEARIZATIONS), 1)
        poses.linearizations += kernels.project_joints(poses, poses.pieces.joints, positions, most)
