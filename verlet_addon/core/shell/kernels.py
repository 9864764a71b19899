"""Linearization of a shell's springs, its matrix product and its preconditioner."""

import numpy as np

from ..arrays import NONZERO, Floats, norms, sum_by
from ..bending.kernels import hinge_directions
from ..kernel import Sized, Struct, kernel
from ..linear import nested_dissection
from .shell_body import MEMBERS
from .shell_system import FactoredShell, ShellSystem, angle_gradients, gather

Struct(
    "shell",
    ShellSystem,
    reads="members coefficients stiffnesses rests hinges first second angle_stiffnesses "
    "angle_rests masses",
    shares="gradients isotropic_stiffnesses",
    particles=(int, lambda system: len(system.masses)),
    springs=(int, lambda system: len(system.rests)),
    angles=(int, lambda system: len(system.angle_rests)),
    scratch={
        "interleaved": lambda system: (2, len(system.masses), 3),
    },
)
Struct(
    "factored_shell",
    FactoredShell,
    reads="free components",
    free_count=(int, lambda factored: len(factored.free)),
    system=(
        nested_dissection.RightSides,
        lambda factored: nested_dissection.RightSides(
            factored.factors, np.zeros((1, factored.factors.size + 1))
        ),
    ),
)


@kernel(result=lambda _, positions: np.empty_like(positions))
def linearize_shell(system: ShellSystem, positions: Floats) -> tuple[Floats, float]:
    """(3, n) forces of springs and angles at positions (3, n), and their energy, both times h².

    Also sets `gradients` and `isotropic_stiffnesses` of the system. Its matrix is the Gauss–Newton
    one of the energy ½ k (|g| − r)², plus the geometric stiffness of tension: c cᵀ k (ĝ ĝᵀ + t (I −
    ĝ ĝᵀ)) with t = max(0, 1 − r/|g|).
    """
    springs = len(system.rests)
    members, n = system.members[:, :springs], positions.shape[1]
    vectors = gather(positions, members, system.coefficients)
    directions = vectors / norms(vectors)
    curved = slice(system.hinges)
    points = positions.take(members[:, curved], axis=1)
    directions[:, curved] = hinge_directions(points, vectors[:, curved], system.rests[curved])
    along = (vectors * directions).sum(axis=0)
    tension_shares = 1.0 - system.rests / np.where(along == 0.0, NONZERO, along)
    tension_shares = np.where(system.rests == 0.0, 1.0, np.clip(tension_shares, 0.0, 1.0))
    system.isotropic_stiffnesses[...] = system.stiffnesses * tension_shares
    violations = vectors - system.rests * directions
    energy = 0.5 * float((system.stiffnesses * (violations * violations).sum(axis=0)).sum())
    directions *= np.sqrt(system.stiffnesses * (1.0 - tension_shares))
    violations *= system.stiffnesses
    system.gradients[:, :, :springs] = system.coefficients[:, None] * directions
    pull = -_scattered(system, violations, system.coefficients, n)
    gradients, cosines = angle_gradients(
        positions, system.members[:, springs:], system.first, system.second
    )
    roots = np.sqrt(system.angle_stiffnesses)
    turned = roots * (cosines - system.angle_rests)
    gradients *= roots
    system.gradients[:, :, springs:] = gradients
    for corner in range(MEMBERS):
        for axis in range(3):
            labels = system.members[corner, springs:]
            pull[axis] -= sum_by(labels, gradients[corner, axis] * turned, n)
    return pull, energy + 0.5 * float((turned * turned).sum())


def _scattered(system: ShellSystem, vectors: Floats, coefficients: Floats, n: int) -> Floats:
    """(3, n) sums of coefficient × vector (3, s) of springs at their members."""
    totals = np.zeros((3, n))
    for corner in range(MEMBERS):
        labels = system.members[corner, : vectors.shape[1]]
        for axis in range(3):
            totals[axis] += sum_by(labels, coefficients[corner] * vectors[axis], n)
    return totals


@kernel(result=lambda _, moves: np.empty_like(moves))
def multiply_shell(system: ShellSystem, moves: Floats) -> Floats:
    """(3, n) product of the linearized matrix M + h² K with moves (3, n)."""
    n, springs = moves.shape[1], len(system.rests)
    product = moves * system.masses
    products = np.zeros(system.members.shape[1])
    for corner in range(MEMBERS):
        products += (system.gradients[corner] * moves.take(system.members[corner], axis=1)).sum(
            axis=0
        )
    vectors = (
        gather(moves, system.members[:, :springs], system.coefficients)
        * system.isotropic_stiffnesses
    )
    product += _scattered(system, vectors, system.coefficients, n)
    for corner in range(MEMBERS):
        for axis in range(3):
            pull = system.gradients[corner, axis] * products
            product[axis] += sum_by(system.members[corner], pull, n)
    return product


@kernel(result=lambda _, __, right: np.empty_like(right))
def precondition_shell(factored: FactoredShell, rotations: Floats, right: Sized) -> Floats:
    """(3, n) R A⁻¹ Rᵀ right for an earlier matrix A, with rotations R (c, 3, 3) since then.

    Without the rotations, a shell that turns would need a new factorization in each step.
    """
    rotated = rotations[factored.components[factored.free]].transpose(1, 2, 0)
    given = right.take(factored.free, axis=1)
    back = (rotated * given[:, None]).sum(axis=0)
    solved = nested_dissection.solve(factored.factors, back.T.reshape(1, -1)).reshape(-1, 3).T
    solution = np.zeros_like(right)
    solution[:, factored.free] = (rotated * solved).sum(axis=1)
    return solution
