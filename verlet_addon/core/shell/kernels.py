"""The springs of a shell for one h², their linearized matrix M + h² K, and its factorization."""

from dataclasses import dataclass

import numpy as np

from ..arrays import NONZERO, Floats, Integers, concatenated, inverse, magnitudes, norms, sum_by
from ..bending.kernels import gather_bends, hinge_directions
from ..bending.stencil_batches import Springs
from ..bending.stiff_bends import assemble_symmetric
from ..kernel import Sized, Struct, kernel
from ..linear import nested_dissection
from ..linear.nested_dissection import Factors, factorize
from .shell_body import MEMBERS, Shell, ShellAngles

MIN_STIFF_RATIO = 0.3
"""Smallest ratio h² × mobility / compliance of a stiff hinge (see bending.stiff_bends). Sequential
projection lets half a tube droop seven times too far at 1.6, and hardly too far at 0.1."""
SHELL_REGULARIZATION = 1e-5
"""Smallest scaled compliance of a spring, as a share of its mobility. With half, a shell on a ball
stretches by 4.3 % in place of 3.1 %; with twice, by 2.5 %."""


@dataclass(frozen=True, eq=False)
class FactoredShell:
    """The factorized matrix at earlier positions."""

    factors: Factors
    """Cholesky factors; unknown 3 i + axis belongs to the free particle `free[i]`."""
    free: Integers
    """(f,) numbers of free particles."""
    components: Integers
    """(n,) connected component of each particle, from 0."""
    positions: Floats
    """(3, n) positions for which the matrix was computed [m]."""


@dataclass(eq=False)
class ShellSystem:
    """The s springs and a angles of a shell of n particles for one h², and its step's state."""

    members: Integers
    """(4, s + a) particles of springs, followed by those of angles."""
    coefficients: Floats
    """(4, s) coefficients of springs, see `Springs`."""
    stiffnesses: Floats
    """(s,) h² / compliance."""
    rests: Floats
    """(s,) see `Springs`."""
    hinges: int
    """Number of hinges with a rest angle, which are the first springs."""
    first: Floats
    """(4, a) coefficients of the first vector of each angle."""
    second: Floats
    """(4, a) coefficients of the second vector of each angle."""
    angle_stiffnesses: Floats
    """(a,) h² / compliance."""
    angle_rests: Floats
    """(a,) cos φ at rest."""
    masses: Floats
    """(n,) masses, plus h² × stiffness of soft pins; 0 for pinned particles [kg]."""
    goals: Integers
    """(g,) softly pinned particles."""
    goal_shares: Floats
    """(g,) share of the soft pins' springs in `masses`."""
    components: Integers
    """(n,) connected component of each particle, from 0."""
    free: Integers
    """(f,) particles that are not pinned."""
    gradients: Floats
    """(4, 3, s + a) gradients g of springs and angles at their members × √stiffness. With
    coefficients c, h² K = Σ g gᵀ + isotropic stiffness · c cᵀ; set by `linearize`."""
    isotropic_stiffnesses: Floats
    """(s,) stiffness that is equal in all directions: all of it for springs with rest 0, else the
    geometric stiffness of tension."""
    predicted: Floats
    """(3, n) positions after inertia, forces and soft pins, without springs [m]."""
    solved_positions: Floats
    """(3, n) positions of the last solution [m]."""
    free_projections: Floats
    """(3, 3, n) projection of each particle's motion on directions without contact constraints."""
    contact_pushes: Floats
    """(3, n) sum of displacements by contacts in this step [m]."""
    solved: bool = False
    """True after the first solution in this step."""
    resolves: int = 0
    """Number of further solutions in this step, after contacts moved particles."""
    allowed_residual: float = 0.0
    """Square r · P⁻¹ r of the residual at which Newton's method ends in this step [kg m²]."""
    factored: FactoredShell | None = None
    """The preconditioner; None before the first solution."""
    excess_rounds: int = 0
    """Rounds of conjugate gradients in excess of those expected since the factorization."""


