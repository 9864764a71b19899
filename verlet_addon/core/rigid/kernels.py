"""Impulses on rigid pieces, and projection of edges between them."""

import numpy as np

from ..arrays import (
    SHORTEST,
    Floats,
    Integers,
    apply_matrices,
    cofactors,
    cross,
    dot,
    in_turn,
    inverse,
    magnitudes,
    sum_products,
    sum_rows,
)
from ..kernel import Sized, Struct, kernel
from ..linear.conjugate_gradients import iterate_conjugate_gradients, iterate_until
from ..linear.rotations import axial_vectors, orthonormalize, rotations_about
from .pieces import Joints, PiecePoses, Pieces

MIN_CONTACT_PUSH = 1e-7
"""Rounding: contact corrections up to this are ignored [m]."""
AXIS_INERTIA_SHARE = 1e-12
"""Rounding: regularization of inertia as a share of it; straight pieces have none about their
axis."""
JOINT_STRAIN_TOLERANCE = 1e-3
"""Largest strain of edges near pieces at which their projection ends; half and twice as much pass
the same tests."""
MAX_JOINT_CG_ROUNDS = 100
"""Maximum rounds of conjugate gradients in each linearization of the edge constraints. With half, a
ragdoll moves by less than 0.001 mm; twice as many give the same bakes."""
JOINT_RESIDUAL = 1e-6
"""Relative residual at which conjugate gradients end. With 1e-2 the error depended on rounding, and
limbs deviated by millimetres four frames after a contact."""
JOINT_REGULARIZATION = 1e-3
"""Regularization of J M⁻¹ Jᵀ as a share of its diagonal. With more edges than degrees of freedom,
constraints are not all compatible, and conjugate gradients would diverge."""

Struct(
    "pieces",
    Pieces,
    reads="count starts particles labels arms totals effective_inverse_masses constraint_masses "
    "masses joints",
    size=(int, lambda pieces: len(pieces.particles)),
)
Struct(
    "piece_poses",
    PiecePoses,
    reads="pieces",
    shares="start_rotations rotations arms second_moments centres angular_momenta "
    "particle_positions linearizations",
)
Struct(
    "joints",
    Joints,
    reads="pairs slots bodies free rest_lengths tension_only mobilities",
    count=(int, lambda joints: len(joints.rest_lengths)),
    free_count=(int, lambda joints: len(joints.free)),
    body_count=(int, lambda joints: len(joints.mobilities)),
    scratch={
        "along": lambda joints: (3, len(joints.rest_lengths)),
        "rows": lambda joints: (len(joints.rest_lengths), 2, 6),
        "residual pulls search found ahead": lambda joints: len(joints.rest_lengths),
        "diagonal inverses": lambda joints: len(joints.rest_lengths),
        "wrenches": lambda joints: (len(joints.mobilities), 6),
        "inverse_inertias": lambda joints: (len(joints.mobilities) - len(joints.free), 9),
    },
)


@kernel()
def predict_poses(poses: PiecePoses, start: Sized, positions: Floats, rounds: int) -> None:
    """Changes poses by inertia, with the momentum of particles that moved from `start` on.

    Parameters
    ----------
    start, positions : (3, n) positions at the start of the step, and after inertia and forces [m];
        `positions` is written to.
    rounds : as for `transfer_momentum`.
    """
    pieces = poses.pieces
    labels, masses = pieces.labels, pieces.masses
    poses.start_rotations[:] = orthonormalize(poses.rotations)
    poses.rotations[:] = poses.start_rotations
    poses.arms[:] = apply_matrices(poses.start_rotations[labels], pieces.arms)
    heavy = poses.arms * masses
    poses.second_moments[:] = sum_products(labels, heavy, poses.arms, pieces.count)
    before = start[:, pieces.particles] * masses
    poses.centres[:] = sum_rows(labels, before, pieces.count) / pieces.totals
    poses.angular_momenta.fill(0.0)
    poses.linearizations[0] = 0
    poses.particle_positions[:] = poses.centres[:, labels] + poses.arms
    transfer_momentum(poses, positions, masses, rounds)


