"""One step of a shell: where its springs, its inertia and what holds it are in balance.

Implicit Euler, x = arg min ½ |x − y|²/h² + E(x) for the positions y that inertia leads to, by
Newton's method. Its matrix changes little from step to step: conjugate gradients need two or three
rounds when they are preconditioned by the matrix of a former moment, turned as the body has turned
since (after M. Müller, M. Gross, *Interactive Virtual Materials*, 2004).
"""

import numpy as np

from ..arrays import NONZERO, Floats, Integers, sum_products, sum_rows
from ..linear.conjugate_gradients import iterate_conjugate_gradients, iterate_until
from ..linear.rotations import axial_vectors, rotations_about
from .compiled_kernels import linearize, multiply, precondition
from .shell_system import FactoredShell, ShellSystem, factorize_shell

MAX_NEWTON_ROUNDS = 20
"""Most rounds of Newton's method in a step; one or two are enough but for impacts."""
SHELL_RESIDUAL = 1e-2
"""Share of the residual that conjugate gradients leave in a round of Newton's method…"""
NEWTON_RESIDUAL_SHARE = 1e-2
"""…and share of the first round's residual below which no further round is made."""
MIN_ENERGY_DECREASE = 1e-3
"""A round that lowers the energy by less than this share is the last."""
MAX_SHELL_CG_ROUNDS = 100
"""Most rounds of conjugate gradients."""
EXPECTED_CG_ROUNDS, MAX_EXCESS_ROUNDS = 8, 200
"""Rounds of conjugate gradients that a solution should take; when they have taken so many more than
that in all, the matrix is factorized anew."""
MIN_PUSH = 1e-6
"""What others move by less counts as not moved [m]."""
MAX_RESOLVES = 6
"""Most times in a step that a shell is solved again because others have moved some of it."""
MIN_PUSH_SINE = 1e-3
"""A push that leaves the directions already held by less than this sine holds no further one."""
MAX_RELEASES = 2
"""Most times that particles which a contact would draw instead of push are let go."""
SHELL_ROTATION_ROUNDS = 3
"""Rounds in which rotations are found, from those of the step before."""


def begin_shell_step(system: ShellSystem | None, positions: Floats, targets: Floats) -> None:
    """Begins a step of a shell where inertia has led, (3, n); soft pins draw to targets (3, n)."""
    if system is None:
        return
    system.predicted = positions.copy()
    goals, share = system.goals, system.goal_shares
    system.predicted[:, goals] += (targets[:, goals] - positions[:, goals]) * share
    system.free_projections[...] = np.eye(3)[:, :, None]
    system.contact_pushes[...] = 0.0
    system.allowed_residual, system.solved, system.resolves = 0.0, False, 0
    record_positions(system, positions)


def solve_after_contacts(system: ShellSystem | None, positions: Floats) -> bool:
    """Solves a shell again if others have moved some of it since, (3, n); whether they have.

    What was moved is held along the push for the rest of the step, for that is the direction of the
    force with which something pushes and rubs. Across it the particle stays free.
    """
    if system is None:
        return False
    pushes = positions - system.solved_positions
    touched = np.flatnonzero((np.abs(pushes) > MIN_PUSH).any(axis=0))
    if not len(touched) or system.resolves == MAX_RESOLVES:
        return False
    system.resolves += 1
    _constrain(system, touched, pushes[:, touched])
    for _ in range(MAX_RELEASES):
        pull = solve_shell(system, positions)
        pulled = np.flatnonzero((pull * system.contact_pushes).sum(axis=0) > 0.0)
        if not len(pulled):
            break
        system.free_projections[:, :, pulled] = np.eye(3)[:, :, None]
        system.contact_pushes[:, pulled] = 0.0
    return True


def _constrain(system: ShellSystem, touched: Integers, pushes: Floats) -> None:
    """Takes from particles (t,) the freedom to move along pushes (3, t)."""
    free_projections = system.free_projections[:, :, touched]
    within = (free_projections * pushes).sum(axis=1)
    size, whole = (within * within).sum(axis=0), (pushes * pushes).sum(axis=0)
    within *= np.where(
        size > MIN_PUSH_SINE**2 * whole, 1.0 / np.sqrt(np.maximum(size, NONZERO)), 0.0
    )
    system.free_projections[:, :, touched] = free_projections - within[:, None] * within
    system.contact_pushes[:, touched] += pushes