def shell_system(
    shell: Shell,
    inverse_masses: Floats,
    h_squared: float,
    goals: Integers,
    goal_compliances: Floats,
) -> ShellSystem | None:
    """The system for one h² [s²]; None where most hinges are soft enough for sequential projection.

    Parameters
    ----------
    inverse_masses : (n,) [1/kg].
    goals, goal_compliances : (g,) softly pinned particles, and compliances of their springs [m/N].
    """
    if not is_stiff(shell, inverse_masses, h_squared):
        return None
    angles, n = shell.angles, len(inverse_masses)
    springs = concatenated(shell.bends, shell.lengths)
    rates = angle_gradients(shell.positions, angles.members.T, angles.first.T, angles.second.T)[0]
    masses = inverse(inverse_masses, inverse_masses)
    masses[goals] += h_squared / goal_compliances
    return ShellSystem(
        members=np.ascontiguousarray(np.concatenate([springs.members, angles.members]).T),
        coefficients=np.ascontiguousarray(springs.coefficients.T),
        stiffnesses=_stiffnesses(springs, springs.coefficients.T**2, inverse_masses, h_squared),
        rests=springs.rests,
        hinges=shell.hinges,
        first=np.ascontiguousarray(angles.first.T),
        second=np.ascontiguousarray(angles.second.T),
        angle_stiffnesses=_stiffnesses(angles, (rates**2).sum(axis=1), inverse_masses, h_squared),
        angle_rests=angles.rests,
        masses=masses,
        goals=goals,
        goal_shares=h_squared / goal_compliances / masses[goals],
        components=shell.components,
        free=np.flatnonzero(inverse_masses > 0.0),
        gradients=np.zeros((MEMBERS, 3, len(springs.rests) + len(angles.rests))),
        isotropic_stiffnesses=np.zeros(len(springs.rests)),
        predicted=np.zeros((3, n)),
        solved_positions=np.zeros((3, n)),
        free_projections=np.zeros((3, 3, n)),
        contact_pushes=np.zeros((3, n)),
    )


def is_stiff(shell: Shell, inverse_masses: Floats, h_squared: float) -> bool:
    """True if most hinges with a rest angle have a stiffness ratio above MIN_STIFF_RATIO."""
    bends, curved = shell.bends, slice(shell.hinges)
    mobility = inverse_masses[bends.members[curved]] * bends.coefficients[curved] ** 2
    stiff = h_squared * mobility.sum(axis=1) > MIN_STIFF_RATIO * bends.compliances[curved]
    return bool(2 * np.count_nonzero(stiff) > np.count_nonzero(mobility.any(axis=1)))


def _stiffnesses(
    springs: Springs | ShellAngles, squares: Floats, inverse_masses: Floats, h_squared: float
) -> Floats:
    """(k,) h² / compliance, bounded by regularization; `squares` (4, k) are those of gradients."""
    mobility = np.asarray((inverse_masses[springs.members.T] * squares).sum(axis=0))
    least = SHELL_REGULARIZATION * mobility
    return inverse(np.maximum(springs.compliances / h_squared, least), mobility)


def gather(positions: Floats, members: Integers, coefficients: Floats) -> Floats:
    """(3, k) vectors Σ coefficient · x over members, both (4, k), at positions (3, n)."""
    return gather_bends(positions, members.ravel(), coefficients)[1]


def angle_gradients(
    positions: Floats, members: Integers, first: Floats, second: Floats
) -> tuple[Floats, Floats]:
    """(4, 3, a) gradients of cos φ at each member, and (a,) cos φ; see `ShellAngles`."""
    one, other = gather(positions, members, first), gather(positions, members, second)
    sizes = [np.maximum(magnitudes(row), NONZERO) for row in (one, other)]
    one /= sizes[0]
    other /= sizes[1]
    cosines = (one * other).sum(axis=0)
    by_one = (other - cosines * one) / sizes[0]
    by_other = (one - cosines * other) / sizes[1]
    gradients = first[:, None] * by_one + second[:, None] * by_other
    return np.asarray(gradients), np.asarray(cosines)


def factorize_shell(system: ShellSystem, positions: Floats) -> FactoredShell:
    """Factorizes the matrix that `linearize` has set for positions (3, n)."""
    number = np.full(len(system.masses), -1)
    number[system.free] = np.arange(len(system.free))
    ends = number[system.members]
    every_row, every_column, values = [], [], []
    for i, j in np.ndindex(MEMBERS, MEMBERS):
        isotropic = np.zeros(len(ends[i]))
        isotropic[: len(system.isotropic_stiffnesses)] = (
            system.isotropic_stiffnesses * system.coefficients[i] * system.coefficients[j]
        )
        for x, y in np.ndindex(3, 3):
            rows, columns = 3 * ends[i] + x, 3 * ends[j] + y
            upper = rows <= columns
            product = system.gradients[i, x] * system.gradients[j, y] + isotropic * (x == y)
            every_row.append(rows[upper])
            every_column.append(columns[upper])
            values.append(product[upper])
    elements = map(np.concatenate, (every_row, every_column, values))
    pairs, couplings, diagonal = assemble_symmetric(3 * len(system.free), *elements)
    diagonal += np.repeat(system.masses[system.free], 3)
    factors = factorize(np.repeat(positions.T[system.free], 3, axis=0), pairs, couplings, diagonal)
    return FactoredShell(factors, system.free, system.components, positions.copy())


Struct(
    "shell",
    ShellSystem,
    reads="members coefficients stiffnesses rests hinges first second angle_stiffnesses "
    "angle_rests masses",
    shares="gradients isotropic_stiffnesses",
    particles=(int, lambda system: len(system.masses)),
    springs=(int, lambda system: len(system.rests)),
    angles=(int, lambda system: len(system.angle_rests)),
    scratch={"interleaved": lambda system: (2, len(system.masses), 3)},
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