@kernel()
def transfer_momentum(poses: PiecePoses, positions: Sized, masses: Floats, rounds: int) -> None:
    """Transfers the momentum of moved particles to their pieces, and places particles on these.

    A particle of mass m that was moved by d has the momentum m d/h.

    Parameters
    ----------
    positions : (3, n), written to [m].
    masses : (k,) masses of the pieces' particles for this purpose [kg].
    rounds : rounds of Newton's method for the rotations.
    """
    pieces = poses.pieces
    pushes = (positions[:, pieces.particles] - poses.particle_positions) * masses
    force = sum_rows(pieces.labels, pushes, pieces.count)
    torque = cross(poses.arms, pushes)
    apply_impulse(poses, positions, force, sum_rows(pieces.labels, torque, pieces.count), rounds)


def apply_impulse(
    poses: PiecePoses, positions: Floats, force: Floats, torque: Floats, rounds: int
) -> None:
    """Applies momenta × h `force`, `torque` (3, s) to pieces, and places particles (3, n)."""
    pieces = poses.pieces
    poses.centres += force / pieces.totals
    poses.angular_momenta += torque
    turn = _product(poses.rotations, _transposed(poses.start_rotations))
    turn = _solve_rotation(turn, poses.second_moments, poses.angular_momenta.T, rounds)
    poses.rotations[:] = _product(turn, poses.start_rotations)
    arms = apply_matrices(poses.rotations[pieces.labels], pieces.arms)
    poses.particle_positions[:] = poses.centres[:, pieces.labels] + arms
    positions[:, pieces.particles] = poses.particle_positions


@kernel()
def transfer_contacts(poses: PiecePoses, positions: Sized) -> bool:
    """Transfers contact corrections of particles (3, n) to their pieces; True if there were any.

    The contacts of a piece share its mass, so that together they move it no farther than each alone
    would.
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
    """(s, 3, 3) rotations Q near `turn` with Σ m a × Q a = `moments` (s, 3), by Newton's method."""
    for _ in range(rounds):
        product = _product(turn, second)
        residual = moments - axial_vectors(product)
        step = apply_matrices(_inverse_inertia(product), residual.T).T
        turn = _product(rotations_about(step), turn)
    return np.asarray(turn)


def _inverse_inertia(second: Floats) -> Floats:
    """(s, 3, 3) inverses of the inertia tr S − S, by cofactors; 0 for a point."""
    trace = np.trace(second, axis1=1, axis2=2)[:, None, None]
    minors, size = cofactors((1.0 + AXIS_INERTIA_SHARE) * trace * np.eye(3) - second)
    size = np.where(size == 0.0, np.inf, size)
    return np.asarray(_transposed(minors) * (1.0 / size)[:, None, None])


def inverse_inertias(poses: PiecePoses) -> Floats:
    """(s, 3, 3) inverse inertia of each piece in its present rotation."""
    turn = _product(poses.rotations, _transposed(poses.start_rotations))
    return _inverse_inertia(_product(_product(turn, poses.second_moments), _transposed(turn)))


def _product(first: Floats, second: Floats) -> Floats:
    """(s, 3, 3) matrix products, summed in a fixed order: that of BLAS depends on the processor."""
    parts = (first[:, :, k, None] * second[:, k, None] for k in range(3))
    return np.asarray(sum(parts))


def _transposed(matrices: Floats) -> Floats:
    """(s, 3, 3) transposes."""
    return matrices.transpose(0, 2, 1)