def record_positions(system: ShellSystem | None, positions: Floats) -> None:
    """Remembers where a shell is, (3, n), to see what others move of it."""
    if system is not None:
        system.solved_positions = positions.copy()


def solve_shell(system: ShellSystem, positions: Floats) -> Floats:
    """Moves particles (3, n) to where the body is in balance; (3, n) forces × h² on them there."""
    lowest = np.inf
    for _ in range(MAX_NEWTON_ROUNDS):
        pull, energy = _linearize_with_inertia(system, positions)
        if energy > (1.0 - MIN_ENERGY_DECREASE) * lowest:
            break
        lowest = energy
        factored = _preconditioner(system, positions)
        moves, first = _solve_moves(system, factored, pull)
        if first <= system.allowed_residual:
            break
        system.allowed_residual = max(system.allowed_residual, NEWTON_RESIDUAL_SHARE**2 * first)
        positions += moves
    system.solved = True
    record_positions(system, positions)
    return pull


def _project_free(system: ShellSystem, rows: Floats) -> Floats:
    """(3, n) vectors (3, n) without their parts along directions that are held, and at pins."""
    return np.asarray((system.free_projections * rows).sum(axis=1) * (system.masses > 0.0))


def _linearize_with_inertia(system: ShellSystem, positions: Floats) -> tuple[Floats, float]:
    """(3, n) the force of springs and inertia × h², and the energy of both."""
    pull, energy = linearize(system, positions)
    away = system.predicted - positions
    inertia = away * system.masses
    return pull + inertia, energy + 0.5 * float((away * inertia).sum())


def _preconditioner(system: ShellSystem, positions: Floats) -> FactoredShell:
    """The matrix that serves as preconditioner, and how the body has turned since."""
    if system.factored is None or system.excess_rounds > MAX_EXCESS_ROUNDS:
        system.factored, system.excess_rounds = factorize_shell(system, positions), 0
        system.rotations[...] = np.eye(3)
    else:
        _update_rotations(system, system.factored.positions, positions)
    return system.factored


def _update_rotations(system: ShellSystem, before: Floats, now: Floats) -> None:
    """Turns the parts' rotations towards where positions (3, n) have gone since.

    M. Müller, J. Bender, N. Chentanez, M. Macklin, *A Robust Method to Extract the Rotational Part
    of Deformations* (2016), by quaternions (1, ω/2).
    """
    labels, rotations = system.components, system.rotations
    count, sizes = len(rotations), np.bincount(labels).astype(float)
    arms = before - (sum_rows(labels, before, count) / sizes)[:, labels]
    since = now - (sum_rows(labels, now, count) / sizes)[:, labels]
    products = sum_products(labels, since, arms, count)
    for _ in range(SHELL_ROTATION_ROUNDS):
        size = np.abs((rotations * products).sum(axis=(1, 2)))
        across = axial_vectors(np.einsum("cik,cjk->cij", products, rotations))
        further = rotations_about(across / np.maximum(size, NONZERO)[:, None])
        rotations[...] = np.einsum("cij,cjk->cik", further, rotations)


def _solve_moves(
    system: ShellSystem, factored: FactoredShell, pull: Floats
) -> tuple[Floats, float]:
    """(3, n) moves that balance the pull (3, n), and the size of that pull as an energy.

    There are none where the size is no more than `allowed_residual`.
    """

    def apply_matrix(moves: Floats) -> Floats:
        system.excess_rounds += (
            not system.resolves
        )  # what is held takes more, however new the matrix is
        return _project_free(system, multiply(system, moves))

    def apply_preconditioner(pull: Floats) -> Floats:
        return _project_free(system, precondition(factored, system.rotations, pull))

    moves, pull = np.zeros_like(pull), _project_free(system, pull)
    squares = iterate_conjugate_gradients(
        moves, pull, apply_matrix, apply_preconditioner, MAX_SHELL_CG_ROUNDS
    )
    first = next(squares)
    if first > system.allowed_residual:
        iterate_until(squares, SHELL_RESIDUAL**2 * first)
        system.excess_rounds = max(system.excess_rounds - EXPECTED_CG_ROUNDS, 0)
    return moves, first
