"""The springs of a shell ready for one h², and their matrix M + h² K as positions give it."""

from dataclasses import dataclass

import numpy as np

from ..arrays import NONZERO, Floats, Integers, concatenated, inverse, magnitudes, sum_by
from ..linear.nested_dissection import Factors, factorize
from .shell_body import MEMBERS, Shell, ShellAngles, ShellSprings

MIN_STIFF_RATIO = 0.3
"""From this ratio of stiffness on (see bending.stiff_bends) a hinge is stiff. Half a tube that is
relaxed in turn droops seven times too far at 1.6; at 0.1, hardly too far."""
SHELL_REGULARIZATION = 1e-5
"""Least compliance of a spring, as a share of its mobility."""


@dataclass(frozen=True, eq=False)
class FactoredShell:
    """The matrix of a moment in the past, factorized."""

    factors: Factors
    """Of the unknowns 3 × number + axis of the free particles."""
    free: Integers
    """(f,) those particles."""
    components: Integers
    """(n,) label of each connected part, from 0."""
    positions: Floats
    """(3, n) at that moment [m]."""


@dataclass(eq=False)
class ShellSystem:
    """The springs of a shell, ready for one h²."""

    members: Integers
    """(4, s + a) of springs, and then of angles."""
    coefficients: Floats
    """(4, s)"""
    stiffnesses: Floats
    """(s,) 1 / scaled compliance."""
    rests: Floats
    """(s,)"""
    hinges: int
    """How many springs are hinges with a rest angle: the first."""
    first: Floats
    """(4, a) coefficients of one vector of each angle…"""
    second: Floats
    """(4, a) …and of the other."""
    angle_stiffnesses: Floats
    """(a,)"""
    angle_rests: Floats
    """(a,)"""
    masses: Floats
    """(n,) and the springs of soft pins with them, times h²; 0 where pinned [kg]."""
    goals: Integers
    """(g,) particles that are softly pinned."""
    goal_shares: Floats
    """(g,) what their springs have of those masses."""
    components: Integers
    """(n,) label of each connected part, from 0."""
    free: Integers
    """(f,) particles that are not pinned."""
    gradients: Floats
    """(4, 3, s + a) K = Σ slope slopeᵀ + bare · coefficient coefficientᵀ, as `linearize` has it."""
    isotropic_stiffnesses: Floats
    """(s,) stiffness in every direction: of what is straight at rest, or under tension."""
    predicted: Floats
    """(3, n) where particles would be without springs at the step's end [m]."""
    solved_positions: Floats
    """(3, n) where they were when last solved for [m]."""
    free_projections: Floats
    """(3, 3, n) projections on directions in which contacts do not hold particles in this step."""
    contact_pushes: Floats
    """(3, n) how far contacts have pushed them in this step, all together [m]."""
    rotations: Floats
    """(c, 3, 3) of the parts since the matrix was factorized."""
    solved: bool = False
    """Whether it has been solved in this step."""
    resolves: int = 0
    """How often it has been solved again in this step because others moved some of it."""
    allowed_residual: float = 0.0
    """Size of the residual that may be left in this step [kg m²]."""
    factored: FactoredShell | None = None
    excess_rounds: int = 0
    """Rounds of conjugate gradients beyond those expected since the matrix was factorized."""


def shell_system(
    shell: Shell,
    inverse_masses: Floats,
    h_squared: float,
    goals: Integers,
    goal_compliances: Floats,
) -> ShellSystem | None:
    """The springs for one h² [s²], or None where most hinges are soft enough to be relaxed in turn.

    Parameters
    ----------
    inverse_masses : (n,)
    goals, goal_compliances : (g,) softly pinned particles, and how soft [m/N].
    """
    if not _is_stiff(shell, inverse_masses, h_squared):
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
        rotations=np.tile(np.eye(3), (int(shell.components.max()) + 1, 1, 1)),
    )


def _is_stiff(shell: Shell, inverse_masses: Floats, h_squared: float) -> bool:
    """Whether most hinges with a rest angle decide where their particles are in a step."""
    bends, curved = shell.bends, slice(shell.hinges)
    mobility = inverse_masses[bends.members[curved]] * bends.coefficients[curved] ** 2
    stiff = h_squared * mobility.sum(axis=1) > MIN_STIFF_RATIO * bends.compliances[curved]
    return bool(2 * np.count_nonzero(stiff) > np.count_nonzero(mobility.any(axis=1)))


def _stiffnesses(
    springs: ShellSprings | ShellAngles, squares: Floats, inverse_masses: Floats, h_squared: float
) -> Floats:
    """(k,) h² / compliance, of what changes with its members by such squares (4, k)."""
    mobility = np.asarray((inverse_masses[springs.members.T] * squares).sum(axis=0))
    least = SHELL_REGULARIZATION * mobility
    return inverse(np.maximum(springs.compliances / h_squared, least), mobility)


def gather(positions: Floats, members: Integers, coefficients: Floats) -> Floats:
    """(3, k) vectors Σ coefficient · x of members (4, k)."""
    vectors: Floats = positions.take(members[0], axis=1) * coefficients[0]
    for k in range(1, MEMBERS):
        vectors += positions.take(members[k], axis=1) * coefficients[k]
    return vectors


def angle_gradients(
    positions: Floats, members: Integers, first: Floats, second: Floats
) -> tuple[Floats, Floats]:
    """(4, 3, a) how cos φ changes with each member, and (a,) cos φ."""
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
    """The matrix as it was made ready for positions (3, n), factorized."""
    count = 3 * len(system.free)
    number = np.full(len(system.masses), -1)
    number[system.free] = np.arange(len(system.free))
    ends = number[system.members]
    element_keys, values = [], []
    for i, j in np.ndindex(MEMBERS, MEMBERS):
        both = (ends[i] >= 0) & (ends[j] >= 0)
        rows, columns = 3 * ends[i, both], 3 * ends[j, both]
        isotropic_stiffnesses = np.zeros(len(both))
        isotropic_stiffnesses[: len(system.isotropic_stiffnesses)] = (
            system.isotropic_stiffnesses * system.coefficients[i] * system.coefficients[j]
        )
        for x, y in np.ndindex(3, 3):
            product = system.gradients[i, x] * system.gradients[j, y] + (
                isotropic_stiffnesses if x == y else 0.0
            )
            upper = rows + x <= columns + y
            element_keys.append((rows[upper] + x) * count + columns[upper] + y)
            values.append(product[both][upper])
    keys, place = np.unique(np.concatenate(element_keys), return_inverse=True)
    elements = sum_by(place.reshape(-1), np.concatenate(values), len(keys))
    first, second = np.divmod(keys, count)
    same = first == second
    diagonal = np.repeat(system.masses[system.free], 3)
    diagonal[first[same]] += elements[same]
    points = np.repeat(positions.T[system.free], 3, axis=0)
    pairs = np.stack([first, second], axis=1)[~same]
    factors = factorize(points, pairs, elements[~same], diagonal)
    return FactoredShell(factors, system.free, system.components, positions.copy())
