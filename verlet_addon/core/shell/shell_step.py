"""One step of a shell: implicit Euler by Newton's method and conjugate gradients.

x = arg min ½ m |x − y|²/h² + E(x) with the predicted positions y. The matrix changes little from
step to step: conjugate gradients need two or three rounds with a matrix that was factorized in an
earlier step as preconditioner, rotated as the body has rotated since (after M. Müller, M. Gross,
*Interactive Virtual Materials*, 2004). Contacts act as constraints: particles that were
pushed since the last solution cannot move along that push for the rest of the step.
"""

import numpy as np

from ..arrays import NONZERO, Floats, Integers, sum_products, sum_rows
from ..linear.conjugate_gradients import iterate_conjugate_gradients, iterate_until
from ..linear.rotations import portable_rotations
from .kernels import (
    FactoredShell,
    ShellSystem,
    factorize_shell,
    linearize_shell,
    multiply_shell,
    precondition_shell,
)

MAX_SHELL_CG_ROUNDS = 100
"""Maximum rounds of conjugate gradients in a round of Newton's method. With half, shells that fall
on each other lie 30 mm elsewhere, with twice, 15 mm; other shells do not move."""
EXPECTED_CG_ROUNDS, MAX_EXCESS_ROUNDS = 8, 200
"""Rounds of conjugate gradients expected per solution, and rounds in excess of it, summed over
solutions, after which the matrix is factorized again. With half and with twice of the second, a
shell that is pulled flat takes as long, within 15 %; without the limit, 2.6 times as long."""
MIN_PUSH = 1e-6
"""Displacements of particles by contacts up to this are ignored [m]. With half and with twice, only
shells that fall on each other move, by 80 mm."""
MAX_RESOLVES = 6
"""Maximum further solutions in a step after contacts have moved particles. With half, a shell on a
ball stretches by 5.7 % in place of 3.1 %; with twice, it lies 7 mm elsewhere."""
MIN_PUSH_SINE = 1e-3
"""A push adds a constraint if its sine to the directions already constrained exceeds this. With
half, shells that fall on each other lie 17 mm elsewhere, with twice, 9 mm; others do not move."""
MAX_RELEASES = 2
"""Maximum rounds in which constraints are released whose contact force would be adhesive. With
half, a shell on a ball stretches by 5.2 % in place of 3.1 %; twice as many give the same bakes."""


def begin_shell_step(system: ShellSystem, positions: Floats, targets: Floats) -> None:
    """Starts a step at predicted positions (3, n), with targets (3, n) of soft pins [m]."""
    system.predicted = positions.copy()
    goals, share = system.goals, system.goal_shares
    system.predicted[:, goals] += (targets[:, goals] - positions[:, goals]) * share
    system.free_projections[...] = np.eye(3)[:, :, None]
    system.contact_pushes[...] = 0.0
    system.allowed_residual, system.solved, system.resolves = 0.0, False, 0
    record_positions(system, positions)


def solve_after_contacts(system: ShellSystem, positions: Floats) -> bool:
    """Solves again if contacts moved particles from the last solution to `positions` (3, n).

    Moved particles are constrained along their displacement for the rest of the step, as it has the
    direction of the contact force; they stay free across it. Returns True if it solved again.
    """
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
    """Constrains particles (t,) along pushes (3, t), in addition to earlier constraints."""
    free_projections = system.free_projections[:, :, touched]
    within = (free_projections * pushes).sum(axis=1)
    size, whole = (within * within).sum(axis=0), (pushes * pushes).sum(axis=0)
    within *= np.where(
        size > MIN_PUSH_SINE**2 * whole, 1.0 / np.sqrt(np.maximum(size, NONZERO)), 0.0
    )
    system.free_projections[:, :, touched] = free_projections - within[:, None] * within
    system.contact_pushes[:, touched] += pushes


def record_positions(system: ShellSystem, positions: Floats) -> None:
    """Stores positions (3, n) of a solution, from which displacements by contacts are measured."""
    system.solved_positions = positions.copy()


def solve_shell(system: ShellSystem, positions: Floats) -> Floats:
    """Moves particles (3, n) to the solution; returns the unconstrained residual forces × h² there.

    At constrained particles this residual is the negative contact force.
    """
    lowest = np.inf
    for _ in range(20):  # one or two are enough, except in impacts
        pull, energy = _linearize_with_inertia(system, positions)
        if energy > 0.999 * lowest:
            break
        lowest = energy
        factored = _preconditioner(system, positions)
        moves, first = _solve_moves(system, factored, _rotations_since(factored, positions), pull)
        if first <= system.allowed_residual:
            break
        system.allowed_residual = max(system.allowed_residual, 1e-2**2 * first)
        positions += moves
    system.solved = True
    record_positions(system, positions)
    return pull


def _project_free(system: ShellSystem, rows: Floats) -> Floats:
    """(3, n) vectors without components along constrained directions; 0 at pins."""
    return np.asarray((system.free_projections * rows).sum(axis=1) * (system.masses > 0.0))


def _linearize_with_inertia(system: ShellSystem, positions: Floats) -> tuple[Floats, float]:
    """(3, n) forces of springs and inertia × h², and the energy of both × h²."""
    pull, energy = linearize_shell(system, positions)
    away = system.predicted - positions
    inertia = away * system.masses
    return pull + inertia, energy + 0.5 * float((away * inertia).sum())


def _preconditioner(system: ShellSystem, positions: Floats) -> FactoredShell:
    """The factorized preconditioner, renewed if needed."""
    if system.factored is None or system.excess_rounds > MAX_EXCESS_ROUNDS:
        system.factored, system.excess_rounds = factorize_shell(system, positions), 0
    return system.factored


def _rotations_since(factored: FactoredShell, now: Floats) -> Floats:
    """(c, 3, 3) rotation of each component since the factorization, to positions (3, n) [m]."""
    labels, before = factored.components, factored.positions
    sizes = np.bincount(labels).astype(float)
    arms, since = (
        rows - (sum_rows(labels, rows, len(sizes)) / sizes)[:, labels] for rows in (before, now)
    )
    return portable_rotations(sum_products(labels, since, arms, len(sizes)))


def _solve_moves(
    system: ShellSystem, factored: FactoredShell, rotations: Floats, pull: Floats
) -> tuple[Floats, float]:
    """(3, n) moves by conjugate gradients for forces `pull` (3, n), and its square r · P⁻¹ r.

    Moves are 0 where that square is no more than `allowed_residual`.
    """

    def apply_matrix(moves: Floats) -> Floats:
        system.excess_rounds += (
            not system.resolves
        )  # constraints need more rounds, even with a new factorization
        return _project_free(system, multiply_shell(system, moves))

    def apply_preconditioner(pull: Floats) -> Floats:
        return _project_free(system, precondition_shell(factored, rotations, pull))

    moves, pull = np.zeros_like(pull), _project_free(system, pull)
    squares = iterate_conjugate_gradients(
        moves, pull, apply_matrix, apply_preconditioner, MAX_SHELL_CG_ROUNDS
    )
    first = next(squares)
    if first > system.allowed_residual:
        iterate_until(squares, 1e-2**2 * first)
        system.excess_rounds = max(system.excess_rounds - EXPECTED_CG_ROUNDS, 0)
    return moves, first
