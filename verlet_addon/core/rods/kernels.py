"""Cosserat rods in NumPy: positions and rotations of segments in one implicit system.

A segment d of rest length L has the energy ½ s · K s with s = d/L − S a: its rotation S turns its
rest direction a, and K is its stiffness against shear and against stretching, so high that only
bends matter. A joint has ½ σ · K σ with σ = 4 tan(θ/4) n, the rotation by θ about n from the parent
segment to this one, and the stiffness K against bending and twisting (E. and F. Cosserat, *Théorie
des corps déformables*, 1909; as elements of positions and rotations: T. Kugelstadt, E. Schömer,
*Position and Orientation Based Cosserat Rods*, 2016). Rotations have no inertia. Lengths are those
of `ropes.kernels`.

One Newton step (M + h² E'') δ = −h² E' is solved from the tips to the root, by blocks of 6 × 6. The
moment of a joint is that of σ + τ/h δσ, with σ at the start of the step: a Kelvin–Voigt damping
with the time constant τ. (An implicit step has δσ alone, as if τ were h.)
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import SHORTEST, Booleans, Floats, Integers, cross, dot, magnitudes, norms
from ..kernel import Sized, kernel
from ..linear.quaternions import (
    conjugate,
    multiply_quaternions,
    quaternion_matrices,
    rotate,
    swing,
)
from ..linear.rotations import cross_matrices
from .angle_limits import (
    Limits,
    add_limits,
    find_chords,
    find_slopes,
    limited_strains,
    limits_after,
    limits_at,
    turned_rotations,
    units,
)
from .rod_batches import NO_LIMIT, SPIN_SHARE, RodBatch
from .rod_trees import Rods, find_levels

MAX_LIMIT_ROUNDS, LIMIT_TOLERANCE = 20, 1e-3
"""Newton steps at most in a time step until joints keep within their angle limits, and segments of
the same rods their lengths; the excess [rad] and strain that end them. With half as many, limp
tails that are thrown about exceed a limit of 0.02 by 0.035 rad in place of 0.001."""


@kernel()
def project_rods(positions: Sized, rest: Floats, rods: RodBatch) -> None:
    """Moves particles and rotations of rods by one Newton step, for rest positions (3, n) [m].

    By a few steps, where angle limits act.
    """
    start = _Start(positions[:, rods.particles], 4.0 * _quarters(rods))
    _turn_clamps(positions, rest, rods)
    chords, _ = find_chords(rest, rods, rods.rotations)
    limits = limits_at(rods, chords, find_slopes(chords))
    solving = np.ones(len(rods.parents), dtype=np.bool_)
    for number in range(MAX_LIMIT_ROUNDS):
        diagonal, coupling, moves = _assemble(positions, rest, rods, start, limits)
        _solve(diagonal, coupling, moves, rods)
        former, limits = limits, limits_after(rest, rods, limits, moves)
        moves[~solving] = 0.0
        np.add.at(positions.T, rods.particles, moves[:, :3])
        rods.rotations[solving] = turned_rotations(rods, moves)[solving]
        solving &= ~_are_kept(positions, rest, rods, former, limits, number)[rods.labels]
        if not solving.any():
            break


def _are_kept(
    positions: Floats, rest: Floats, rods: RodBatch, former: Limits, limits: Limits, number: int
) -> Booleans:
    """(t,) bool, trees that need no further Newton step after the one with this number."""
    chords, _ = find_chords(rest, rods, rods.rotations)
    excess = np.where(limits.acting, chords - rods.limits, -1.0)
    excess, strain = (
        np.maximum.reduceat(each, rods.starts)
        for each in (excess, limited_strains(positions, rods))
    )
    changed = np.logical_or.reduceat(former.acting != limits.acting, rods.starts)
    within = (excess < 0.0) | ((number > 0) & (excess < LIMIT_TOLERANCE))
    has_limits = np.logical_or.reduceat(rods.limits < NO_LIMIT, rods.starts)
    return np.asarray(~has_limits | (~changed & within & (strain < LIMIT_TOLERANCE)))


@dataclass(frozen=True, eq=False)
class _Start:
    """Rods as a step begins."""

    predicted: Floats
    """(3, m) positions after free motion [m]."""
    angles: Floats
    """(3, m) bends and twists σ of joints before clamps turn."""


def _quarters(rods: RodBatch) -> Floats:
    """(3, m) tan(θ/4) n of joints; of roots, without meaning."""
    joints = multiply_quaternions(conjugate(rods.rotations[rods.parents].T), rods.rotations.T)
    joints = np.where(joints[0] < 0.0, -joints, joints)
    return np.asarray(joints[1:] / (1.0 + joints[0]))


def _turn_clamps(positions: Floats, rest: Floats, rods: RodBatch) -> None:
    """Rotates clamps to their pins at `positions` (3, n), by the least rotation along them.

    Where there is a pin beside a clamp's line, its twist is measured by that; otherwise a clamp
    that turns does not twist.
    """
    clamps = np.flatnonzero(rods.clamped)
    if not len(clamps):
        return
    ends, starts = rods.particles[clamps], rods.particles[rods.parents[clamps]]
    beside = rods.references[clamps]
    along = positions[:, ends] - positions[:, starts]
    along = along / norms(along)
    rotations = rods.rotations[clamps].T
    turned = rotate(rotations, units(rest[:, ends] - rest[:, starts]))
    rotations = multiply_quaternions(swing(turned, along), rotations)
    before, now = (
        each - along * dot(along, each)
        for each in (
            rotate(rotations, rest[:, beside] - rest[:, starts]),
            positions[:, beside] - positions[:, starts],
        )
    )
    twists = swing(units(before), units(now))
    twists[:, beside < 0] = [[1.0], [0.0], [0.0], [0.0]]
    rods.rotations[clamps] = multiply_quaternions(twists, rotations).T


def current_rotations(
    rods: Rods | None, former: Floats | None, positions: Floats, rest: Floats
) -> Floats | None:
    """(m, 4) former rotations of the segments of rods or, without any, those at `positions` (3, n).

    There each segment follows its parent's rotation with the least one to its own direction.
    """
    if rods is None or (former is not None and len(former) == len(rods.particles)):
        return former
    rotations = np.tile([1.0, 0.0, 0.0, 0.0], (len(rods.particles), 1))
    for nodes in find_levels(rods.parents)[1:]:
        parents = rods.parents[nodes]
        ends, starts = rods.particles[nodes], rods.particles[parents]
        before = rotations[parents].T
        turned = rotate(before, units(rest[:, ends] - rest[:, starts]))
        along = units(positions[:, ends] - positions[:, starts])
        rotations[nodes] = multiply_quaternions(swing(turned, along), before).T
    return rotations


def _assemble(
    positions: Floats, rest: Floats, rods: RodBatch, start: _Start, limits: Limits
) -> tuple[Floats, Floats, Floats]:
    """Blocks (m, 6, 6) of each node and of each beside its parent, and (m, 6) forces × h²."""
    count = len(rods.parents)
    diagonal, coupling = np.zeros((2, count, 6, 6))
    forces = np.zeros((count, 6))
    _add_shear(positions, rest, rods, diagonal, coupling, forces)
    _add_joints(rest, rods, start, limits, diagonal, coupling, forces)
    free = rods.inverse_masses > 0.0
    turning = (rods.parents >= 0) & ~rods.clamped
    moving = np.repeat(np.stack([free, turning], axis=1), 3, axis=1)
    # What is held neither moves nor passes on.
    coupling *= moving[:, :, None] & moving[rods.parents][:, None, :]
    diagonal *= moving[:, :, None] & moving[:, None, :]
    masses = np.divide(1.0, rods.inverse_masses, out=np.ones(count), where=free)
    diagonal[:, range(3), range(3)] += masses[:, None]
    forces[:, :3] -= masses[:, None] * (positions[:, rods.particles] - start.predicted).T
    diagonal[:, range(3, 6), range(3, 6)] += ~turning[:, None]
    return diagonal, coupling, forces * moving


def _add_shear(
    positions: Floats,
    rest: Floats,
    rods: RodBatch,
    diagonal: Floats,
    coupling: Floats,
    forces: Floats,
) -> None:
    """Adds stiffness and forces of segments that turn away from their rotations, or stretch."""
    nodes = np.flatnonzero((rods.parents >= 0) & ~rods.clamped)
    parents = rods.parents[nodes]
    ends, starts = rods.particles[nodes], rods.particles[parents]
    along = rotate(rods.rotations[nodes].T, units(rest[:, ends] - rest[:, starts]))
    lengths, stiffness = rods.lengths[nodes], rods.shears[nodes]
    strain = (positions[:, ends] - positions[:, starts]) / lengths - along
    straight = (along[:, None] * along).transpose(2, 0, 1)
    plane = np.eye(3) - straight
    pull, axial = stiffness / lengths, rods.axials[nodes] / lengths
    force = pull * strain + (axial - pull) * along * dot(along, strain)
    force, moment = force.T, (stiffness * cross(strain, along)).T
    every = ((pull * plane.T + axial * straight.T) / lengths).T
    turn = pull[:, None, None] * cross_matrices(along.T)
    diagonal[nodes, :3, :3] += every
    diagonal[nodes, :3, 3:] += turn
    diagonal[nodes, 3:, :3] -= turn
    spin = np.where(rods.bends[nodes] > 0.0, 0.0, SPIN_SHARE)
    diagonal[nodes, 3:, 3:] += stiffness[:, None, None] * (plane + spin[:, None, None] * straight)
    coupling[nodes, :3, :3] -= every
    coupling[nodes, 3:, :3] += turn
    forces[nodes, :3] -= force
    forces[nodes, 3:] -= moment
    np.add.at(diagonal[:, :3, :3], parents, every)
    np.add.at(forces[:, :3], parents, force)


def _add_joints(
    rest: Floats,
    rods: RodBatch,
    start: _Start,
    limits: Limits,
    diagonal: Floats,
    coupling: Floats,
    forces: Floats,
) -> None:
    """Adds stiffness and moments of bends and twists."""
    nodes = np.flatnonzero(rods.bends > 0.0)
    if not len(nodes):
        return
    parents = rods.parents[nodes]
    places = rest[:, rods.particles]
    along = units(places[:, nodes] - places[:, parents])
    before = units(places[:, parents] - places[:, rods.parents[parents]])
    axes = along + before
    axes = np.where(magnitudes(axes) > SHORTEST, axes, along)
    moments, stiffness = _joint_moments(rods, nodes, start.angles[:, nodes], units(axes))
    add_limits(rest, rods, nodes, limits, moments, stiffness)
    diagonal[nodes, 3:, 3:] += stiffness
    coupling[nodes, 3:, 3:] -= stiffness
    forces[nodes, 3:] -= moments
    np.add.at(diagonal[:, 3:, 3:], parents, stiffness)
    np.add.at(forces[:, 3:], parents, moments)


def _joint_moments(
    rods: RodBatch, nodes: Integers, start: Floats, axes: Floats
) -> tuple[Floats, Floats]:
    """(j, 3) moments Gᵀ K (σ₀ + τ/h (σ − σ₀)) and (j, 3, 3) stiffnesses τ/h Gᵀ K G, × h².

    G is the derivative of σ by the rotation of the segment. `axes` (3, j) are those of twist at
    rest, and `start` (3, j) is σ₀.
    """
    quarter = _quarters(rods)[:, nodes]  # tan(θ/4) n
    square = dot(quarter, quarter)
    bend, more = rods.bends[nodes], rods.twists[nodes] - rods.bends[nodes]
    slope = (1.0 - square) * np.eye(3)[:, :, None] + 2.0 * quarter[:, None] * quarter
    slope = slope.transpose(2, 0, 1) - 2.0 * cross_matrices(quarter.T)
    elastic = bend * np.eye(3)[:, :, None] + more * axes[:, None] * axes
    elastic = elastic.transpose(2, 0, 1)
    retardations = rods.retardations[nodes]
    angles = start + (4.0 * quarter - start) * retardations
    moments = np.einsum("cji,cjk,kc->ci", slope, elastic, angles)
    stiffness = np.einsum("cji,cjk,ckl->cil", slope, elastic, slope)
    world = quaternion_matrices(rods.rotations[rods.parents[nodes]].T)
    return (
        np.einsum("cij,cj->ci", world, moments),
        retardations[:, None, None] * np.einsum("cij,cjk,clk->cil", world, stiffness, world),
    )


def _solve(diagonal: Floats, coupling: Floats, moves: Floats, rods: RodBatch) -> None:
    """Solves the system in place: `moves` (m, 6) are forces first, then displacements."""
    for level in reversed(rods.levels):
        _invert_positive(diagonal, level)
        inner = level[rods.parents[level] >= 0]
        beside = coupling[inner]
        responses = np.einsum("cij,cjk->cik", diagonal[inner], beside)
        parents = rods.parents[inner]
        np.subtract.at(diagonal, parents, np.einsum("cji,cjk->cik", beside, responses))
        np.subtract.at(moves, parents, np.einsum("cji,cj->ci", responses, moves[inner]))
    for level in rods.levels:
        inner = level[rods.parents[level] >= 0]
        moves[inner] -= np.einsum("cij,cj->ci", coupling[inner], moves[rods.parents[inner]])
        moves[level] = np.einsum("cij,cj->ci", diagonal[level], moves[level])


def _invert_positive(matrices: Floats, which: Integers) -> None:
    """Inverts positive definite matrices (m, 6, 6) in place, by Gauss–Jordan elimination."""
    found = matrices[which]
    for i in range(6):
        pivot = 1.0 / found[:, i, i]
        found[:, i, i] = 1.0
        found[:, i] *= pivot[:, None]
        shares = found[:, :, i].copy()
        shares[:, i] = 0.0
        found[:, [j for j in range(6) if j != i], i] = 0.0
        found -= shares[:, :, None] * found[:, i, None, :]
    matrices[which] = found
