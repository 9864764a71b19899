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

from ..arrays import Floats, dot
from ..contact.plane import PlaneContact
from .collider_contacts import (
    ColliderContacts,
    find_collider_anchors,
    push_out_of_colliders,
    with_colliders,
)
from .compiled_contact_solver import clamp_points, solve_contacts, update_velocities
from .compiled_kernels import find_stress, interpolate
from .external_moves import lift_with_ground
from .numpy_contact_solver import SolidSystem, SolverTolerance
from .solid_body import NO_FRICTION, SleepState, Solid, SolidFriction, SolidState
from .solid_system import set_ground_contacts, set_pin_springs, step_shares

SOLID_RESIDUAL = 1.5e-3
"""Share of what is to be solved for that is left. Where steps are longer than the delay, it is less
by their ratio, for stress outweighs what moves the whole body. With 2e-3 a bar that has hung lower
before sags half a per cent more than one that has not."""
QUADRATIC_RESIDUAL_SHARE = 2.0 / 3.0
"""Share of that which is left where cells are curved: what slides would shake itself, and lose up
to a fifteenth of its speed by that."""
MIN_RELATIVE_CHANGE = 2e-3
"""Nor need more be found than changes by this share how nodes move beside each other: the next step
finds it. Uneven meshes take a third fewer rounds. The way of the whole body does not count, or what
wobbles as it falls would stop."""
MIN_CG_ROUNDS = 2
"""Rounds of conjugate gradients that each step of what moves takes, however little there is to
solve for: without, small swings never fade."""
NEGLIGIBLE_MOVE = 1e-8
"""Moves that change the way of a step by less than this share need not be found: what falls
freely is not solved for."""
REST_SHARE = 1e-5
"""What moves by less than this share of how far it would go freely has come to rest."""
SLOW_SHARE, SLOW_STEPS = 0.02, 8
"""What moved by less than this share of how far it would go freely, for so many steps on end, is
tried as lying still: it does if that leaves no more to be solved for than may be left. So what lies
comes to rest. What turns back at the end of a swing is as slow, but for fewer steps."""


@dataclass(frozen=True, eq=False)
class SolidStepStart:
    """What moves a solid in one step, before it is known what it touches."""

    nodes: Floats
    """(3, m) where its nodes are [m]."""
    anchors: Floats
    """(3, p) where friction of the ground has held points until now, else nan [m]."""
    collider_anchors: Floats
    """(3, p) the same of colliders [m]."""
    solid_friction: SolidFriction
    """The same of other solids."""


@dataclass(eq=False)
class SolidStep:
    """A solid on its way through one step: where it would get to without stress."""

    solid: Solid
    state: SolidState
    system: SolidSystem
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
    free_motion: float
    """Of free motion, Σ m v² [kg m²]."""
    start: SolidStepStart | None = None
    stress_forces: Floats | None = None
    """(3, m) of stress, on the way of free motion, times h² [kg m]; found when it is needed."""
    contact_count: int = -1
    """How many places are stopped where it is now; −1 = its stress is not solved for yet."""


