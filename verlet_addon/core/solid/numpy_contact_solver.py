"""The stress within a solid and what it touches, solved for together, in NumPy."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import NONZERO, Floats, Integers, cofactors, dot, magnitudes, sum_by
from ..linear.conjugate_gradients import iterate_conjugate_gradients
from .lattice import Embedding, Lattice
from .numpy_kernels import Corotations, interpolate, scatter_to_nodes, stiffness_product
from .rigid_modes import RigidModes, find_rigid_modes

MAX_ACTIVE_SET_CHANGES = 6
"""Most times that what touches, and what slides, is looked for anew in a step."""
ACTIVE_SET_TOLERANCE = 0.05
"""What pushes and rubs is found once it changes by less than this share of all that presses: the
next step finds the rest."""
MAX_SOLID_CG_ROUNDS = 400
"""Most rounds of conjugate gradients; ten or so do, more for stiff bodies in long steps."""


@dataclass(frozen=True, eq=False)
class PinSprings:
    """Points that are drawn to places of their own."""

    points: Integers
    """(g,)"""
    stiffnesses: Floats
    """(g,) times h² [kg]."""
    targets: Floats
    """(3, g) [m]"""


@dataclass(frozen=True, eq=False)
class PointContacts:
    """How far each of p points may go, and what rubs on it there."""

    normals: Floats
    """(3, p) unit vectors away from what stops them."""
    levels: Floats
    """(p,) how far along its normal each has to be; −∞ where nothing is in its way [m]."""
    frictions: Floats
    """(p,) Coulomb coefficients."""
    stiffnesses: Floats
    """(p,) times h² [kg]."""
    start: Floats
    """(3, p) where friction holds what touches from now on [m]."""
    anchors: Floats
    """(3, p) where it holds what has touched before, else nan; written to [m]."""
    friction_stiffnesses: Floats
    """(p,) how stiffly it does, times h², −1 for what touches nothing; written to [kg]."""
    normal_forces: Floats
    """(p,) what presses on each, times h²; written to [kg m]."""


@dataclass(frozen=True, eq=False)
class SolidPart:
    """Of a system, the nodes of one solid, and its c K."""

    lattice: Lattice
    corotations: Corotations
    stiffness: float
    """c E [s² Pa]"""


@dataclass(frozen=True, eq=False)
class SolidSystem:
    """(M + c K + h² S) v = r for one step, where S is what holds and what stops points."""

    parts: Sequence[SolidPart]
    """One solid, or more that touch each other; their nodes stand one after the other."""
    embedding: Embedding
    """Of points, and of what is between two solids: how far apart they are there, with Σ w = 0."""
    masses: Floats
    """(m,) of the nodes [kg]."""
    diagonal: Floats
    """(m,) of M + c K, the mean of the three directions [kg]."""
    predicted: Floats
    """(3, p) where points are without the moves v [m]."""
    components: Integers
    """(m,) label of each connected piece that nothing holds, counted from 0; −1 = held."""
    predicted_nodes: Floats
    """(3, m) where nodes are without the moves [m]."""
    pin_springs: PinSprings
    contacts: PointContacts


@dataclass(frozen=True)
class SolverTolerance:
    """How well moves are solved for: squares are of the residual, as it would move nodes."""

    relative: float
    """Of the right side, that may be left."""
    absolute: float
    """Where its square is less, it may be left too [kg m²]."""
    min_rounds: int
    """Rounds that are taken nevertheless,"""
    negligible: float
    """unless its square is less than this [kg m²]."""


@dataclass(frozen=True, eq=False)
class ActiveSprings:
    """What holds and what stops points, while neither changes."""

    points: Integers
    """(k,) of the embedding."""
    stiffnesses: Floats
    """(k, 3, 3) symmetric, times h² [kg]."""
    forces: Floats
    """(k, 3) where the points arrive, times h² [kg m]."""


def solve_contacts(
    system: SolidSystem, right: Floats, moves: Floats, tolerance: SolverTolerance
) -> None:
    """Finds the moves (3, m), from those given, and what presses on points.

    What touches, and what of that slides, is found in turn with the moves: it pushes and never
    pulls, and rubs no harder than its coefficient lets it.
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
    """Whether what touches at these places (3, p), and how it rubs, is as before, or else how."""
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
    """What holds and what stops points, as `update_active_set` has found it."""
    pin_springs, contacts, predicted = system.pin_springs, system.contacts, system.predicted
    touching = np.flatnonzero(contacts.friction_stiffnesses >= 0.0)
    push, grip = contacts.stiffnesses[touching], contacts.friction_stiffnesses[touching]
    normals = contacts.normals[:, touching]
    squares = np.einsum("ak,bk->kab", normals, normals)
    ground = push[:, None, None] * squares + grip[:, None, None] * (np.eye(3) - squares)
    depths = contacts.levels[touching] - dot(normals, predicted[:, touching])
    slid = tangential_part(normals, predicted[:, touching] - contacts.anchors[:, touching])
    drawn = pin_springs.stiffnesses * (pin_springs.targets - predicted[:, pin_springs.points])
    return ActiveSprings(
        np.concatenate([pin_springs.points, touching]),
        np.concatenate([pin_springs.stiffnesses[:, None, None] * np.eye(3), ground]),
        np.concatenate([drawn.T, (push * depths * normals - grip * slid).T]),
    )


