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
from ..linear.conjugate_gradients import descend, descend_to
from ..linear.rotations import rotations_about, turning_of
from .pieces import Joints
from .placement import Placement

TOUCHED = 1e-7
"""Contacts that push by no more than this count as solved [m]."""
ABOUT_ITSELF = 1e-12
"""Share of its inertia that a straight piece, which has none about its axis, is given there."""
JOINED = 1e-3
"""Share by which edges near pieces may stay stretched."""
LINEARIZED, CONJUGATE_ROUNDS = 8, 100
"""How often directions of edges are found anew, and most rounds of conjugate gradients in each."""
RESIDUAL = 1e-6
"""Share of the residual that conjugate gradients leave: with 1e-2 rounding decided which, and limbs
parted by millimetres four frames after they had touched something."""
YIELDING = 1e-3
"""Share of its own resistance by which each edge yields in that. Where there are more edges than
ways to move, not all can fit, and conjugate gradients would search for ever farther away."""


def give_momentum(placement: Placement, positions: Floats, masses: Floats, rounds: int) -> None:
    """Gives pieces the momentum with which their particles were moved, and puts these in place.

    What moved a particle, of `masses` (k,), by d has the momentum m d/h. So many `rounds` of
    Newton's method find the turn.
    """
    pieces = placement.pieces
    pushes = (positions[:, pieces.particles] - placement.placed) * masses
    force = sum_rows(pieces.labels, pushes, pieces.count)
    torque = cross(placement.arms, pushes)
    _push(placement, positions, force, sum_rows(pieces.labels, torque, pieces.count), rounds)


def _push(
    placement: Placement, positions: Floats, force: Floats, torque: Floats, rounds: int
) -> None:
    """Gives pieces momenta × h (3, s), and moments (3, s) of them, and puts their particles."""
    pieces = placement.pieces
    placement.centres += force / pieces.totals
    placement.moments += torque
    turn = _product(placement.turned, _back(placement.turns))
    turn = _turn(turn, placement.second, placement.moments.T, rounds)
    placement.turned[:] = _product(turn, placement.turns)
    arms = _applied(placement.turned[pieces.labels], pieces.arms)
    placement.placed[:] = placement.centres[:, pieces.labels] + arms
    positions[:, pieces.particles] = placement.placed


def share_contacts(placement: Placement, positions: Floats) -> bool:
    """Lets pieces take part in what contacts did to their particles (3, n); whether there were any.

    Contacts of one piece share its mass, so that together they push no farther than each alone.
    """
    pieces = placement.pieces
    pushed = np.abs(positions[:, pieces.particles] - placement.placed).max(axis=0)
    moved = pushed > TOUCHED
    if not moved.any():
        return False
    crowd = np.maximum(np.bincount(pieces.labels, moved, pieces.count), 1.0)
    give_momentum(placement, positions, (1.0 / crowd)[pieces.labels] / pieces.softness, 2)
    return True


def _turn(turn: Floats, second: Floats, moments: Floats, rounds: int) -> Floats:
    """(s, 3, 3) the rotation Q near `turn` with Σ m a × Q a = `moments` (s, 3), by Newton."""
    for _ in range(rounds):
        product = _product(turn, second)
        lack = moments - turning_of(product)
        step = _applied(_inverse_inertia(product), lack.T).T
        turn = _product(rotations_about(step), turn)
    return np.asarray(turn)


def _inverse_inertia(second: Floats) -> Floats:
    """(s, 3, 3) of tr S − S, by cofactors; 0 for a point."""
    trace = np.trace(second, axis1=1, axis2=2)[:, None, None]
    minors, size = cofactors((1.0 + ABOUT_ITSELF) * trace * np.eye(3) - second)
    size = np.where(size == 0.0, np.inf, size)
    return np.asarray(_back(minors) * (1.0 / size)[:, None, None])


def _product(first: Floats, second: Floats) -> Floats:
    """(s, 3, 3) products of matrices, added up in order: BLAS would add as the processor does."""
    parts = (first[:, :, k, None] * second[:, k, None] for k in range(3))
    return np.asarray(sum(parts))


def _back(matrices: Floats) -> Floats:
    """Transposes of matrices (s, 3, 3)."""
    return matrices.transpose(0, 2, 1)


def _applied(matrices: Floats, vectors: Floats) -> Floats:
    """(3, k) matrices (k, 3, 3) times vectors (3, k)."""
    return np.stack([dot(row, vectors) for row in matrices.transpose(1, 2, 0)])


