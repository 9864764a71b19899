"""Rigid pieces in NumPy."""

import numpy as np

from ..arrays import SHORTEST, Floats, Integers, cofactors, inverse, magnitudes, sum_rows
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
RESIDUAL = 1e-2
"""Share of the residual that conjugate gradients leave."""
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
    torque = np.cross(placement.arms, pushes, axis=0)
    _push(placement, positions, force, sum_rows(pieces.labels, torque, pieces.count), rounds)


def _push(
    placement: Placement, positions: Floats, force: Floats, torque: Floats, rounds: int
) -> None:
    """Gives pieces momenta × h (3, s), and moments (3, s) of them, and puts their particles."""
    pieces = placement.pieces
    placement.centres += force / pieces.totals
    placement.moments += torque
    back = placement.turns.transpose(0, 2, 1)
    turn = _turn(placement.turned @ back, placement.second, placement.moments.T, rounds)
    placement.turned[:] = turn @ placement.turns
    arms = np.einsum("kij,jk->ik", placement.turned[pieces.labels], pieces.arms)
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
    give_momentum(placement, positions, 1.0 / (pieces.softness * crowd[pieces.labels]), 2)
    return True


def _turn(turn: Floats, second: Floats, moments: Floats, rounds: int) -> Floats:
    """(s, 3, 3) the rotation Q near `turn` with Σ m a × Q a = `moments` (s, 3), by Newton."""
    for _ in range(rounds):
        product = turn @ second
        lack = moments - turning_of(product)
        step = np.einsum("sij,sj->si", _inverse_inertia(product), lack)
        turn = rotations_about(step) @ turn
    return np.asarray(turn)


def _inverse_inertia(second: Floats) -> Floats:
    """(s, 3, 3) of tr S − S, by cofactors; 0 for a point."""
    trace = np.trace(second, axis1=1, axis2=2)[:, None, None]
    minors, size = cofactors((1.0 + ABOUT_ITSELF) * trace * np.eye(3) - second)
    size = np.where(size == 0.0, np.inf, size)
    return np.asarray(minors.transpose(0, 2, 1) / size[:, None, None])


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
        moved, force, torque = system.spread(-pulls, placement.arms)
        free = joints.pairs[joints.slots < 0]
        positions[:, free] += moved[:, free]
        _push(placement, positions, force, torque, 2)


class _System:
    """The system J M⁻¹ Jᵀ: how pulls along edges near pieces change the lengths of these edges."""

    def __init__(self, placement: Placement, joints: Joints, along: Floats) -> None:
        pieces = placement.pieces
        self.joints, self.along, self.pieces = joints, along, pieces
        self.arms = placement.placed - placement.centres[:, pieces.labels]
        turn = placement.turned @ placement.turns.transpose(0, 2, 1)
        second = turn @ placement.second @ turn.transpose(0, 2, 1)
        self.inverse_inertia = _inverse_inertia(second)
        self.inverse_masses = joints.inverse_masses.copy()
        self.inverse_masses[pieces.particles] = 0.0

    def ends(self) -> list[tuple[int, Integers, Integers]]:
        """The sign of a pull at each end, its particles, and their slots."""
        return [
            (sign, self.joints.pairs[k], self.joints.slots[k]) for k, sign in enumerate((1, -1))
        ]

    def spread(self, pulls: Floats, arms: Floats) -> tuple[Floats, Floats, Floats]:
        """How far particles (3, n) go, and force and torque (3, s) on pieces, under pulls (e,)."""
        n, labels, count = len(self.inverse_masses), self.pieces.labels, self.pieces.count
        moved, force, torque = np.zeros((3, n)), np.zeros((3, count)), np.zeros((3, count))
        for sign, particles, slots in self.ends():
            push, on = sign * pulls * self.along, slots >= 0
            moved += sum_rows(particles, push, n)
            piece = labels[slots[on]]
            force += sum_rows(piece, push[:, on], count)
            torque += sum_rows(piece, np.cross(arms[:, slots[on]], push[:, on], axis=0), count)
        return moved * self.inverse_masses, force, torque

    def product(self, pulls: Floats) -> Floats:
        """(e,) how much longer pulls (e,) make edges."""
        moved, force, torque = self.spread(pulls, self.arms)
        turns = np.einsum("sij,js->is", self.inverse_inertia, torque)
        shifts, found = force / self.pieces.totals, np.zeros_like(pulls)
        for sign, particles, slots in self.ends():
            on, at = slots >= 0, moved[:, particles]
            piece, arms = self.pieces.labels[slots[on]], self.arms[:, slots[on]]
            at[:, on] = shifts[:, piece] + np.cross(turns[:, piece], arms, axis=0)
            found += sign * (self.along * at).sum(axis=0)
        return found

    def diagonal(self) -> Floats:
        """(e,) how much longer the pull of 1 along each edge makes it."""
        found = np.zeros(self.along.shape[1])
        for _, particles, slots in self.ends():
            on = slots >= 0
            piece, along = self.pieces.labels[slots[on]], self.along[:, on]
            found += self.inverse_masses[particles] * (self.along * self.along).sum(axis=0)
            lever = np.cross(self.arms[:, slots[on]], along, axis=0)
            turning = np.einsum("ik,kij,jk->k", lever, self.inverse_inertia[piece], lever)
            found[on] += (along * along).sum(axis=0) / self.pieces.totals[piece] + turning
        return found

    def solve(self, lacks: Floats) -> Floats:
        """(e,) pulls that take this much (e,) from edges."""
        diagonal = self.diagonal()
        lightness = inverse(diagonal, diagonal)

        def answer(residual: Floats) -> Floats:
            return np.asarray(lightness * residual)

        def multiply(pulls: Floats) -> Floats:
            return self.product(pulls) + YIELDING * diagonal * pulls

        pulls, residual = np.zeros_like(lacks), np.where(diagonal > 0.0, lacks, 0.0)
        squares = descend(pulls, residual, multiply, answer, CONJUGATE_ROUNDS)
        descend_to(squares, RESIDUAL**2 * next(squares))
        return pulls
