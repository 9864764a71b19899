"""One step of the simulation, readable from top to bottom."""

from dataclasses import dataclass

from .arrays import Floats
from .bending.sweep import project_bends
from .contact.plane import collide_with_plane
from .mesh import Ground
from .model import SoftBodyModel
from .momentum import conserve_momentum
from .ropes.numpy_kernels import add_pulls_from_start, project_tree_tension, undo_implicit_damping
from .ropes.sweep import project_ropes
from .settings import SceneSettings
from .state import Batches, ParticleState, ready_batches
from .stretch.numpy_kernels import strain_range
from .stretch.numpy_warm_start import project_former_tension
from .stretch.sweep import project_levels, project_shear, project_stretch
from .volume.numpy_kernels import project_volumes

SURFACE_MEMORY = 0.95
"""Share of its tension that a held surface starts a step from; above 0.95 free wrinkles oscillate.
Surfaces that nothing holds carry no load, and start from none."""
TAUT = 2.0
"""Surfaces' former tension is solved for strip by strip where h² T/(l m) is above this."""


@dataclass(frozen=True, eq=False)
class StepInput:
    """What acts on the bodies during one step."""

    dt: float
    """[s], above 0."""
    gravity: Floats
    """(3,) [m/s²]"""
    targets: Floats
    """(3, n) where pins are at the end of the step [m]."""
    ground: Ground | None
    """At the end of the step."""
    ground_shift: Floats
    """(3,) how far the ground moves during the step [m]."""


def step(
    model: SoftBodyModel, state: ParticleState, settings: SceneSettings, given: StepInput
) -> None:
    """Moves the state on by one time step."""
    start = state.positions
    batches = ready_batches(model, state, settings.integrator, given.dt)
    integrate(model, state, batches, given)
    arrival = state.positions.copy()
    project_former_tensions(state.positions, batches)
    for sweep in range(settings.iterations):
        if sweep and is_relaxed(state, batches, settings.tolerance):
            break
        backwards = (state.steps + sweep) % 2 == 1
        project_levels(state.positions, model.lengths, batches.lengths)
        project_goals(model, state, batches, given)
        project_bends(state.positions, batches.bends, backwards=backwards)
        project_volumes(state.positions, model.triangles, model.volumes, model.inverse_masses)
        project_shear(state.positions, batches.lengths, backwards=backwards)
        project_stretch(
            state.positions, model.lengths, batches.lengths, dt=given.dt, backwards=backwards
        )
        project_ropes(state.positions, batches.ropes)
    state.positions = conserve_momentum(model, arrival, state.positions, about=start)
    regain_speed(model, state, batches, start)
    collide(model, state, settings, given, start, arrival)
    state.previous_dt = given.dt
    state.steps += 1


def integrate(
    model: SoftBodyModel, state: ParticleState, batches: Batches, given: StepInput
) -> None:
    """Lets particles go on under gravity and springs, and puts pinned ones on their targets."""
    moved = (state.positions - state.previous_positions) * batches.velocity_gain
    moved += given.gravity[:, None] * batches.h_squared
    add_pulls_from_start(moved, state.positions, batches.ropes.strips())
    state.previous_positions = state.positions.copy()
    state.positions = state.positions + moved
    state.positions[:, model.pinned] = given.targets[:, model.pinned]


def project_former_tensions(positions: Floats, batches: Batches) -> None:
    """Starts strips from the tension they had, so that projections only have to find its change."""
    project_former_tension(positions, batches.lengths.net, kept=SURFACE_MEMORY, taut=TAUT)
    project_former_tension(positions, batches.ropes.net, kept=1.0, taut=0.0)
    project_tree_tension(positions, batches.ropes.trees)


def project_goals(
    model: SoftBodyModel, state: ParticleState, batches: Batches, given: StepInput
) -> None:
    """Draws softly pinned particles towards their targets: C = x − target, with compliance."""
    if len(model.goals):
        inverse_masses = model.inverse_masses[model.goals]
        softness = model.goal_compliances / batches.h_squared
        share = inverse_masses / (inverse_masses + softness)
        missing = given.targets[:, model.goals] - state.positions[:, model.goals]
        state.positions[:, model.goals] += missing * share


def is_relaxed(state: ParticleState, batches: Batches, tolerance: float) -> bool:
    """Whether no edge is longer than its tension warrants by this share; never for 0."""
    if tolerance == 0.0:
        return False
    strips = [*batches.lengths.edges, *batches.ropes.strips()]
    return strain_range(state.positions, strips)[1] < tolerance


def regain_speed(
    model: SoftBodyModel, state: ParticleState, batches: Batches, start: Floats
) -> None:
    """Gives ropes back the speed that solving for the end of the step has cost them.

    Not rings and nets: they are not solved to the last digit, and would gain more than they lost.
    """
    ropes = [level.batch for level in batches.ropes.trees.levels]
    if ropes:
        before = state.previous_positions.copy()
        undo_implicit_damping(state.previous_positions, start, state.positions, ropes)
        state.previous_positions = conserve_momentum(
            model, before, state.previous_positions, about=state.positions
        )


def collide(
    model: SoftBodyModel,
    state: ParticleState,
    settings: SceneSettings,
    given: StepInput,
    start: Floats,
    arrival: Floats,
) -> None:
    """Keeps bodies above the ground."""
    if given.ground is None:
        state.burial = None
    else:
        collide_with_plane(
            model,
            state,
            given.ground,
            start=start,
            arrival=arrival,
            ground_shift=given.ground_shift,
            gravity=given.gravity,
            dt=given.dt,
            friction=settings.ground_friction,
            restitution=settings.ground_restitution,
        )
