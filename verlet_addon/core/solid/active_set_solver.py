"""Solution for stress, pins and contacts of solids as one linear system.

Stress does not resist rigid modes, so that in a stiff body conjugate gradients converge to them
last. The preconditioner solves for them directly, as a coarse correction: only masses, pins and
contacts resist them.
"""

from dataclasses import dataclass

import numpy as np

from ..arrays import (
    NONZERO,
    Floats,
    Integers,
    apply_matrices,
    cofactors,
    dot,
    magnitudes,
    sum_by,
    sum_rows,
)
from ..kernel import kernel
from ..linear.conjugate_gradients import iterate_conjugate_gradients
from .kernels import interpolate, scatter_to_nodes, stiffness_product
from .linear_system import PointContacts, SolidSystem, SolverTolerance


@dataclass(frozen=True, eq=False)
class RigidModes:
    """The rigid modes of k free components of m nodes."""

    components: Integers
    """(m,) free component of each node, from 0; −1 = none."""
    motions: Floats
    """(3, 6, m) displacement of each node by each rigid mode of its component."""
    inverses: Floats
    """(k, 6, 6) inverses of the system's matrix, restricted to the modes of each component."""

    def correction(self, forces: Floats) -> Floats:
        """(3, m) displacement of nodes in rigid modes by forces × h² (3, m) [m]."""
        count = len(self.inverses)
        own = np.flatnonzero(self.components >= 0)
        corrections, labels = np.zeros_like(forces), self.components[own]
        motions = self.motions[:, :, own]
        along = sum_rows(labels, (motions * forces[:, None, own]).sum(axis=0), count)
        moved = np.einsum("kij,jk->ik", self.inverses, along)
        corrections[:, own] = (motions * moved[:, labels]).sum(axis=1)
        return corrections


def find_rigid_modes(
    components: Integers, masses: Floats, nodes: Floats, stopped: tuple[Integers, Floats, Floats]
) -> RigidModes:
    """The rigid modes of free components, and their resistance.

    Parameters
    ----------
    components, masses, nodes : (m,), (m,) [kg] and positions (3, m) [m] of nodes.
    stopped : components (p,), positions (3, p) and stiffnesses × h² (p, 3, 3) of springs.
    """
    count = int(components.max(initial=-1)) + 1
    own = np.flatnonzero(components >= 0)
    labels, weights = components[own], masses[own]
    centres = sum_rows(labels, weights * nodes[:, own], count) / sum_by(labels, weights, count)
    motions = np.zeros((3, 6, len(components)))
    motions[:, :, own] = _motions(nodes[:, own] - centres[:, labels])
    opposed = np.zeros((count, 6, 6))
    moving = motions[:, :, own]
    np.add.at(opposed, labels, np.einsum("n,ain,ajn->nij", weights, moving, moving))
    in_contact = np.flatnonzero(stopped[0] >= 0)
    labels, stiffnesses = stopped[0][in_contact], stopped[2][in_contact]
    moving = _motions(stopped[1][:, in_contact] - centres[:, labels])
    np.add.at(opposed, labels, np.einsum("ain,nab,bjn->nij", moving, stiffnesses, moving))
    return RigidModes(components, motions, _invert_six(opposed))


def _motions(arms: Floats) -> Floats:
    """(3, 6, n) displacements by the six modes at arms (3, n) from a component's centre of mass."""
    x, y, z = arms
    motions = np.zeros((3, 6, arms.shape[1]))
    motions[range(3), range(3)] = 1.0
    motions[0, 4], motions[0, 5] = z, -y
    motions[1, 3], motions[1, 5] = -z, x
    motions[2, 3], motions[2, 4] = y, -x
    return motions


def _invert_six(matrices: Floats) -> Floats:
    """(k, 6, 6) inverses of positive definite matrices, by Gauss–Jordan elimination."""
    inverses = matrices.copy()
    for i in range(6):
        pivots = 1.0 / inverses[:, i, i]
        inverses[:, i, i] = 1.0
        inverses[:, i] *= pivots[:, None]
        for j in set(range(6)) - {i}:
            shares = inverses[:, j, i].copy()
            inverses[:, j, i] = 0.0
            inverses[:, j] -= shares[:, None] * inverses[:, i]
    return inverses


MAX_ACTIVE_SET_CHANGES = 6
"""Maximum updates of the active set (touching contacts and sliding contacts) in a solution. With
half, a rubber ball that bounces lies 79 mm elsewhere; with twice, jelly on a ball 2 mm."""
ACTIVE_SET_TOLERANCE = 0.05
"""The active set has converged when contact and friction forces change by less than this share of
the sum of contact forces; the next step solves for the rest. Half and twice as much pass the same
tests."""
MAX_SOLID_CG_ROUNDS = 400
"""Most rounds of conjugate gradients; about ten are usual, more for stiff bodies in long steps."""


