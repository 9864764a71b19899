"""One step of a solid: stress, pins and contact, solved for together.

Newmark's rule between two positions, M (x₊ − 2 x + x₋)/h² = β f₊ + (1 − 2 β) f + β f₋ with β = ¼,
in which f₊ ≈ f − K (x₊ − x) and f₋ ≈ f + K (x − x₋), loses no energy by itself; material damping
does. f₋ itself would lag behind what turns, and spin thin limbs up until they fly off. Steps longer
than the material's delay cannot follow its wobbles: the longer they are, the nearer the rule comes
to implicit Euler's, f₊ alone, which suits any stiffness and any step. What holds and what stops the
body acts at the end of the step: springs of the skin, which push and never pull, and rub no harder
than their coefficient lets them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from ..arrays import Floats, Integers, dot
from ..contact.plane import PlaneContact
from .barriers import Barriers, beyond, held, lift
from .body import FREE, Clung, Lying, Solid, SolidState
from .compiled_kernels import find_stress, interpolate
from .compiled_touching import land, press, settle
from .lattice import Embedding
from .numpy_kernels import add_to_nodes
from .numpy_touching import Precision, System
from .system import draw, step_shares, stop_at_ground

RESIDUAL = 1.5e-3
"""Share of what is to be solved for that is left. Where steps are longer than the delay, it is less
by their ratio, for stress outweighs what moves the whole body. With 2e-3 a bar that has hung lower
before sags half a per cent more than one that has not."""
CURVED = 2.0 / 3.0
"""Share of that which is left where cells are curved: what slides would shake itself, and lose up
to a fifteenth of its speed by that."""
QUICK = 2e-3
"""Nor need more be found than changes by this share how nodes move beside each other: the next step
finds it. Uneven meshes take a third fewer rounds. The way of the whole body does not count, or what
wobbles as it falls would stop."""
FEWEST = 2
"""Rounds of conjugate gradients that each step of what moves takes, however little there is to
solve for: without, small swings never fade."""
LEAST_MOVE = 1e-8
"""Moves that change the way of a step by less than this share need not be found: what falls
freely is not solved for."""
RESTS = 1e-5
"""What moves by less than this share of how far it would go freely has come to rest."""
STILL, LONG = 0.02, 8
"""What moved by less than this share of how far it would go freely, for so many steps on end, is
tried as lying still: it does if that leaves no more to be solved for than may be left. So what lies
comes to rest. What turns back at the end of a swing is as slow, but for fewer steps."""


@dataclass(frozen=True, eq=False)
class Drive:
    """What moves a solid in one step, before it is known what it touches."""

    start: Floats
    """(3, m) where its nodes are [m]."""
    anchors: Floats
    """(3, p) where friction of the ground has held points until now, else nan [m]."""
    grasped: Floats
    """(3, p) the same of colliders [m]."""
    clung: Clung
    """The same of other solids."""


@dataclass(eq=False)
class Leap:
    """A solid on its way through one step: where it would get to without stress."""

    solid: Solid
    state: SolidState
    system: System
    """With the ground alone."""
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
    far: float
    """Of free motion, Σ m v² [kg m²]."""
    drive: Drive | None = None
    pulls: Floats | None = None
    """(3, m) of stress, on the way of free motion, times h² [kg m]; found when it is needed."""
    barriers: int = -1
    """How many places are stopped where it is now; −1 = its stress is not solved for yet."""


def hand_over(solid: Solid, state: SolidState, positions: Floats, previous: Floats) -> None:
    """Moves nodes as others have moved the points they carry, now and a step ago, (3, p) [m]."""
    former = (state.nodes, state.shown), (state.previous_nodes, state.previously_shown)
    moved = [
        nodes if np.array_equal(points, shown) else nodes + _spread(solid, state, points - shown)
        for (nodes, shown), points in zip(former, (positions, previous), strict=True)
    ]
    state.nodes, state.previous_nodes = moved


def _spread(solid: Solid, state: SolidState, moves: Floats) -> Floats:
    """(3, m) moves of nodes: the mean, by weight, of those of the points that they carry (3, p).

    With the masses that go along, points and nodes have the same momentum. What had to be led out
    follows those that have moved alone, or else it would sink in where few are held out.
    """
    moved = np.flatnonzero((moves != 0.0).any(axis=0))
    if not len(moved):
        return np.zeros_like(solid.lattice.nodes)
    found, carried = np.zeros_like(solid.lattice.nodes), solid.embedding
    shares = Embedding(carried.nodes, np.abs(carried.weights))
    add_to_nodes(shares, moved, (moves[:, moved] * solid.handholds[moved]).T, found)
    return np.asarray(found / solid.held_by(moved if state.led_out else slice(None)))


def set_off(
    leap: Leap,
    contacts: Sequence[PlaneContact],
    pins: tuple[Floats, Floats],
    arrival: Floats,
    eased: Floats,
) -> None:
    """Finds what moves a solid in this step.

    Parameters
    ----------
    pins : (3, g) where they and goals draw what the system names [m], and (g,) compliances.
    arrival : (3, p) where free motion leads its points, once they are eased [m].
    eased : (3, p) how far they are carried without speed [m].
    """
    state, system = leap.state, leap.system
    _ease(leap.solid, state, eased)
    state.anchors += leap.ground_shift[:, None]
    system.arrival[:] = arrival
    np.add(state.nodes, leap.free, out=system.places)
    slow = moved_by(leap.solid, leap.inertia) < STILL * STILL * leap.far
    state.slow = state.slow + 1 if slow else 0
    if state.slow >= LONG:
        state.moves = -leap.free
    draw(system, leap.solid, leap.h_squared, *pins)
    stop_at_ground(system.stops, contacts)
    leap.drive = Drive(
        start=state.nodes,
        anchors=state.anchors.copy(),
        grasped=state.grasped,
        clung=state.clung,
    )


def foresee(leap: Leap) -> Floats:
    """(3, p) where points end if stress and contact add to free motion what they did last [m]."""
    ends = leap.state.nodes + leap.free + leap.state.moves
    return np.asarray(interpolate(leap.solid.embedding, ends))


def arrive(leap: Leap, barriers: Barriers | None = None) -> Floats:
    """Moves a solid on by one step; (3, p) where its points are, outside of all that stops them.

    It may be done again, once more is known of what is in its way. What moved nothing in the step
    before would move nothing again.
    """
    state, drive, acts = leap.state, leap.drive, acting_with(leap, barriers)
    assert drive is not None
    state.anchors[:] = drive.anchors
    state.clung = FREE
    if state.lying is not None and alike(acts, state.lying.acting):
        stay(leap, drive)
        state.grasped = drive.grasped
        return state.lying.points.copy()
    state.lying = None
    if barriers is None and _falls_freely(leap):
        return _fallen(leap, drive)
    points = _solved(leap, drive, barriers)
    if rests(leap, drive):
        stay(leap, drive)
        state.lying = Lying([rows.copy() for rows in acts], points.copy())
    return points


def rests(leap: Leap, drive: Drive) -> bool:
    """Whether a solid has come to rest; one that only turns back has been quicker before."""
    state = leap.state
    ways = leap.inertia, state.nodes - drive.start, state.nodes - state.previous_nodes
    most = RESTS * RESTS * leap.far
    return state.slow > 0 and max(moved_by(leap.solid, way) for way in ways) <= most


def _falls_freely(leap: Leap) -> bool:
    """Whether a solid that nothing strains goes on without turning, and touches nothing there."""
    stops, least = leap.system.stops, LEAST_MOVE * float(np.abs(leap.free).max())
    return (
        leap.state.calm
        and not len(leap.system.holds.points)
        and float(np.ptp(leap.free, axis=1).max()) <= least
        and float(np.ptp(leap.inertia, axis=1).max()) <= least
        and not (dot(stops.normals, leap.system.arrival) < stops.levels).any()
    )


def _fallen(leap: Leap, drive: Drive) -> Floats:
    """(3, p) where points are once nodes have gone where inertia and gravity lead them."""
    state, system = leap.state, leap.system
    state.nodes, state.previous_nodes = system.places.copy(), drive.start
    state.moves = np.zeros_like(leap.free)
    state.anchors.fill(np.nan)
    state.grasped = state.anchors.copy()
    return system.arrival.copy()


def stay(leap: Leap, drive: Drive) -> None:
    """Leaves nodes where they are, without speed."""
    state = leap.state
    state.nodes, state.previous_nodes, state.moves = drive.start, drive.start, -leap.free


def acting(system: System, free: Floats, ground_shift: Floats) -> list[Floats]:
    """All that decides how far a solid moves from where it lies without speed, but for colliders.

    Parameters
    ----------
    free, ground_shift : (3, m) and (3,) see `Leap`.
    """
    stops, holds = system.stops, system.holds
    own = [free, ground_shift, system.arrival, holds.targets, holds.stiffnesses]
    return [*own, stops.normals, stops.levels, stops.frictions]


def acting_with(leap: Leap, barriers: Barriers | None) -> list[Floats]:
    """The same with colliders."""
    own = acting(leap.system, leap.free, leap.ground_shift)
    return own if barriers is None else own + [getattr(barriers, f.name) for f in fields(barriers)]


def alike(first: Sequence[Floats], second: Sequence[Floats]) -> bool:
    """Whether all arrays are the same."""
    return len(first) == len(second) and all(map(np.array_equal, first, second))


def _solved(leap: Leap, drive: Drive, barriers: Barriers | None) -> Floats:
    """(3, p) where points are once stress and what stops them are solved for."""
    solid, state, system = leap.solid, leap.state, leap.system
    system.stops.grips.fill(-1.0)
    pulls = find_pulls(leap, drive)
    if barriers is not None:
        system = beyond(system, barriers, solid.surface.stands_for, drive.grasped)
    press(system, pulls, state.moves, precision([leap]))
    state.nodes, state.previous_nodes = land(system, drive.start, state.moves)
    places = settle(system, state.nodes)
    if barriers is None:
        state.grasped = np.full_like(places, np.nan)
        return places
    count = len(solid.weight)
    state.anchors[:] = system.stops.anchors[:, :count]
    state.grasped = held(system.stops, barriers, count)
    points = np.array(places[:, :count])
    lift(barriers, points)
    return points


def find_pulls(leap: Leap, drive: Drive) -> Floats:
    """(3, m) of stress, found once a step, see `Leap` [kg m]."""
    if leap.pulls is None:
        leap.pulls = _stress(leap, drive.start)
    return leap.pulls


def precision(leaps: Sequence[Leap]) -> Precision:
    """How well the moves of solids are solved for."""
    return Precision(
        share=min(residual_share(leap.solid, leap.dt) for leap in leaps),
        enough=min(
            quick(leap.solid) ** 2 * moved_within(leap.solid, leap.inertia) for leap in leaps
        ),
        fewest=0 if all(leap.state.slow >= LONG for leap in leaps) else FEWEST,
        least=LEAST_MOVE * LEAST_MOVE * min(leap.far for leap in leaps),
    )


def quick(solid: Solid) -> float:
    """QUICK, or 0 for several pieces: what moves one would count for what moves another."""
    return QUICK if len(np.unique(solid.free_components)) == 1 else 0.0


def residual_share(solid: Solid, dt: float) -> float:
    """The share of what is to be solved for that may be left in steps of this length [s]."""
    share = CURVED if len(solid.lattice.curved.nodes) else 1.0
    return share * RESIDUAL / max(1.0, dt / solid.delay)


def moved_by(solid: Solid, moves: Floats) -> float:
    """How far nodes move by (3, m): Σ m v² [kg m²]."""
    return float((solid.masses * moves * moves).sum())


def moved_within(solid: Solid, moves: Floats) -> float:
    """The same, seen by who moves along with the mean of all nodes [kg m²]."""
    mean = (solid.masses * moves).sum(axis=1, keepdims=True) / solid.masses.sum()
    return moved_by(solid, moves - mean)


def _stress(leap: Leap, start: Floats) -> Floats:
    """(3, m) what stress pulls nodes at `start` (3, m) with on their free way, times h² [kg m]."""
    solid, state = leap.solid, leap.state
    implicit, passed = step_shares(solid, leap.dt, leap.h_squared)
    felt = implicit * leap.free + passed * leap.inertia
    forces, opposed = find_stress(solid.lattice, start, state.shapes, solid.modulus, felt)
    pulls = leap.h_squared * forces - opposed
    state.calm = moved_by(solid, pulls / solid.masses) <= LEAST_MOVE * LEAST_MOVE * leap.far
    return np.asarray(pulls)


def _ease(solid: Solid, state: SolidState, eased: Floats) -> None:
    """Carries nodes as their points are carried, (3, p), which is alike for a whole piece."""
    if eased.any():
        shift = np.zeros((3, solid.free_components.max(initial=0) + 2))
        shift[:, point_components(solid)] = eased
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
