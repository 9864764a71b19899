"""One step of a shell: where its springs, its inertia and what holds it are in balance.

Implicit Euler, x = arg min ½ |x − y|²/h² + E(x) for the positions y that inertia leads to, by
Newton's method. Its matrix changes little from step to step: conjugate gradients need two or three
rounds when they are preconditioned by the matrix of a former moment, turned as the body has turned
since (after M. Müller, M. Gross, *Interactive Virtual Materials*, 2004).
"""

import numpy as np

from ..arrays import NONZERO, Floats, Integers, sum_products, sum_rows
from ..linear.conjugate_gradients import descend, descend_to
from ..linear.rotations import rotations_about, turning_of
from .compiled_kernels import linearize, multiply, precondition
from .system import Factored, ShellSystem, factorized

NEWTON = 20
"""Most rounds of Newton's method in a step; one or two are enough but for impacts."""
RESIDUAL = 1e-2
"""Share of the residual that conjugate gradients leave in a round of Newton's method…"""
SETTLED = 1e-2
"""…and share of the first round's residual below which no further round is made."""
PROGRESS = 1e-3
"""A round that lowers the energy by less than this share is the last."""
CONJUGATE_ROUNDS = 100
"""Most rounds of conjugate gradients."""
EXPECTED, PATIENCE = 8, 200
"""Rounds of conjugate gradients that a solution should take; when they have taken so many more than
that in all, the matrix is factorized anew."""
MOVED = 1e-6
"""What others move by less counts as not moved [m]."""
FOLLOWED = 6
"""Most times in a step that a shell is solved again because others have moved some of it."""
SLIGHT = 1e-3
"""A push that leaves the directions already held by less than this sine holds no further one."""
RELEASES = 2
"""Most times that particles which a contact would draw instead of push are let go."""
ROTATION_ROUNDS = 3
"""Rounds in which rotations are found, from those of the step before."""


def set_out(system: ShellSystem | None, positions: Floats, targets: Floats) -> None:
    """Begins a step of a shell where inertia has led, (3, n); soft pins draw to targets (3, n)."""
    if system is None:
        return
    system.inertial = positions.copy()
    goals, share = system.goals, system.goal_shares
    system.inertial[:, goals] += (targets[:, goals] - positions[:, goals]) * share
    system.freedom[...] = np.eye(3)[:, :, None]
    system.pushes[...] = 0.0
    system.enough, system.solved, system.followed = 0.0, False, 0
    settled(system, positions)


def regain_shape(system: ShellSystem | None, positions: Floats) -> bool:
    """Solves a shell again if others have moved some of it since, (3, n); whether they have.

    What was moved is held along the push for the rest of the step, for that is the direction of the
    force with which something pushes and rubs. Across it the particle stays free.
    """
    if system is None:
        return False
    pushes = positions - system.settled
    touched = np.flatnonzero((np.abs(pushes) > MOVED).any(axis=0))
    if not len(touched) or system.followed == FOLLOWED:
        return False
    system.followed += 1
    _hold(system, touched, pushes[:, touched])
    for _ in range(RELEASES):
        pull = keep_shape(system, positions)
        drawn = np.flatnonzero((pull * system.pushes).sum(axis=0) > 0.0)
        if not len(drawn):
            break
        system.freedom[:, :, drawn] = np.eye(3)[:, :, None]
        system.pushes[:, drawn] = 0.0
    return True


def _hold(system: ShellSystem, touched: Integers, pushes: Floats) -> None:
    """Takes from particles (t,) the freedom to move along pushes (3, t)."""
    freedom = system.freedom[:, :, touched]
    within = (freedom * pushes).sum(axis=1)
    size, whole = (within * within).sum(axis=0), (pushes * pushes).sum(axis=0)
    within *= np.where(size > SLIGHT**2 * whole, 1.0 / np.sqrt(np.maximum(size, NONZERO)), 0.0)
    system.freedom[:, :, touched] = freedom - within[:, None] * within
    system.pushes[:, touched] += pushes


def settled(system: ShellSystem | None, positions: Floats) -> None:
    """Remembers where a shell is, (3, n), to see what others move of it."""
    if system is not None:
        system.settled = positions.copy()


def keep_shape(system: ShellSystem, positions: Floats) -> Floats:
    """Moves particles (3, n) to where the body is in balance; (3, n) forces × h² on them there."""
    lowest = np.inf
    for _ in range(NEWTON):
        pull, energy = _linearized(system, positions)
        if energy > (1.0 - PROGRESS) * lowest:
            break
        lowest = energy
        factored = _fresh(system, positions)
        moves, first = _solved(system, factored, pull)
        if first <= system.enough:
            break
        system.enough = max(system.enough, SETTLED**2 * first)
        positions += moves
    system.solved = True
    settled(system, positions)
    return pull


def _unheld(system: ShellSystem, rows: Floats) -> Floats:
    """(3, n) vectors (3, n) without their parts along directions that are held, and at pins."""
    return np.asarray((system.freedom * rows).sum(axis=1) * (system.masses > 0.0))


def _linearized(system: ShellSystem, positions: Floats) -> tuple[Floats, float]:
    """(3, n) the force of springs and inertia × h², and the energy of both."""
    pull, energy = linearize(system, positions)
    away = system.inertial - positions
    inertia = away * system.masses
    return pull + inertia, energy + 0.5 * float((away * inertia).sum())


def _fresh(system: ShellSystem, positions: Floats) -> Factored:
    """The matrix that serves as preconditioner, and how the body has turned since."""
    if system.factored is None or system.spent > PATIENCE:
        system.factored, system.spent = factorized(system, positions), 0
        system.rotations[...] = np.eye(3)
    else:
        _follow(system, system.factored.positions, positions)
    return system.factored


def _follow(system: ShellSystem, before: Floats, now: Floats) -> None:
    """Turns the parts' rotations towards where positions (3, n) have gone since.

    M. Müller, J. Bender, N. Chentanez, M. Macklin, *A Robust Method to Extract the Rotational Part
    of Deformations* (2016), by quaternions (1, ω/2).
    """
    labels, rotations = system.components, system.rotations
    count, sizes = len(rotations), np.bincount(labels).astype(float)
    arms = before - (sum_rows(labels, before, count) / sizes)[:, labels]
    since = now - (sum_rows(labels, now, count) / sizes)[:, labels]
    products = sum_products(labels, since, arms, count)
    for _ in range(ROTATION_ROUNDS):
        size = np.abs((rotations * products).sum(axis=(1, 2)))
        across = turning_of(np.einsum("cik,cjk->cij", products, rotations))
        further = rotations_about(across / np.maximum(size, NONZERO)[:, None])
        rotations[...] = np.einsum("cij,cjk->cik", further, rotations)


def _solved(system: ShellSystem, factored: Factored, pull: Floats) -> tuple[Floats, float]:
    """(3, n) moves that balance the pull (3, n), and the size of that pull as an energy.

    There are none where the size is no more than `enough`.
    """

    def resist(moves: Floats) -> Floats:
        system.spent += not system.followed  # what is held takes more, however new the matrix is
        return _unheld(system, multiply(system, moves))

    def answer(pull: Floats) -> Floats:
        return _unheld(system, precondition(factored, system.rotations, pull))

    moves, pull = np.zeros_like(pull), _unheld(system, pull)
    squares = descend(moves, pull, resist, answer, CONJUGATE_ROUNDS)
    first = next(squares)
    if first > system.enough:
        descend_to(squares, RESIDUAL**2 * first)
        system.spent = max(system.spent - EXPECTED, 0)
    return moves, first
