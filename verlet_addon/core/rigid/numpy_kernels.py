"""Rigid pieces in NumPy."""

import numpy as np

from ..arrays import (
    SHORTEST,
    Floats,
    Integers,
    cofactors,
    cross,
    dot,
    in_turn,
    inverse,
    magnitudes,
    sum_rows,
)
from ..linear.conjugate_gradients import iterate_conjugate_gradients, iterate_until
from ..linear.rotations import axial_vectors, rotations_about
from .piece_poses import PiecePoses
from .pieces import Joints

MIN_CONTACT_PUSH = 1e-7
"""Contacts that push by no more than this count as solved [m]."""
AXIS_INERTIA_SHARE = 1e-12
"""Share of its inertia that a straight piece, which has none about its axis, is given there."""
JOINT_STRAIN_TOLERANCE = 1e-3
"""Share by which edges near pieces may stay stretched."""
JOINT_LINEARIZATIONS, MAX_JOINT_CG_ROUNDS = 8, 100
"""How often directions of edges are found anew, and most rounds of conjugate gradients in each."""
JOINT_RESIDUAL = 1e-6
"""Share of the residual that conjugate gradients leave: with 1e-2 rounding decided which, and limbs
parted by millimetres four frames after they had touched something."""
JOINT_REGULARIZATION = 1e-3
"""Share of its own resistance by which each edge yields in that. Where there are more edges than
ways to move, not all can fit, and conjugate gradients would search for ever farther away."""


def transfer_momentum(poses: PiecePoses, positions: Floats, masses: Floats, rounds: int) -> None:
    """Gives pieces the momentum with which their particles were moved, and puts these in place.

    What moved a particle, of `masses` (k,), by d has the momentum m d/h. So many `rounds` of
    Newton's method find the turn.
    """
    pieces = poses.pieces
    pushes = (positions[:, pieces.particles] - poses.particle_positions) * masses
    force = sum_rows(pieces.labels, pushes, pieces.count)
    torque = cross(poses.arms, pushes)
    _apply_impulse(poses, positions, force, sum_rows(pieces.labels, torque, pieces.count), rounds)


def _apply_impulse(
    poses: PiecePoses, positions: Floats, force: Floats, torque: Floats, rounds: int
) -> None:
    """Gives pieces momenta × h (3, s), and moments (3, s) of them, and puts their particles."""
    pieces = poses.pieces
    poses.centres += force / pieces.totals
    poses.angular_momenta += torque
    turn = _product(poses.rotations, _transposed(poses.start_rotations))
    turn = _solve_rotation(turn, poses.second_moments, poses.angular_momenta.T, rounds)
    poses.rotations[:] = _product(turn, poses.start_rotations)
    arms = _apply(poses.rotations[pieces.labels], pieces.arms)
    poses.particle_positions[:] = poses.centres[:, pieces.labels] + arms
    positions[:, pieces.particles] = poses.particle_positions


def transfer_contacts(poses: PiecePoses, positions: Floats) -> bool:
    """Lets pieces take part in what contacts did to their particles (3, n); whether there were any.

    Contacts of one piece share its mass, so that together they push no farther than each alone.
    """
    pieces = poses.pieces
    pushed = np.abs(positions[:, pieces.particles] - poses.particle_positions).max(axis=0)
    moved = pushed > MIN_CONTACT_PUSH
    if not moved.any():
        return False
    counts = np.maximum(np.bincount(pieces.labels, moved, pieces.count), 1.0)
    transfer_momentum(
        poses, positions, (1.0 / counts)[pieces.labels] / pieces.effective_inverse_masses, 2
    )
    return True


def _solve_rotation(turn: Floats, second: Floats, moments: Floats, rounds: int) -> Floats:
    """(s, 3, 3) the rotation Q near `turn` with Σ m a × Q a = `moments` (s, 3), by Newton."""
    for _ in range(rounds):
        product = _product(turn, second)
        residual = moments - axial_vectors(product)
        step = _apply(_inverse_inertia(product), residual.T).T
        turn = _product(rotations_about(step), turn)
    return np.asarray(turn)


def _inverse_inertia(second: Floats) -> Floats:
    """(s, 3, 3) of tr S − S, by cofactors; 0 for a point."""
    trace = np.trace(second, axis1=1, axis2=2)[:, None, None]
    minors, size = cofactors((1.0 + AXIS_INERTIA_SHARE) * trace * np.eye(3) - second)
    size = np.where(size == 0.0, np.inf, size)
    return np.asarray(_transposed(minors) * (1.0 / size)[:, None, None])


def _product(first: Floats, second: Floats) -> Floats:
    """(s, 3, 3) products of matrices, added up in order: BLAS would add as the processor does."""
    parts = (first[:, :, k, None] * second[:, k, None] for k in range(3))
    return np.asarray(sum(parts))


def _transposed(matrices: Floats) -> Floats:
    """Transposes of matrices (s, 3, 3)."""
    return matrices.transpose(0, 2, 1)