def clamp_points(system: SolidSystem, nodes: Floats) -> Floats:
    """(3, p) where nodes (3, m) carry points, none past its stop; anchors slide along with them."""
    contacts, points = system.contacts, interpolate(system.embedding, nodes)
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
    """(3, k) what of vectors is not along their normals."""
    return np.asarray(vectors - normals * dot(normals, vectors))


def solve_moves(
    system: SolidSystem,
    springs: ActiveSprings,
    right: Floats,
    moves: Floats,
    tolerance: SolverTolerance,
) -> None:
    """Solves for the moves (3, m), from those given, by conjugate gradients.

    The 3 × 3 blocks on the diagonal, inverted, precondition it; that cells oppose some directions
    more than others makes no difference. So do the motions of pieces as one, and these once more in
    the end. Precision is of the residual in that norm.
    """
    inverses, pieces = _block_inverses(system, springs), _rigid_modes(system, springs)

    def precondition(pulls: Floats) -> Floats:
        return _apply_blocks(inverses, pulls) + pieces.correction(pulls)

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
    """What nothing holds, as it moves as one."""
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
    """(3, m) (M + c K + h² S) v."""
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
    """(k, 3) what springs oppose moves (3, m) of nodes with, times h² [kg m]."""
    nodes, weights = system.embedding.nodes, system.embedding.weights
    moved = np.einsum("pc,apc->pa", weights[springs.points], moves[:, nodes[springs.points]])
    return np.asarray(np.einsum("pab,pb->pa", springs.stiffnesses, moved))


def _apply_blocks(blocks: Floats, vectors: Floats) -> Floats:
    """(3, m) blocks (m, 3, 3) times vectors (3, m)."""
    return np.asarray(np.einsum("nab,bn->an", blocks, vectors))


def _block_inverses(system: SolidSystem, springs: ActiveSprings) -> Floats:
    """(m, 3, 3) inverses of the blocks on the diagonal; cells count alike in all directions."""
    embedding, m = system.embedding, len(system.masses)
    squares = embedding.weights[springs.points] ** 2
    total = system.diagonal[:, None, None] * np.eye(3)
    for a, b in np.ndindex(3, 3):
        shares = squares * springs.stiffnesses[:, a, b, None]
        total[:, a, b] += sum_by(embedding.nodes[springs.points].ravel(), shares.ravel(), m)
    return _invert_blocks(total)


def _invert_blocks(blocks: Floats) -> Floats:
    """(m, 3, 3) inverses of symmetric blocks, by their cofactors."""
    minors, sizes = cofactors(blocks)
    return np.asarray(minors / sizes[:, None, None])
