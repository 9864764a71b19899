"""One step of the simulation, readable from top to bottom."""

from dataclasses import dataclass

import numpy as np

from .colliders import collide_with_plane
from .constraints import distance_batches, stencil_batches
from .integrators import step_gains
from .kernels import numpy_kernels as kernels
from .mesh import Floats, Ground
from .model import Batches, ParticleState, SoftBodyModel
from .settings import SceneSettings


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
    batches = _ready_batches(model, state, settings, given.dt)
    integrate(model, state, settings, given)
    arrival = state.positions.copy()
    for sweep in range(settings.iterations):
        project_levels(model, state, batches)
        project_tethers(model, state)
        project_goals(model, state, batches, given)
        project_constraints(state, batches, backwards=(state.steps + sweep) % 2 == 1)
    conserve_momentum(model, state, start, arrival)
    collide(model, state, settings, given, start, arrival)
    state.previous_dt = given.dt
    state.steps += 1


def integrate(
    model: SoftBodyModel, state: ParticleState, settings: SceneSettings, given: StepInput
) -> None:
    """Lets every particle go on freely, and puts pinned ones on their targets."""
    velocity_gain, acceleration_gain = step_gains(
        settings.integrator, given.dt, state.previous_dt, model.dampings
    )
    moved = (state.positions - state.previous_positions) * velocity_gain
    moved += given.gravity[:, None] * acceleration_gain
    state.previous_positions = state.positions
    state.positions = state.positions + moved
    state.positions[:, model.pinned] = given.targets[:, model.pinned]


def project_levels(model: SoftBodyModel, state: ParticleState, batches: Batches) -> None:
    """Solves each coarse level, and hands its corrections down to the next finer one."""
    for level, limits in zip(model.levels, batches.levels, strict=True):
        coarse = state.positions[:, level.particles]
        before = coarse.copy()
        kernels.project_at_most(coarse, limits)
        coarse -= before
        if coarse.any():
            kernels.add_interpolated(state.positions, level, coarse)


def project_tethers(model: SoftBodyModel, state: ParticleState) -> None:
    """Draws in whatever is further from its pin than it can be."""
    if len(model.tethered):
        kernels.project_tethers(
            state.positions, model.tethered, model.tether_pins, model.tether_lengths
        )


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


def project_constraints(state: ParticleState, batches: Batches, *, backwards: bool) -> None:
    """One relaxation sweep, bends first and stretch last; backwards every other time.

    A sweep that always runs the same way is slightly unstable; there and back is neutral.
    """
    way = slice(None, None, -1) if backwards else slice(None)
    x = state.positions
    kernels.project_bends(x, batches.rope_lines[way])
    kernels.project_flat_bends(x, batches.lines[way])
    kernels.project_flat_bends(x, batches.flat_hinges[way])
    kernels.project_signed_bends(x, batches.hinges[way])
    kernels.project_distances(x, batches.shear[way])
    kernels.project_at_most(x, batches.folds[way])
    kernels.project_distances(x, batches.stretch[way])


def conserve_momentum(
    model: SoftBodyModel, state: ParticleState, start: Floats, arrival: Floats
) -> None:
    """Takes back what constraints did to the momentum of bodies that nothing holds.

    Internal forces cannot change it; interpolated and implicit corrections do, a little. Discrete
    angular momentum is Σ m x × (x' − x)/h, so the corrections' moments count about `start`.
    """
    label = model.free_components
    free = np.flatnonzero(label >= 0)
    if not len(free):
        return
    label = label[free]
    count = int(label.max()) + 1
    masses = 1.0 / model.inverse_masses[free]

    def total(values: Floats) -> Floats:
        return np.stack([np.bincount(label, row, count) for row in values])

    whole = np.bincount(label, masses, count)
    arms = start[:, free]
    arms = arms - (total(arms * masses) / whole)[:, label]
    change = state.positions[:, free] - arrival[:, free]
    drift = (total(change * masses) / whole)[:, label]
    spin = total(np.cross(arms, change, axis=0) * masses).T
    squares = np.einsum("ik,jk->ijk", arms, arms) * masses
    second = total(squares.reshape(9, -1)).T.reshape(-1, 3, 3)
    inertia = np.trace(second, axis1=1, axis2=2)[:, None, None] * np.eye(3) - second
    turn = np.einsum("cij,cj->ic", np.linalg.pinv(inertia, rcond=1e-9, hermitian=True), spin)
    state.positions[:, free] -= drift + np.cross(turn[:, label], arms, axis=0)


def collide(
    model: SoftBodyModel,
    state: ParticleState,
    settings: SceneSettings,
    given: StepInput,
    start: Floats,
    arrival: Floats,
) -> None:
    """Keeps bodies above the ground."""
    if given.ground is not None:
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


def _ready_batches(
    model: SoftBodyModel, state: ParticleState, settings: SceneSettings, dt: float
) -> Batches:
    """The constraints for this step's h², the same that gravity has, with multipliers at zero."""
    h_squared = float(step_gains(settings.integrator, dt, state.previous_dt, 0.0)[1])
    if state.batches is None or state.batches.h_squared != h_squared:
        state.batches = _make_batches(model, h_squared)
    for batch in state.batches.all():
        batch.multipliers.fill(0.0)
    return state.batches


def _make_batches(model: SoftBodyModel, h_squared: float) -> Batches:
    """Every constraint set of the model for one h²."""
    w = model.inverse_masses
    return Batches(
        h_squared=h_squared,
        stretch=distance_batches(model.stretch, w, h_squared),
        shear=distance_batches(model.shear, w, h_squared),
        folds=distance_batches(model.folds, w, h_squared),
        lines=stencil_batches(model.lines, w, h_squared),
        rope_lines=stencil_batches(model.rope_lines, w, h_squared),
        flat_hinges=stencil_batches(model.flat_hinges, w, h_squared),
        hinges=stencil_batches(model.hinges, w, h_squared),
        levels=[
            distance_batches(level.limits, level.inverse_masses, h_squared)
            for level in model.levels
        ],
    )