def _apply(matrices: Floats, vectors: Floats) -> Floats:
    """(3, k) matrices (k, 3, 3) times vectors (3, k)."""
    return np.stack([dot(row, vectors) for row in matrices.transpose(1, 2, 0)])


def project_joints(poses: PiecePoses, joints: Joints, positions: Floats) -> None:
    """Draws pieces, and particles between them, together until no edge there is stretched.

    J M⁻¹ Jᵀ λ = C for all edges at once, where M holds the pieces' masses and inertias, solved by
    conjugate gradients; what turns are not linear in, some rounds of it find.
    """
    for _ in range(JOINT_LINEARIZATIONS):
        offsets = positions[:, joints.pairs[0]] - positions[:, joints.pairs[1]]
        lengths = magnitudes(offsets)
        along = offsets / np.maximum(lengths, SHORTEST)
        violations = lengths - joints.rest_lengths
        violations[joints.tension_only & (violations < 0.0)] = 0.0
        along[:, joints.tension_only & (violations == 0.0)] = 0.0
        if not (np.abs(violations) > JOINT_STRAIN_TOLERANCE * joints.rest_lengths).any():
            return
        system = _System(poses, joints, along)
        pulls = system.solve(violations)
        wrenches = system.apply_pulls(-pulls, system.rows(poses.arms))
        force, torque = wrenches[:, : poses.pieces.count].reshape(2, 3, -1)
        _apply_impulse(poses, positions, force, torque, 2)
        free = poses.pieces.count
        positions[:, joints.free] += wrenches[:3, free:] * joints.mobilities[free:]


class _System:
    """The system J M⁻¹ Jᵀ: how pulls along edges near pieces change the lengths of these edges."""

    def __init__(self, poses: PiecePoses, joints: Joints, along: Floats) -> None:
        self.joints, self.along, self.count = joints, along, poses.pieces.count
        arms = poses.particle_positions - poses.centres[:, poses.pieces.labels]
        turn = _product(poses.rotations, _transposed(poses.start_rotations))
        second = _product(_product(turn, poses.second_moments), _transposed(turn))
        self.inverse_inertia = _inverse_inertia(second)
        self.wrench_rows = self.rows(arms)
        self.diagonal = self._elongations(
            self.wrench_rows, self._motions(self.wrench_rows, joints.bodies.T)
        )

    def rows(self, arms: Floats) -> Floats:
        """(6, 2, e) forces and torques of pulls of 1 on both ends, (3, k) from pieces' centres."""
        forces = self.along[:, None] * np.array([[1.0], [-1.0]])
        torques, on = np.zeros_like(forces), self.joints.slots >= 0
        torques[:, on] = cross(arms[:, self.joints.slots[on]], forces[:, on])
        return np.concatenate([forces, torques])

    def apply_pulls(self, pulls: Floats, rows: Floats) -> Floats:
        """(6, b) force and torque on each body under pulls (e,)."""
        bodies, pushes = self.joints.bodies, (pulls * rows).transpose(0, 2, 1)
        return sum_rows(bodies.ravel(), pushes.reshape(6, -1), len(self.joints.mobilities))

    def _motions(self, wrenches: Floats, bodies: Integers) -> Floats:
        """(6, …) how bodies (…) move under such forces and torques."""
        moved = np.concatenate(
            [wrenches[:3] * self.joints.mobilities[bodies], np.zeros_like(wrenches[3:])]
        )
        turning = bodies < self.count
        moved[3:, turning] = _apply(self.inverse_inertia[bodies[turning]], wrenches[3:, turning])
        return moved

    @staticmethod
    def _elongations(rows: Floats, moved: Floats) -> Floats:
        """(e,) how much longer edges become as their ends, (6, 2, e), move."""
        ends = dot(rows[:3], moved[:3]) + dot(rows[3:], moved[3:])
        return np.asarray(ends[0] + ends[1])

    def product(self, pulls: Floats) -> Floats:
        """(e,) how much longer pulls (e,) make edges, which yield a little."""
        wrenches = self.apply_pulls(pulls, self.wrench_rows)
        moved = self._motions(wrenches, np.arange(wrenches.shape[1]))
        elongations = self._elongations(self.wrench_rows, moved[:, self.joints.bodies.T])
        return np.asarray(elongations + JOINT_REGULARIZATION * self.diagonal * pulls)

    def solve(self, violations: Floats) -> Floats:
        """(e,) pulls that take this much (e,) from edges."""
        inverse_diagonal = inverse(self.diagonal, self.diagonal)
        pulls, residual = np.zeros_like(violations), np.where(self.diagonal > 0.0, violations, 0.0)
        squares = iterate_conjugate_gradients(
            pulls,
            residual,
            self.product,
            lambda left: inverse_diagonal * left,
            MAX_JOINT_CG_ROUNDS,
            in_turn,
        )
        iterate_until(squares, JOINT_RESIDUAL**2 * next(squares))
        return pulls