def join(placement: Placement, joints: Joints, positions: Floats) -> None:
    """Draws pieces, and particles between them, together until no edge there is stretched.

    J M⁻¹ Jᵀ λ = C for all edges at once, where M holds the pieces' masses and inertias, solved by
    conjugate gradients; what turns are not linear in, some rounds of it find.
    """
    for _ in range(LINEARIZED):
        apart = positions[:, joints.pairs[0]] - positions[:, joints.pairs[1]]
        lengths = magnitudes(apart)
        along = apart / np.maximum(lengths, SHORTEST)
        lacks = lengths - joints.rest_lengths
        lacks[joints.slack & (lacks < 0.0)] = 0.0
        along[:, joints.slack & (lacks == 0.0)] = 0.0
        if not (np.abs(lacks) > JOINED * joints.rest_lengths).any():
            return
        system = _System(placement, joints, along)
        pulls = system.solve(lacks)
        wrenches = system.spread(-pulls, system.rows(placement.arms))
        force, torque = wrenches[:, : placement.pieces.count].reshape(2, 3, -1)
        _push(placement, positions, force, torque, 2)
        free = placement.pieces.count
        positions[:, joints.free] += wrenches[:3, free:] * joints.mobilities[free:]


class _System:
    """The system J M⁻¹ Jᵀ: how pulls along edges near pieces change the lengths of these edges."""

    def __init__(self, placement: Placement, joints: Joints, along: Floats) -> None:
        self.joints, self.along, self.count = joints, along, placement.pieces.count
        arms = placement.placed - placement.centres[:, placement.pieces.labels]
        turn = _product(placement.turned, _back(placement.turns))
        second = _product(_product(turn, placement.second), _back(turn))
        self.inverse_inertia = _inverse_inertia(second)
        self.ways = self.rows(arms)
        self.diagonal = self._along(self.ways, self._answer(self.ways, joints.bodies.T))

    def rows(self, arms: Floats) -> Floats:
        """(6, 2, e) forces and torques of pulls of 1 on both ends, (3, k) from pieces' centres."""
        forces = self.along[:, None] * np.array([[1.0], [-1.0]])
        torques, on = np.zeros_like(forces), self.joints.slots >= 0
        torques[:, on] = cross(arms[:, self.joints.slots[on]], forces[:, on])
        return np.concatenate([forces, torques])

    def spread(self, pulls: Floats, rows: Floats) -> Floats:
        """(6, b) force and torque on each body under pulls (e,)."""
        bodies, pushes = self.joints.bodies, (pulls * rows).transpose(0, 2, 1)
        return sum_rows(bodies.ravel(), pushes.reshape(6, -1), len(self.joints.mobilities))

    def _answer(self, wrenches: Floats, bodies: Integers) -> Floats:
        """(6, …) how bodies (…) move under such forces and torques."""
        moved = np.concatenate(
            [wrenches[:3] * self.joints.mobilities[bodies], np.zeros_like(wrenches[3:])]
        )
        turning = bodies < self.count
        moved[3:, turning] = _applied(self.inverse_inertia[bodies[turning]], wrenches[3:, turning])
        return moved

    @staticmethod
    def _along(rows: Floats, moved: Floats) -> Floats:
        """(e,) how much longer edges become as their ends, (6, 2, e), move."""
        ends = dot(rows[:3], moved[:3]) + dot(rows[3:], moved[3:])
        return np.asarray(ends[0] + ends[1])

    def product(self, pulls: Floats) -> Floats:
        """(e,) how much longer pulls (e,) make edges, which yield a little."""
        wrenches = self.spread(pulls, self.ways)
        moved = self._answer(wrenches, np.arange(wrenches.shape[1]))
        found = self._along(self.ways, moved[:, self.joints.bodies.T])
        return np.asarray(found + YIELDING * self.diagonal * pulls)

    def solve(self, lacks: Floats) -> Floats:
        """(e,) pulls that take this much (e,) from edges."""
        lightness = inverse(self.diagonal, self.diagonal)
        pulls, residual = np.zeros_like(lacks), np.where(self.diagonal > 0.0, lacks, 0.0)
        squares = descend(
            pulls, residual, self.product, lambda left: lightness * left, CONJUGATE_ROUNDS, in_turn
        )
        descend_to(squares, RESIDUAL**2 * next(squares))
        return pulls
