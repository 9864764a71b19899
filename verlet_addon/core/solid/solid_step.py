"""One step of a solid: stress, pins and contacts, solved as one system.

Newmark's rule between two positions, M (x₊ − 2 x + x₋)/h² = β f₊ + (1 − 2 β) f + β f₋ with β = ¼,
linearized by f₊ ≈ f − K (x₊ − x) and f₋ ≈ f + K (x − x₋), conserves energy; only material damping
dissipates it. The exact f₋ would add energy to bodies that rotate, as it has the directions of the
step before. Steps longer than the wave time cannot resolve vibrations: with their length,
the rule approaches implicit Euler, f₊ alone, which is stable for any stiffness and step. Pins and
contacts are springs that act at the end of the step; those of contacts push and never pull, with
Coulomb friction.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field

import numpy as np

from ..arrays import Floats, dot
from ..contacts.manifold.plane import PlaneContact
from .collider_contacts import (
    ColliderContacts,
    find_collider_anchors,
    push_out_of_colliders,
    with_colliders,
)
from .external_moves import lift_with_ground
from .kernels import CellPose, find_posed_stress, find_stress, interpolate
from .linear_system import (
    PointContacts,
    SolidSystem,
    SolverTolerance,
    set_ground_contacts,
    set_pin_springs,
    step_shares,
)
from .solid_body import NO_FRICTION, SleepState, Solid, SolidState
from .solid_problems import SolidProblem, solve_solids
from .tolerances import motion_square, relative_change, relative_motion_square, residual_share

MIN_CG_ROUNDS = 2
"""Minimum rounds of conjugate gradients in each step of a solid that moves: without, small
vibrations never decay. With half, jelly on a ball lies 0.6 mm elsewhere; with twice, 0.07 mm."""
NEGLIGIBLE_MOVE = 1e-8
"""Moves below this share of free motion are not solved for. Half and twice as much give the same
bakes; with 0, free fall takes a solution in each step."""
SLOW_SHARE, SLOW_STEPS = 0.02, 8
"""Share of free motion, and number of consecutive steps with displacements by inertia below it,
after which the solution starts from zero displacement, and ends there if the residual allows. So
solids come to rest. At the turning point of a vibration they are as slow, but for fewer steps."""


@dataclass(frozen=True, eq=False)
class StepPose:
    """Where something poses a solid at the start of a step."""

    nodes: Floats
    """(3, m) [m]"""
    way: Floats
    """(3, m) way of the nodes by the pose in the step [m]."""
    points: Floats
    """(3, p) [m]"""
    cells: Sequence[CellPose]
    """Per group of cells, rest shapes."""


@dataclass(eq=False)
class SolidStep:
    """Data of one step of a solid of m nodes."""

    solid: Solid
    state: SolidState
    system: SolidSystem
    """The system with pins and ground contacts, without colliders and other solids."""
    dt: float
    """Length of the step [s]."""
    h_squared: float
    """Factor that turns accelerations into displacements [s²]."""
    inertia: Floats
    """(3, m) displacement by inertia: that of the step before, after drag [m]."""
    free: Floats
    """(3, m) displacement of free motion: inertia, gravity and force fields [m]."""
    ground_shift: Floats
    """(3,) displacement of the ground in this step [m]."""
    free_motion: float
    """Σ m |free|² [kg m²]."""
    pose: StepPose | None = None
    """Set where something poses the solid, as flesh: nodes of the state are displacements then."""
    start: SolidState = field(init=False)
    """The state at the start, from which the step can be solved more than once; set by
    `begin_step`."""
    stress_forces: Floats | None = None
    """(3, m) right side of the system by stress, times h²; computed on demand [kg m]."""
    contact_count: int = -1
    """Contacts with colliders and other solids in the last solution; −1 = not solved yet."""


def begin_step(
    step: SolidStep,
    planes: Sequence[PlaneContact],
    pins: tuple[Floats, Floats] | None,
    predicted: Floats,
    ground_lifts: Floats,
) -> None:
    """Sets pins, ground contacts and predicted positions, and stores the start of the step.

    Parameters
    ----------
    planes : the ground as at most one contact.
    pins : (3, g) targets of pins and soft pins [m], and (g,) compliances [m/N]; None without any.
    predicted : (3, p) points after free motion and ground depenetration [m].
    ground_lifts : (3, p) displacements by ground depenetration, which give no velocity [m].
    """
    state, system = step.state, step.system
    lift_with_ground(step.solid, state, ground_lifts)
    state.anchors += step.ground_shift[:, None]
    system.predicted[:] = predicted
    np.add(state.nodes, step.free, out=system.predicted_nodes)
    slow = motion_square(step.solid, step.inertia) < SLOW_SHARE * SLOW_SHARE * step.free_motion
    state.slow_steps = state.slow_steps + 1 if slow else 0
    if state.slow_steps >= SLOW_STEPS:
        state.moves = -step.free
    if pins is not None:
        set_pin_springs(system, step.solid, step.h_squared, *pins)
    set_ground_contacts(system.contacts, planes)
    step.start = copy(state)
    step.start.anchors = state.anchors.copy()


def predict_points(step: SolidStep) -> Floats:
    """(3, p) points after free motion and the moves of the last step, to detect contacts [m]."""
    return step.system.predicted + interpolate(step.solid.embedding, step.state.moves)


def solve_steps(
    steps: Sequence[SolidStep], colliders: Sequence[ColliderContacts | None]
) -> list[Floats]:
    """Solves a step of solids that do not touch each other, and updates their states.

    Returns (3, p) points of each outside of ground and colliders [m]. May be called again in the
    same step, with more collider contacts. A solid that was at rest in the step before stays at
    rest if its inputs are the same.
    """
    points = list(map(_points_without_solution, steps, colliders))
    unknown = [number for number, own in enumerate(points) if own is None]
    given = [steps[number] for number in unknown], [colliders[number] for number in unknown]
    for number, own in zip(unknown, _solve(*given), strict=True):
        points[number] = own
        _rest(steps[number], colliders[number], own)
    return [own for own in points if own is not None]


def _points_without_solution(step: SolidStep, colliders: ColliderContacts | None) -> Floats | None:
    """(3, p) points of a solid that rests or falls freely, whose state is updated; else None."""
    state = step.state
    state.anchors[:] = step.start.anchors
    state.solid_friction = NO_FRICTION
    if state.sleep_state is not None and equal_arrays(
        all_inputs(step, colliders), state.sleep_state.inputs
    ):
        keep_at_rest(step)
        state.collider_anchors = step.start.collider_anchors
        return state.sleep_state.points.copy()
    state.sleep_state = None
    return _fall_freely(step) if colliders is None and _falls_freely(step) else None


def _rest(step: SolidStep, colliders: ColliderContacts | None, points: Floats) -> None:
    """Stops a solid that has come to rest at points (3, p)."""
    if is_at_rest(step):
        keep_at_rest(step)
        inputs = [rows.copy() for rows in all_inputs(step, colliders)]
        step.state.sleep_state = SleepState(inputs, points.copy())


def is_at_rest(step: SolidStep) -> bool:
    """True if displacements before, in and after the step are a vanishing share of free motion.

    At the turning point of a vibration, the step before was not slow.
    """
    state = step.state
    moved = state.nodes - step.start.nodes
    displacements = step.inertia, moved, state.nodes - state.previous_nodes
    most = 1e-5**2 * step.free_motion
    return (
        state.slow_steps > 0
        and max(motion_square(step.solid, displacement) for displacement in displacements) <= most
    )


def _falls_freely(step: SolidStep) -> bool:
    """True for an unstressed solid without pins in pure translation, free of ground contacts."""
    contacts, least = step.system.contacts, NEGLIGIBLE_MOVE * float(np.abs(step.free).max())
    return (
        step.state.unstressed
        and not len(step.system.pin_springs.points)
        and float(np.ptp(step.free, axis=1).max()) <= least
        and float(np.ptp(step.inertia, axis=1).max()) <= least
        and not (dot(contacts.normals, step.system.predicted) < contacts.levels).any()
    )


def _fall_freely(step: SolidStep) -> Floats:
    """(3, p) points after free motion alone; updates the state."""
    state, system = step.state, step.system
    state.nodes, state.previous_nodes = system.predicted_nodes.copy(), step.start.nodes
    state.moves = np.zeros_like(step.free)
    state.anchors.fill(np.nan)
    state.collider_anchors = state.anchors.copy()
    return system.predicted.copy()


def keep_at_rest(step: SolidStep) -> None:
    """Sets nodes to the start of the step, with velocity 0."""
    state, nodes = step.state, step.start.nodes
    state.nodes, state.previous_nodes, state.moves = nodes, nodes, -step.free


def all_inputs(step: SolidStep, colliders: ColliderContacts | None) -> list[Floats]:
    """Inputs that decide whether a solid at rest stays at rest."""
    contacts, pin_springs = step.system.contacts, step.system.pin_springs
    own = [step.free, step.ground_shift, step.system.predicted]
    own += [pin_springs.targets, pin_springs.stiffnesses]
    own += [contacts.normals, contacts.levels, contacts.frictions]
    return own if colliders is None else [*own, *vars(colliders).values()]


def equal_arrays(first: Sequence[Floats], second: Sequence[Floats]) -> bool:
    """True if both sequences have equal arrays."""
    return len(first) == len(second) and all(map(np.array_equal, first, second))


def _solve(
    steps: Sequence[SolidStep], colliders: Sequence[ColliderContacts | None]
) -> list[Floats]:
    """(3, p) points of each solid after a solution for stress, pins and contacts."""
    problems = list(map(_problem, steps, map(system_with, steps, colliders)))
    solve_solids(problems)
    return list(map(_finish, steps, problems, colliders))


def _problem(step: SolidStep, system: SolidSystem) -> SolidProblem:
    """What a step is solved from, and room for its solution."""
    known = step.stress_forces if step.pose is None else find_stress_forces(step)
    return SolidProblem(
        system=system,
        tolerance=solver_tolerance([step]),
        modulus=step.solid.modulus,
        h_squared=step.h_squared,
        start=step.start.nodes,
        displacement=_stressing_displacement(step),
        is_stressed=known is not None,
        right=np.empty_like(step.free) if known is None else known,
        moves=step.state.moves,
        nodes=np.empty_like(step.free),
        previous_nodes=np.empty_like(step.free),
        points=np.empty_like(system.predicted),
    )


def _finish(step: SolidStep, problem: SolidProblem, colliders: ColliderContacts | None) -> Floats:
    """(3, p) points after a solution; updates the state."""
    state, points = step.state, problem.points
    state.solutions += 1
    if not problem.is_stressed:
        _set_stress(step, problem.right)
    state.nodes, state.previous_nodes = problem.nodes, problem.previous_nodes
    if colliders is None:
        state.collider_anchors = np.full_like(points, np.nan)
        return points
    return store_anchors(step, problem.system.contacts, colliders, points)


def system_with(step: SolidStep, colliders: ColliderContacts | None) -> SolidSystem:
    """The system of a solid, with its collider contacts; none is active."""
    step.system.contacts.friction_stiffnesses.fill(-1.0)
    if colliders is None:
        return step.system
    area_factors = step.solid.surface.area_factors
    return with_colliders(step.system, colliders, area_factors, step.start.collider_anchors)


def store_anchors(
    step: SolidStep, contacts: PointContacts, colliders: ColliderContacts, points: Floats
) -> Floats:
    """(3, p) the first of `points`, outside of colliders; stores the anchors of a solution."""
    count = len(step.solid.layer_masses)
    step.state.anchors[:] = contacts.anchors[:, :count]
    step.state.collider_anchors = find_collider_anchors(contacts, colliders, count)
    surface_points = points[:, :count].copy()
    push_out_of_colliders(colliders, surface_points)
    return surface_points


def find_stress_forces(step: SolidStep) -> Floats:
    """(3, m) `SolidStep.stress_forces`, computed once per step [kg m]."""
    if step.stress_forces is None:
        _set_stress(step, _stress_forces(step))
    assert step.stress_forces is not None
    return step.stress_forces


def _stress_forces(step: SolidStep) -> Floats:
    """(3, m) h² f − K (c₊ free + c₋ inertia), stress f at the start [kg m]."""
    solid, corotations, nodes = step.solid, step.state.corotations, step.start.nodes
    last = solid.modulus, _stressing_displacement(step)
    if step.pose is None:
        forces, opposed = find_stress(solid.lattice, nodes, corotations, *last)
    else:
        posed = solid.lattice, nodes + step.pose.nodes, corotations, step.pose.cells
        forces, opposed = find_posed_stress(*posed, *last)
    return np.asarray(step.h_squared * forces - opposed)


def solver_tolerance(steps: Sequence[SolidStep]) -> SolverTolerance:
    """Tolerance of the solution for solids that are solved as one system."""
    return SolverTolerance(
        relative=min(residual_share(step.solid, step.dt) for step in steps),
        absolute=min(
            relative_change(step.solid) ** 2 * relative_motion_square(step.solid, step.inertia)
            for step in steps
        ),
        min_rounds=0
        if all(step.state.slow_steps >= SLOW_STEPS for step in steps)
        else MIN_CG_ROUNDS,
        negligible=NEGLIGIBLE_MOVE * NEGLIGIBLE_MOVE * min(step.free_motion for step in steps),
    )


def _stressing_displacement(step: SolidStep) -> Floats:
    """(3, m) displacement c₊ free + c₋ inertia that stress resists, see `step_shares` [m s²]."""
    implicit, passed = step_shares(step.solid, step.dt, step.h_squared)
    return np.asarray(implicit * step.free + passed * step.inertia)


def _set_stress(step: SolidStep, forces: Floats) -> None:
    """Stores h² f − K (c₊ free + c₋ inertia), stress f at the start, (3, m) [kg m]."""
    step.stress_forces = forces
    step.state.unstressed = (
        motion_square(step.solid, forces / step.solid.masses)
        <= NEGLIGIBLE_MOVE * NEGLIGIBLE_MOVE * step.free_motion
    )
