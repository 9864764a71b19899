"""One step of a solid: stress, pins and contact, solved for together.

Newmark's rule between two positions, M (x₊ − 2 x + x₋)/h² = β f₊ + (1 − 2 β) f + β f₋ with β = ¼,
in which f₊ ≈ f − K (x₊ − x), loses no energy by itself; material damping does. The longer a step is
beside the material's delay, the less of the wobbles can be followed, and the nearer the rule is to
implicit Euler's, f₊ alone, which any stiffness and any step suit. What holds and what stops the
body acts at the end of the step: springs of the skin, which push and never pull, and rub no harder
than their coefficient lets them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Booleans, Floats, Integers
from ..contact.plane import PlaneContact
from ..momentum.compiled_kernels import conserve_momentum
from .barriers import Barriers, beyond, held, lift
from .body import Solid, SolidState
from .compiled_kernels import find_stress, interpolate
from .compiled_touching import press, resist_rolling, settle
from .lattice import Embedding
from .numpy_kernels import add_to_nodes
from .numpy_touching import Holds, Stops, System

NEWMARK = 0.25
"""β of short steps: accelerations are averaged over the step, which keeps energy."""
TOLERANCE = 1e-3
"""Of what is to be solved for, the share that is left; of stiff bodies, whose stress outweighs what
moves them as a whole by the square of step over delay, by that much less."""
LEAST = 1e-8
"""Moves that change the way of a step by less than this share need not be found: what falls freely
is not solved for."""


@dataclass(frozen=True, eq=False)
class Drive:
    """What moves a solid in one step, before it is known what it touches."""

    system: System
    """With the ground alone."""
    pulls: Floats
    """(3, m) of stress, on the way of free motion, times h² [kg m]."""
    start: Floats
    """(3, m) where its nodes are [m]."""
    anchors: Floats
    """(3, p) where friction of the ground has held points until now, else nan [m]."""
    grasped: Floats
    """(3, p) the same of colliders [m]."""


@dataclass(eq=False)
class Leap:
    """A solid on its way through one step: where it would get to without stress."""

    solid: Solid
    state: SolidState
    dt: float
    """[s]"""
    h_squared: float
    """[s²]"""
    inertia: Floats
    """(3, m) what is left of the displacement of the step before [m]."""
    free: Floats
    """(3, m) displacement of free motion [m]."""
    ground_shift: Floats
    """(3,) how far the ground moves [m]."""
    drive: Drive | None = None
    barriers: int = -1
    """How many places are stopped where it is now; −1 = its stress is not solved for yet."""


def hold(leap: Leap, points: Integers, targets: Floats, compliances: Floats) -> Holds:
    """Draws points (g,) to targets (3, g): pins where the compliance (g,) is 0, else soft goals."""
    solid = leap.solid
    firm = solid.skin[points] * leap.h_squared
    soft = leap.h_squared / np.where(compliances > 0.0, compliances, np.inf)
    return Holds(points, np.where(compliances > 0.0, soft, firm), targets)


def hand_over(solid: Solid, state: SolidState, positions: Floats, previous: Floats) -> None:
    """Moves nodes as others have moved the points they carry, now and a step ago, (3, p) [m]."""
    former = (state.nodes, state.shown), (state.previous_nodes, state.previously_shown)
    moved = [
        nodes if np.array_equal(points, shown) else nodes + _spread(solid, points - shown)
        for (nodes, shown), points in zip(former, (positions, previous), strict=True)
    ]
    state.nodes, state.previous_nodes = moved


def _spread(solid: Solid, moves: Floats) -> Floats:
    """(3, m) moves of nodes: the mean, by weight, of those of the points that have moved (3, p)."""
    moved = np.flatnonzero((moves != 0.0).any(axis=0))
    found, total = np.zeros((2, *solid.lattice.nodes.shape))
    if len(moved):
        weights, carried = solid.surface.areas[moved], solid.embedding
        shares = Embedding(carried.nodes, np.abs(carried.weights))
        add_to_nodes(shares, moved, (moves[:, moved] * weights).T, found)
        add_to_nodes(shares, moved, np.repeat(weights[:, None], 3, axis=1), total)
        found /= np.maximum(total, 0.05 * weights.mean())
    return np.asarray(found)


def set_off(
    leap: Leap,
    holds: Holds,
    contacts: Sequence[PlaneContact],
    arrival: Floats,
    eased: Floats,
) -> None:
    """Finds what moves a solid in this step.

    Parameters
    ----------
    arrival : (3, p) where free motion leads its points, once they are eased [m].
    eased : (3, p) how far they are carried without speed [m].
    """
    state = leap.state
    _ease(leap.solid, state, eased)
    state.anchors += leap.ground_shift[:, None]
    leap.drive = Drive(
        system=_system(leap, holds, _stops(leap, contacts), arrival),
        pulls=_stress(leap),
        start=state.nodes,
        anchors=state.anchors.copy(),
        grasped=state.grasped,
    )


def foresee(leap: Leap) -> Floats:
    """(3, p) where points end if stress and contact add to free motion what they did last [m]."""
    ends = leap.state.nodes + leap.free + leap.state.moves
    return np.asarray(interpolate(leap.solid.embedding, ends))


def arrive(leap: Leap, barriers: Barriers | None = None) -> Floats:
    """Moves a solid on by one step; (3, p) where its points are, outside of all that stops them.

    It may be done again, once more is known of what is in its way.
    """
    solid, state, drive = leap.solid, leap.state, leap.drive
    assert drive is not None
    system, count = drive.system, len(solid.weight)
    system.stops.anchors[:] = drive.anchors
    system.stops.grips.fill(-1.0)
    if barriers is not None:
        system = beyond(system, barriers, solid.surface.stands_for, drive.grasped)
    unstressed = drive.start + leap.free
    press(system, drive.pulls, state.moves, *_precision(leap))
    nodes = unstressed + state.moves
    pressed = _pressed(solid, system)
    nodes = conserve_momentum(
        solid.free_components,
        1.0 / solid.masses,
        np.where(pressed, nodes, unstressed),
        nodes,
        about=drive.start,
    )
    state.nodes, state.moves = nodes, nodes - unstressed
    # Turning the body itself, not only its speed, would press what lies flat into what it lies on.
    slowed = nodes.copy()
    resist_rolling(system, drive.start, slowed)
    state.previous_nodes = drive.start + (nodes - slowed)
    points = interpolate(solid.embedding, nodes)
    if barriers is None:
        settle(system.stops, points)
        state.grasped = np.full_like(points, np.nan)
        return points
    places = np.concatenate([points, barriers.between(points)], axis=1)
    settle(system.stops, places)
    state.anchors[:] = system.stops.anchors[:, :count]
    state.grasped = held(system.stops, barriers, count)
    points = np.array(places[:, :count])
    lift(barriers, points)
    return points


def _pressed(solid: Solid, system: System) -> Booleans:
    """(m,) which nodes are of pieces that something presses on."""
    loaded = np.flatnonzero(system.stops.loads > 0.0)
    found = np.zeros(solid.free_components.max(initial=0) + 2, dtype=bool)
    found[solid.free_components[system.embedding.nodes[loaded, 0]]] = True
    return np.asarray(found[solid.free_components])


def _shares(leap: Leap) -> tuple[float, float, float]:
    """The rule's weight of the former forces, what stiffness and what damping count [s²]."""
    former = NEWMARK * (1.0 - min(1.0, _pace(leap)))
    delay = leap.dt * leap.solid.delay / 2
    return former, (1.0 - 3.0 * former) * leap.h_squared + delay, delay