@kernel()
def project_joints(poses: PiecePoses, joints: Joints, positions: Sized, most: int) -> int:
    """Projects the edges on and near pieces on their rest lengths, all at once.

    J M⁻¹ Jᵀ λ = C with masses and inertias of the pieces in M, solved by conjugate gradients; J is
    linearized again after each solution, as rotations are not linear. `positions` (3, n) and poses
    are written to. Returns the number of linearizations, `most` at most.
    """
    for number in range(most):
        offsets = positions[:, joints.pairs[0]] - positions[:, joints.pairs[1]]
        lengths = magnitudes(offsets)
        along = offsets / np.maximum(lengths, SHORTEST)
        violations = lengths - joints.rest_lengths
        violations[joints.tension_only & (violations < 0.0)] = 0.0
        along[:, joints.tension_only & (violations == 0.0)] = 0.0
        if not (np.abs(violations) > JOINT_STRAIN_TOLERANCE * joints.rest_lengths).any():
            return number
        system = _System(poses, joints, along)
        pulls = system.solve(violations)
        wrenches = system.apply_pulls(-pulls, system.rows(poses.arms))
        force, torque = wrenches[:, : poses.pieces.count].reshape(2, 3, -1)
        apply_impulse(poses, positions, force, torque, 2)
        free = poses.pieces.count
        positions[:, joints.free] += wrenches[:3, free:] * joints.mobilities[free:]
    return most


class _System:
    """The system J M⁻¹ Jᵀ of e edges between b bodies: pieces, and then free particles."""

    def __init__(self, poses: PiecePoses, joints: Joints, along: Floats) -> None:
        self.joints, self.along, self.count = joints, along, poses.pieces.count
        arms = poses.particle_positions - poses.centres[:, poses.pieces.labels]
        self.inverse_inertia = inverse_inertias(poses)
        self.wrench_rows = self.rows(arms)
        self.diagonal = self._elongations(
            self.wrench_rows, self._motions(self.wrench_rows, joints.bodies.T)
        )

    def rows(self, arms: Floats) -> Floats:
        """(6, 2, e) force and torque of a unit tension on both ends, for lever arms (3, k) [m]."""
        forces = self.along[:, None] * np.array([[1.0], [-1.0]])
        torques, on = np.zeros_like(forces), self.joints.slots >= 0
        torques[:, on] = cross(arms[:, self.joints.slots[on]], forces[:, on])
        return np.concatenate([forces, torques])

    def apply_pulls(self, pulls: Floats, rows: Floats) -> Floats:
        """(6, b) force and torque on each body for tensions `pulls` (e,)."""
        bodies, pushes = self.joints.bodies, (pulls * rows).transpose(0, 2, 1)
        return sum_rows(bodies.ravel(), pushes.reshape(6, -1), len(self.joints.mobilities))

    def _motions(self, wrenches: Floats, bodies: Integers) -> Floats:
        """(6, …) translations and rotations of bodies (…) by forces and torques (6, …)."""
        moved = np.concatenate(
            [wrenches[:3] * self.joints.mobilities[bodies], np.zeros_like(wrenches[3:])]
        )
        turning = bodies < self.count
        moved[3:, turning] = apply_matrices(
            self.inverse_inertia[bodies[turning]], wrenches[3:, turning]
        )
        return moved

    @staticmethod
    def _elongations(rows: Floats, moved: Floats) -> Floats:
        """(e,) elongations of edges for motions (6, 2, e) of the bodies at their ends."""
        ends = dot(rows[:3], moved[:3]) + dot(rows[3:], moved[3:])
        return np.asarray(ends[0] + ends[1])

    def product(self, pulls: Floats) -> Floats:
        """(e,) regularized J M⁻¹ Jᵀ times `pulls` (e,)."""
        wrenches = self.apply_pulls(pulls, self.wrench_rows)
        moved = self._motions(wrenches, np.arange(wrenches.shape[1]))
        elongations = self._elongations(self.wrench_rows, moved[:, self.joints.bodies.T])
        return np.asarray(elongations + JOINT_REGULARIZATION * self.diagonal * pulls)

    def solve(self, violations: Floats) -> Floats:
        """(e,) Lagrange multipliers that remove constraint violations (e,)."""
        inverse_diagonal = inverse(self.diagonal, self.diagonal)
        pulls, residual = np.zeros_like(violations), np.where(self.diagonal > 0.0, violations, 0.0)
        squares = iterate_conjugate_gradients(
            pulls,
            residual,
            self.product,
            lambda left: inverse_diagonal * left,
            MAX_JOINT_CG_ROUNDS,
            lambda one, other: in_turn(one * other),
        )
        iterate_until(squares, JOINT_RESIDUAL**2 * next(squares))
        return pulls