def begin_step(
    step: SolidStep,
    planes: Sequence[PlaneContact],
    pins: tuple[Floats, Floats],
    predicted: Floats,
    ground_lifts: Floats,
) -> None:
    """Finds what moves a solid in this step.

    Parameters
    ----------
    pins : (3, g) where they and goals draw what the system names [m], and (g,) compliances.
    predicted : (3, p) where free motion leads its points, once they are eased [m].
    ground_lifts : (3, p) how far they are carried without speed [m].
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
    set_pin_springs(system, step.solid, step.h_squared, *pins)
    set_ground_contacts(system.contacts, planes)
    step.start = SolidStepStart(
        nodes=state.nodes,
        anchors=state.anchors.copy(),
        collider_anchors=state.collider_anchors,
        solid_friction=state.solid_friction,
    )


def predict_points(step: SolidStep) -> Floats:
    """(3, p) where points end if stress and contact add to free motion what they did last [m]."""
    ends = step.state.nodes + step.free + step.state.moves
    return np.asarray(interpolate(step.solid.embedding, ends))


def solve_step(step: SolidStep, colliders: ColliderContacts | None = None) -> Floats:
    """Moves a solid on by one step; (3, p) where its points are, outside of all that stops them.

    It may be done again, once more is known of what is in its way. What moved nothing in the step
    before would move nothing again.
    """
    state, start, inputs = step.state, step.start, all_inputs(step, colliders)
    assert start is not None
    state.anchors[:] = start.anchors
    state.solid_friction = NO_FRICTION
    if state.sleep_state is not None and equal_arrays(inputs, state.sleep_state.inputs):
        keep_at_rest(step, start)
        state.collider_anchors = start.collider_anchors
        return state.sleep_state.points.copy()
    state.sleep_state = None
    if colliders is None and _falls_freely(step):
        return _fall_freely(step, start)
    points = _solve(step, start, colliders)
    if is_at_rest(step, start):
        keep_at_rest(step, start)
        state.sleep_state = SleepState([rows.copy() for rows in inputs], points.copy())
    return points


def is_at_rest(step: SolidStep, start: SolidStepStart) -> bool:
    """Whether a solid has come to rest; one that only turns back has been quicker before."""
    state = step.state
    displacements = step.inertia, state.nodes - start.nodes, state.nodes - state.previous_nodes
    most = REST_SHARE * REST_SHARE * step.free_motion
    return (
        state.slow_steps > 0
        and max(motion_square(step.solid, displacement) for displacement in displacements) <= most
    )


def _falls_freely(step: SolidStep) -> bool:
    """Whether a solid that nothing strains goes on without turning, and touches nothing there."""
    contacts, least = step.system.contacts, NEGLIGIBLE_MOVE * float(np.abs(step.free).max())
    return (
        step.state.unstressed
        and not len(step.system.pin_springs.points)
        and float(np.ptp(step.free, axis=1).max()) <= least
        and float(np.ptp(step.inertia, axis=1).max()) <= least
        and not (dot(contacts.normals, step.system.predicted) < contacts.levels).any()
    )


def _fall_freely(step: SolidStep, start: SolidStepStart) -> Floats:
    """(3, p) where points are once nodes have gone where inertia and gravity lead them."""
    state, system = step.state, step.system
    state.nodes, state.previous_nodes = system.predicted_nodes.copy(), start.nodes
    state.moves = np.zeros_like(step.free)
    state.anchors.fill(np.nan)
    state.collider_anchors = state.anchors.copy()
    return system.predicted.copy()


def keep_at_rest(step: SolidStep, start: SolidStepStart) -> None:
    """Leaves nodes where they are, without speed."""
    state = step.state
    state.nodes, state.previous_nodes, state.moves = start.nodes, start.nodes, -step.free


def step_inputs(system: SolidSystem, free: Floats, ground_shift: Floats) -> list[Floats]:
    """All that decides how far a solid moves from where it lies without speed, but for colliders.

    Parameters
    ----------
    free, ground_shift : (3, m) and (3,) see `SolidStep`.
    """
    contacts, pin_springs = system.contacts, system.pin_springs
    own = [free, ground_shift, system.predicted, pin_springs.targets, pin_springs.stiffnesses]
    return [*own, contacts.normals, contacts.levels, contacts.frictions]


def all_inputs(step: SolidStep, colliders: ColliderContacts | None) -> list[Floats]:
    """The same with colliders."""
    own = step_inputs(step.system, step.free, step.ground_shift)
    return (
        own if colliders is None else own + [getattr(colliders, f.name) for f in fields(colliders)]
    )


def equal_arrays(first: Sequence[Floats], second: Sequence[Floats]) -> bool:
    """Whether all arrays are the same."""
    return len(first) == len(second) and all(map(np.array_equal, first, second))


def _solve(step: SolidStep, start: SolidStepStart, colliders: ColliderContacts | None) -> Floats:
    """(3, p) where points are once stress and what stops them are solved for."""
    solid, state, system = step.solid, step.state, step.system
    system.contacts.friction_stiffnesses.fill(-1.0)
    forces = find_stress_forces(step, start)
    if colliders is not None:
        system = with_colliders(
            system, colliders, solid.surface.area_factors, start.collider_anchors
        )
    solve_contacts(system, forces, state.moves, solver_tolerance([step]))
    state.nodes, state.previous_nodes = update_velocities(system, start.nodes, state.moves)
    contact_points = clamp_points(system, state.nodes)
    if colliders is None:
        state.collider_anchors = np.full_like(contact_points, np.nan)
        return contact_points
    count = len(solid.layer_masses)
    state.anchors[:] = system.contacts.anchors[:, :count]
    state.collider_anchors = find_collider_anchors(system.contacts, colliders, count)
    points = np.array(contact_points[:, :count])
    push_out_of_colliders(colliders, points)
    return points


def find_stress_forces(step: SolidStep, start: SolidStepStart) -> Floats:
    """(3, m) of stress, found once a step, see `SolidStep` [kg m]."""
    if step.stress_forces is None:
        step.stress_forces = _stress(step, start.nodes)
    return step.stress_forces


def solver_tolerance(steps: Sequence[SolidStep]) -> SolverTolerance:
    """How well the moves of solids are solved for."""
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


def relative_change(solid: Solid) -> float:
    """MIN_RELATIVE_CHANGE, or 0 for several pieces, whose motions do not count for each other."""
    return MIN_RELATIVE_CHANGE if len(np.unique(solid.free_components)) == 1 else 0.0


def residual_share(solid: Solid, dt: float) -> float:
    """The share of what is to be solved for that may be left in steps of this length [s]."""
    share = QUADRATIC_RESIDUAL_SHARE if len(solid.lattice.quadratic.nodes) else 1.0
    return share * SOLID_RESIDUAL / max(1.0, dt / solid.retardation_time)


def motion_square(solid: Solid, moves: Floats) -> float:
    """How far nodes move by (3, m): Σ m v² [kg m²]."""
    return float((solid.masses * moves * moves).sum())


def relative_motion_square(solid: Solid, moves: Floats) -> float:
    """The same, seen by who moves along with the mean of all nodes [kg m²]."""
    mean = (solid.masses * moves).sum(axis=1, keepdims=True) / solid.masses.sum()
    return motion_square(solid, moves - mean)


def _stress(step: SolidStep, start: Floats) -> Floats:
    """(3, m) what stress pulls nodes at `start` (3, m) with on their free way, times h² [kg m]."""
    solid, state = step.solid, step.state
    implicit, passed = step_shares(solid, step.dt, step.h_squared)
    displacement = implicit * step.free + passed * step.inertia
    forces, opposed = find_stress(
        solid.lattice, start, state.corotations, solid.modulus, displacement
    )
    forces = step.h_squared * forces - opposed
    state.unstressed = (
        motion_square(solid, forces / solid.masses)
        <= NEGLIGIBLE_MOVE * NEGLIGIBLE_MOVE * step.free_motion
    )
    return np.asarray(forces)