def _pace(leap: Leap) -> float:
    """How long the step is beside the material's delay, squared."""
    return float((leap.dt / leap.solid.delay) ** 2)


def _precision(leap: Leap) -> tuple[float, float]:
    """The share of what is to be solved for that may be left, and what need not be at all."""
    way = float((leap.solid.masses * leap.free * leap.free).sum())
    return TOLERANCE / max(1.0, leap.dt / leap.solid.delay), LEAST * LEAST * way


def _stress(leap: Leap) -> Floats:
    """(3, m) what stress pulls nodes with on the way of free motion, times h² [kg m]."""
    solid, state = leap.solid, leap.state
    former, implicit, delay = _shares(leap)
    felt = implicit * leap.free + delay * leap.inertia
    forces, opposed = find_stress(solid.lattice, state.nodes, state.shapes, solid.modulus, felt)
    pulls = leap.h_squared * ((1.0 - former) * forces + former * state.forces)
    state.forces = forces
    return np.asarray(pulls - opposed)


def _system(leap: Leap, holds: Holds, stops: Stops, arrival: Floats) -> System:
    """What stress, pins and the ground do to moves that are added to free motion."""
    solid, implicit = leap.solid, _shares(leap)[1]
    return System(
        lattice=solid.lattice,
        embedding=solid.embedding,
        masses=solid.masses,
        shapes=leap.state.shapes,
        stiffness=implicit * solid.modulus,
        diagonal=solid.masses + implicit * solid.resistances,
        arrival=arrival,
        components=solid.free_components,
        places=leap.state.nodes + leap.free,
        holds=holds,
        stops=stops,
    )


def _stops(leap: Leap, contacts: Sequence[PlaneContact]) -> Stops:
    """The ground, as what stops points."""
    anchors, count = leap.state.anchors, len(leap.solid.weight)
    levels, normal = np.full(count, -np.inf), np.array([0.0, 0.0, 1.0])
    for contact in contacts:
        normal = contact.plane.normal
        levels = contact.floors[1] + (normal * contact.plane.point).sum()
    return Stops(
        normals=np.repeat(normal[:, None], count, axis=1),
        levels=levels,
        frictions=np.full(count, contacts[0].friction if contacts else 0.0),
        stiffnesses=leap.solid.skin * leap.h_squared + leap.solid.weight,
        start=contacts[0].start if contacts else anchors,
        anchors=anchors,
        grips=np.full(count, -1.0),
        loads=np.zeros(count),
    )


def _ease(solid: Solid, state: SolidState, eased: Floats) -> None:
    """Carries nodes as their points are carried, (3, p), which is alike for a whole piece."""
    if eased.any():
        shift = np.zeros((3, solid.free_components.max(initial=0) + 2))
        shift[:, solid.free_components[solid.embedding.nodes[:, 0]]] = eased
        shift[:, -1] = 0.0
        state.nodes = state.nodes + shift[:, solid.free_components]
        state.previous_nodes = state.previous_nodes + shift[:, solid.free_components]


def carry(solid: Solid, state: SolidState, shifts: Floats) -> Floats:
    """(3, p) how far points go as free components are carried without speed, by (3, k + 1) [m].

    The last is for what is held.
    """
    moved, nodes = shifts[:, point_components(solid)], shifts[:, solid.free_components]
    state.nodes, state.previous_nodes = state.nodes + nodes, state.previous_nodes + nodes
    state.shown, state.previously_shown = state.shown + moved, state.previously_shown + moved
    return moved


def point_components(solid: Solid) -> Integers:
    """(p,) the free component that points belong to, −1 for what is held."""
    return np.asarray(solid.free_components[solid.embedding.nodes[:, 0]])
