"""The stress within a solid and what it touches, solved for together, in NumPy."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import NONZERO, Floats, Integers, cofactors, dot, magnitudes, sum_by
from ..linear.conjugate_gradients import descend
from .as_one import FreePieces, find_free_pieces
from .lattice import Embedding, Lattice
from .numpy_kernels import Shapes, add_to_nodes, interpolate, stiffness_product

CHANGES = 6
"""Most times that what touches, and what slides, is looked for anew in a step."""
LEAST_CHANGE = 0.05
"""What pushes and rubs is found once it changes by less than this share of all that presses: the
next step finds the rest."""
CONJUGATE_ROUNDS = 400
"""Most rounds of conjugate gradients; ten or so do, more for stiff bodies in long steps."""


@dataclass(frozen=True, eq=False)
class Holds:
    """Points that are drawn to places of their own."""

    points: Integers
    """(g,)"""
    stiffnesses: Floats
    """(g,) times h² [kg]."""
    targets: Floats
    """(3, g) [m]"""


@dataclass(frozen=True, eq=False)
class Stops:
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
    grips: Floats
    """(p,) how stiffly it does, times h², −1 for what touches nothing; written to [kg]."""
    loads: Floats
    """(p,) what presses on each, times h²; written to [kg m]."""


@dataclass(frozen=True, eq=False)
class Part:
    """Of a system, the nodes of one solid, and its c K."""

    lattice: Lattice
    shapes: Shapes
    stiffness: float
    """c E [s² Pa]"""


@dataclass(frozen=True, eq=False)
class System:
    """(M + c K + h² S) v = r for one step, where S is what holds and what stops points."""

    parts: Sequence[Part]
    """One solid, or more that touch each other; their nodes stand one after the other."""
    embedding: Embedding
    """Of points, and of what is between two solids: how far apart they are there, with Σ w = 0."""
    masses: Floats
    """(m,) of the nodes [kg]."""
    diagonal: Floats
    """(m,) of M + c K, the mean of the three directions [kg]."""
    arrival: Floats
    """(3, p) where points are without the moves v [m]."""
    components: Integers
    """(m,) label of each connected piece that nothing holds, counted from 0; −1 = held."""
    places: Floats
    """(3, m) where nodes are without the moves [m]."""
    holds: Holds
    stops: Stops


@dataclass(frozen=True)
class Precision:
    """How well moves are solved for: squares are of the residual, as it would move nodes."""

    share: float
    """Of the right side, that may be left."""
    enough: float
    """Where its square is less, it may be left too [kg m²]."""
    fewest: int
    """Rounds that are taken nevertheless,"""
    least: float
    """unless its square is less than this [kg m²]."""


@dataclass(frozen=True, eq=False)
class Springs:
    """What holds and what stops points, while neither changes."""

    points: Integers
    """(k,) of the embedding."""
    stiffnesses: Floats
    """(k, 3, 3) symmetric, times h² [kg]."""
    pulls: Floats
    """(k, 3) where the points arrive, times h² [kg m]."""


def press(system: System, right: Floats, moves: Floats, precision: Precision) -> None:
    """Finds the moves (3, m), from those given, and what presses on points.

    What touches, and what of that slides, is found in turn with the moves: it pushes and never
    pulls, and rubs no harder than its coefficient lets it.
    """
    stops, springs = system.stops, None
    for _ in range(CHANGES):
        steady = look(stops, system.arrival + interpolate(system.embedding, moves))
        if springs is not None and steady:
            break
        springs = find_springs(system)
        pushed = right.copy()
        add_to_nodes(system.embedding, springs.points, springs.pulls, pushed)
        solve(system, springs, pushed, moves, precision)
    assert springs is not None
    pulls = springs.pulls - _given(system, springs, moves)
    held = len(system.holds.points)
    stops.loads.fill(0.0)
    stops.loads[springs.points[held:]] = dot(
        stops.normals[:, springs.points[held:]], pulls[held:].T
    )


def look(stops: Stops, points: Floats) -> bool:
    """Whether what touches at these places (3, p), and how it rubs, is as before, or else how."""
    depths = stops.levels - dot(stops.normals, points)
    touching = depths > 0.0
    unheld = touching & np.isnan(stops.anchors[0])
    stops.anchors[:, unheld] = stops.start[:, unheld]
    slid = across(stops.normals, points - np.where(touching, stops.anchors, points))
    lengths = magnitudes(slid)
    pushes = stops.stiffnesses * np.where(np.isfinite(depths), np.abs(depths), 0.0)
    most = stops.frictions * pushes
    slips = most < stops.stiffnesses * lengths
    held = np.divide(most, lengths, out=stops.stiffnesses.copy(), where=slips)
    grips = np.where(touching, held, -1.0)
    alike = touching == (stops.grips >= 0.0)
    rubs = np.abs(grips - stops.grips) * lengths
    changes = np.where(alike, np.where(touching, rubs, 0.0), pushes)
    steady = float(changes.sum()) <= LEAST_CHANGE * float(pushes[touching].sum())
    if not steady:
        stops.grips[:] = grips
    return steady


def find_springs(system: System) -> Springs:
    """What holds and what stops points, as `look` has found it."""
    holds, stops, arrival = system.holds, system.stops, system.arrival
    touching = np.flatnonzero(stops.grips >= 0.0)
    push, grip = stops.stiffnesses[touching], stops.grips[touching]
    normals = stops.normals[:, touching]
    squares = np.einsum("ak,bk->kab", normals, normals)
    ground = push[:, None, None] * squares + grip[:, None, None] * (np.eye(3) - squares)
    depths = stops.levels[touching] - dot(normals, arrival[:, touching])
    slid = across(normals, arrival[:, touching] - stops.anchors[:, touching])
    drawn = holds.stiffnesses * (holds.targets - arrival[:, holds.points])
    return Springs(
        np.concatenate([holds.points, touching]),
        np.concatenate([holds.stiffnesses[:, None, None] * np.eye(3), ground]),
        np.concatenate([drawn.T, (push * depths * normals - grip * slid).T]),
    )


def settle(system: System, nodes: Floats) -> Floats:
    """(3, p) where nodes (3, m) carry points, none past its stop; anchors slide along with them."""
    stops, points = system.stops, interpolate(system.embedding, nodes)
    depths = stops.levels - dot(stops.normals, points)
    touching = np.flatnonzero(depths > 0.0)
    anchors, normals = stops.anchors[:, touching], stops.normals[:, touching]
    slid = across(normals, points[:, touching] - anchors)
    length = magnitudes(slid)
    most = stops.frictions[touching] * depths[touching]
    loose = np.maximum(0.0, 1.0 - most / np.maximum(length, NONZERO))
    stops.anchors.fill(np.nan)
    stops.anchors[:, touching] = anchors + slid * loose
    points[:, touching] += normals * depths[touching]
    return points


def across(normals: Floats, vectors: Floats) -> Floats:
    """(3, k) what of vectors is not along their normals."""
    return np.asarray(vectors - normals * dot(normals, vectors))


def solve(
    system: System, springs: Springs, right: Floats, moves: Floats, precision: Precision
) -> None:
    """Solves for the moves (3, m), from those given, by conjugate gradients.

    The 3 × 3 blocks on the diagonal, inverted, precondition it; that cells oppose some directions
    more than others makes no difference. So do the motions of pieces as one, and these once more in
    the end. Precision is of the residual in that norm.
    """
    inverses, pieces = _block_inverses(system, springs), _pieces(system, springs)

    def answered(pulls: Floats) -> Floats:
        return _blocks(inverses, pulls) + pieces.answers(pulls)

    def product(moves: Floats) -> Floats:
        return _product(system, springs, moves)

    residual = right - product(moves)
    given = float((right * answered(right)).sum())
    small = max(precision.share * precision.share * given, precision.enough, precision.least)
    squares = descend(moves, residual, product, answered, CONJUGATE_ROUNDS)
    for number, square in enumerate(squares):
        if square <= (precision.least if number < precision.fewest else small):
            break
    moves += pieces.answers(residual)


def _pieces(system: System, springs: Springs) -> FreePieces:
    """What nothing holds, as it moves as one."""
    carriers, weights = (
        a[springs.points] for a in (system.embedding.nodes, system.embedding.weights)
    )
    labels, places = system.components[carriers], system.places[:, carriers]
    first, stopped = labels == labels[:, :1], []
    for mine in (first, ~first):
        shares = np.where(mine, weights, 0.0)
        shares *= np.sign(shares.sum(axis=1))[:, None]
        its = np.where(shares != 0.0, labels, -1).max(axis=1)
        stopped.append((its, (shares * places).sum(axis=2), springs.stiffnesses))
    ends, where, firm = zip(*stopped, strict=True)
    stopped_all = np.concatenate(ends), np.concatenate(where, axis=1), np.concatenate(firm)
    return find_free_pieces(system.components, system.masses, system.places, stopped_all)


def _product(system: System, springs: Springs, moves: Floats) -> Floats:
    """(3, m) (M + c K + h² S) v."""
    found, first = system.masses * moves, 0
    for part in system.parts:
        own = slice(first, first + part.lattice.nodes.shape[1])
        its = part.lattice, part.shapes, part.stiffness
        found[:, own] += stiffness_product(*its, moves[:, own])
        first = own.stop
    given = _given(system, springs, moves)
    add_to_nodes(system.embedding, springs.points, given, found)
    return np.asarray(found)


def _given(system: System, springs: Springs, moves: Floats) -> Floats:
    """(k, 3) what springs oppose moves (3, m) of nodes with, times h² [kg m]."""
    nodes, weights = system.embedding.nodes, system.embedding.weights
    moved = np.einsum("pc,apc->pa", weights[springs.points], moves[:, nodes[springs.points]])
    return np.asarray(np.einsum("pab,pb->pa", springs.stiffnesses, moved))


def _blocks(blocks: Floats, vectors: Floats) -> Floats:
    """(3, m) blocks (m, 3, 3) times vectors (3, m)."""
    return np.asarray(np.einsum("nab,bn->an", blocks, vectors))


def _block_inverses(system: System, springs: Springs) -> Floats:
    """(m, 3, 3) inverses of the blocks on the diagonal; cells count alike in all directions."""
    embedding, m = system.embedding, len(system.masses)
    squares = embedding.weights[springs.points] ** 2
    total = system.diagonal[:, None, None] * np.eye(3)
    for a, b in np.ndindex(3, 3):
        shares = squares * springs.stiffnesses[:, a, b, None]
        total[:, a, b] += sum_by(embedding.nodes[springs.points].ravel(), shares.ravel(), m)
    return _inverted(total)


def _inverted(blocks: Floats) -> Floats:
    """(m, 3, 3) inverses of symmetric blocks, by their cofactors."""
    minors, sizes = cofactors(blocks)
    return np.asarray(minors / sizes[:, None, None])