@dataclass(frozen=True, eq=False)
class ActiveSprings:
    """Springs of pins and active contacts, for one active set."""

    points: Integers
    """(k,) points of the embedding."""
    stiffnesses: Floats
    """(k, 3, 3) symmetric stiffnesses × h² [kg]."""
    forces: Floats
    """(k, 3) forces at the predicted points × h² [kg m]."""


@kernel()
def solve_contacts(
    system: SolidSystem, right: Floats, moves: Floats, tolerance: SolverTolerance
) -> None:
    """Solves for the moves (3, m) and contact forces, with an active-set method.

    The active set and the moves are solved alternately, until contacts only push, and friction
    obeys Coulomb's law.

    Parameters
    ----------
    right : (3, m) right side of the system, without springs [kg m].
    moves : (3, m) start of the solution; written to [m].
    """
    contacts, springs = system.contacts, None
    for _ in range(MAX_ACTIVE_SET_CHANGES):
        steady = update_active_set(
            contacts, system.predicted + interpolate(system.embedding, moves)
        )
        if springs is not None and steady:
            break
        springs = active_springs(system)
        forces_with_contacts = right.copy()
        scatter_to_nodes(system.embedding, springs.points, springs.forces, forces_with_contacts)
        solve_moves(system, springs, forces_with_contacts, moves, tolerance)
    assert springs is not None
    forces = springs.forces - _spring_forces(system, springs, moves)
    held = len(system.pin_springs.points)
    contacts.normal_forces.fill(0.0)
    contacts.normal_forces[springs.points[held:]] = dot(
        contacts.normals[:, springs.points[held:]], forces[held:].T
    )


def update_active_set(contacts: PointContacts, points: Floats) -> bool:
    """True if the active set for points (3, p) has converged; otherwise updates it.

    Friction of sliding contacts is a spring with the secant stiffness friction force / deflection.
    """
    depths = contacts.levels - dot(contacts.normals, points)
    touching = depths > 0.0
    unheld = touching & np.isnan(contacts.anchors[0])
    contacts.anchors[:, unheld] = contacts.start[:, unheld]
    slid = tangential_part(contacts.normals, points - np.where(touching, contacts.anchors, points))
    lengths = magnitudes(slid)
    pushes = contacts.stiffnesses * np.where(np.isfinite(depths), np.abs(depths), 0.0)
    most = contacts.frictions * pushes
    slips = most < contacts.stiffnesses * lengths
    held = np.divide(most, lengths, out=contacts.stiffnesses.copy(), where=slips)
    friction_stiffnesses = np.where(touching, held, -1.0)
    same_state = touching == (contacts.friction_stiffnesses >= 0.0)
    friction_changes = np.abs(friction_stiffnesses - contacts.friction_stiffnesses) * lengths
    changes = np.where(same_state, np.where(touching, friction_changes, 0.0), pushes)
    steady = float(changes.sum()) <= ACTIVE_SET_TOLERANCE * float(pushes[touching].sum())
    if not steady:
        contacts.friction_stiffnesses[:] = friction_stiffnesses
    return steady


def active_springs(system: SolidSystem) -> ActiveSprings:
    """The springs of pins and of the contacts in the active set."""
    pin_springs, contacts, predicted = system.pin_springs, system.contacts, system.predicted
    touching = np.flatnonzero(contacts.friction_stiffnesses >= 0.0)
    normal, tangential = contacts.stiffnesses[touching], contacts.friction_stiffnesses[touching]
    normals = contacts.normals[:, touching]
    squares = np.einsum("ak,bk->kab", normals, normals)
    stiffnesses = normal[:, None, None] * squares + tangential[:, None, None] * (
        np.eye(3) - squares
    )
    depths = contacts.levels[touching] - dot(normals, predicted[:, touching])
    slid = tangential_part(normals, predicted[:, touching] - contacts.anchors[:, touching])
    drawn = pin_springs.stiffnesses * (pin_springs.targets - predicted[:, pin_springs.points])
    return ActiveSprings(
        np.concatenate([pin_springs.points, touching]),
        np.concatenate([pin_springs.stiffnesses[:, None, None] * np.eye(3), stiffnesses]),
        np.concatenate([drawn.T, (normal * depths * normals - tangential * slid).T]),
    )


