"""Shells in NumPy: their springs made linear at some positions, and what that matrix does."""

import numpy as np

from ..arrays import NONZERO, Floats, norms, sum_by
from ..bending.numpy_kernels import hinge_directions
from ..linear import dissection
from .body import CORNERS
from .system import Factored, ShellSystem, angle_slopes, gather


def linearize(system: ShellSystem, positions: Floats) -> tuple[Floats, float]:
    """Sets `slopes` and `bare` for positions (3, n); (3, n) what springs pull, and their energy.

    Gauss and Newton's matrix, of the energy ½ k (|g| − r)²: c cᵀ k (ĝ ĝᵀ + t (I − ĝ ĝᵀ)), with t =
    1 − r/|g| where that is above 0, as tension makes it. All is times h².
    """
    springs = len(system.rests)
    members, n = system.members[:, :springs], positions.shape[1]
    vectors = gather(positions, members, system.coefficients)
    directions = vectors / norms(vectors)
    curved = slice(system.hinges)
    points = positions.take(members[:, curved], axis=1)
    directions[:, curved] = hinge_directions(points, vectors[:, curved], system.rests[curved])
    along = (vectors * directions).sum(axis=0)
    taut = 1.0 - system.rests / np.where(along == 0.0, NONZERO, along)
    taut = np.where(system.rests == 0.0, 1.0, np.clip(taut, 0.0, 1.0))
    system.bare[...] = system.stiffnesses * taut
    misses = vectors - system.rests * directions
    energy = 0.5 * float((system.stiffnesses * (misses * misses).sum(axis=0)).sum())
    directions *= np.sqrt(system.stiffnesses * (1.0 - taut))
    misses *= system.stiffnesses
    system.slopes[:, :, :springs] = system.coefficients[:, None] * directions
    pull = -_scattered(system, misses, system.coefficients, n)
    slopes, cosines = angle_slopes(
        positions, system.members[:, springs:], system.first, system.second
    )
    roots = np.sqrt(system.angle_stiffnesses)
    turned = roots * (cosines - system.angle_rests)
    slopes *= roots
    system.slopes[:, :, springs:] = slopes
    for corner in range(CORNERS):
        for axis in range(3):
            labels = system.members[corner, springs:]
            pull[axis] -= sum_by(labels, slopes[corner, axis] * turned, n)
    return pull, energy + 0.5 * float((turned * turned).sum())


def _scattered(system: ShellSystem, vectors: Floats, coefficients: Floats, n: int) -> Floats:
    """(3, n) vectors (3, s) of springs handed to their members."""
    found = np.zeros((3, n))
    for corner in range(CORNERS):
        labels = system.members[corner, : vectors.shape[1]]
        for axis in range(3):
            found[axis] += sum_by(labels, coefficients[corner] * vectors[axis], n)
    return found


def multiply(system: ShellSystem, moves: Floats) -> Floats:
    """(3, n) (M + h² K) moves (3, n)."""
    n, springs = moves.shape[1], len(system.rests)
    found = moves * system.masses
    felt = np.zeros(system.members.shape[1])
    for corner in range(CORNERS):
        felt += (system.slopes[corner] * moves.take(system.members[corner], axis=1)).sum(axis=0)
    vectors = gather(moves, system.members[:, :springs], system.coefficients) * system.bare
    found += _scattered(system, vectors, system.coefficients, n)
    for corner in range(CORNERS):
        for axis in range(3):
            pull = system.slopes[corner, axis] * felt
            found[axis] += sum_by(system.members[corner], pull, n)
    return found


def precondition(factored: Factored, rotations: Floats, right: Floats) -> Floats:
    """(3, n) R A⁻¹ Rᵀ right: a former matrix, turned as the parts have turned since (c, 3, 3)."""
    turns = rotations[factored.components[factored.free]].transpose(1, 2, 0)
    given = right.take(factored.free, axis=1)
    back = (turns * given[:, None]).sum(axis=0)
    solved = dissection.solve(factored.factors, back.T.reshape(1, -1)).reshape(-1, 3).T
    found = np.zeros_like(right)
    found[:, factored.free] = (turns * solved).sum(axis=1)
    return found