@kernel(result=lambda system, _: np.empty_like(system.contacts.normals))
def clamp_points(system: SolidSystem, moves: Floats) -> Floats:
    """(3, p) points after moves (3, m), out of contact planes; updates friction anchors."""
    contacts = system.contacts
    points = system.predicted + interpolate(system.embedding, moves)
    depths = contacts.levels - dot(contacts.normals, points)
    touching = np.flatnonzero(depths > 0.0)
    anchors, normals = contacts.anchors[:, touching], contacts.normals[:, touching]
    slid = tangential_part(normals, points[:, touching] - anchors)
    length = magnitudes(slid)
    most = contacts.frictions[touching] * depths[touching]
    released = np.maximum(0.0, 1.0 - most / np.maximum(length, NONZERO))
    contacts.anchors.fill(np.nan)
    contacts.anchors[:, touching] = anchors + slid * released
    points[:, touching] += normals * depths[touching]
    return points


def tangential_part(normals: Floats, vectors: Floats) -> Floats:
    """(3, k) components of vectors (3, k) orthogonal to normals (3, k)."""
    return np.asarray(vectors - normals * dot(normals, vectors))


def solve_moves(
    system: SolidSystem,
    springs: ActiveSprings,
    right: Floats,
    moves: Floats,
    tolerance: SolverTolerance,
) -> None:
    """Solves for the moves (3, m), from their present values, by conjugate gradients.

    The preconditioner adds the inverses of the 3 × 3 diagonal blocks, in which the stiffness of
    cells counts as isotropic, and a coarse correction by rigid modes, which is applied once more at
    the end.

    Parameters
    ----------
    right : (3, m) right side of the system, with springs [kg m].
    """
    inverses, pieces = _block_inverses(system, springs), _rigid_modes(system, springs)

    def precondition(pulls: Floats) -> Floats:
        return apply_matrices(inverses, pulls) + pieces.correction(pulls)

    def product(moves: Floats) -> Floats:
        return _multiply(system, springs, moves)

    residual = right - product(moves)
    size = float((right * precondition(right)).sum())
    allowed = max(
        tolerance.relative * tolerance.relative * size, tolerance.absolute, tolerance.negligible
    )
    squares = iterate_conjugate_gradients(
        moves, residual, product, precondition, MAX_SOLID_CG_ROUNDS
    )
    for number, square in enumerate(squares):
        if square <= (tolerance.negligible if number < tolerance.min_rounds else allowed):
            break
    moves += pieces.correction(residual)


def _rigid_modes(system: SolidSystem, springs: ActiveSprings) -> RigidModes:
    """Rigid modes of the free components, with the springs that act on them."""
    carriers, weights = (
        a[springs.points] for a in (system.embedding.nodes, system.embedding.weights)
    )
    labels, node_positions = system.components[carriers], system.predicted_nodes[:, carriers]
    first, stopped = labels == labels[:, :1], []
    for members in (first, ~first):
        shares = np.where(members, weights, 0.0)
        shares *= np.sign(shares.sum(axis=1))[:, None]
        labels_of_part = np.where(shares != 0.0, labels, -1).max(axis=1)
        stopped.append((labels_of_part, (shares * node_positions).sum(axis=2), springs.stiffnesses))
    ends, where, firm = zip(*stopped, strict=True)
    stopped_all = np.concatenate(ends), np.concatenate(where, axis=1), np.concatenate(firm)
    return find_rigid_modes(system.components, system.masses, system.predicted_nodes, stopped_all)


def _multiply(system: SolidSystem, springs: ActiveSprings, moves: Floats) -> Floats:
    """(3, m) product (M + c K + h² S) v with moves v (3, m)."""
    product, first = system.masses * moves, 0
    for part in system.parts:
        own = slice(first, first + part.lattice.nodes.shape[1])
        arguments = part.lattice, part.corotations, part.stiffness
        product[:, own] += stiffness_product(*arguments, moves[:, own])
        first = own.stop
    forces = _spring_forces(system, springs, moves)
    scatter_to_nodes(system.embedding, springs.points, forces, product)
    return np.asarray(product)


def _spring_forces(system: SolidSystem, springs: ActiveSprings, moves: Floats) -> Floats:
    """(k, 3) product of spring stiffnesses × h² with moves (3, m) of nodes [kg m]."""
    nodes, weights = system.embedding.nodes, system.embedding.weights
    moved = np.einsum("pc,apc->pa", weights[springs.points], moves[:, nodes[springs.points]])
    return np.asarray(np.einsum("pab,pb->pa", springs.stiffnesses, moved))


def _block_inverses(system: SolidSystem, springs: ActiveSprings) -> Floats:
    """(m, 3, 3) inverses of the diagonal blocks, with isotropic stiffness of cells."""
    embedding, m = system.embedding, len(system.masses)
    squares = embedding.weights[springs.points] ** 2
    total = system.diagonal[:, None, None] * np.eye(3)
    for a, b in np.ndindex(3, 3):
        shares = squares * springs.stiffnesses[:, a, b, None]
        total[:, a, b] += sum_by(embedding.nodes[springs.points].ravel(), shares.ravel(), m)
    minors, sizes = cofactors(total)
    return np.asarray(minors / sizes[:, None, None])
