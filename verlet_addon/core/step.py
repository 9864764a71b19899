"""One step of the simulation, readable from top to bottom."""

from dataclasses import dataclass

import numpy as np

from .arrays import Floats
from .bending import numpy_kernels as bend_kernels
from .bending.choice import bend_batches
from .contact.plane import collide_with_plane
from .integrators import step_gains
from .mesh import Ground
from .model import Batches, ParticleState, SoftBodyModel
from .momentum import conserve_momentum
from .ropes import numpy_kernels as rope_kernels
from .ropes.springs import acting_from_start
from .ropes.trees import tree_batches
from .settings import SceneSettings
from .stretch import numpy_kernels as stretch_kernels
from .stretch.at_most import distance_batches
from .stretch.leftovers import make_links
from .stretch.numpy_clusters import project_clusters
from .stretch.numpy_warm_start import project_former_tension
from .stretch.strips import strip_batches
from .stretch.warm_start import make_net
from .volume import numpy_kernels as volume_kernels

SURFACE_FIRMNESS = 3e-5
"""Keeps the strips of surfaces, solved once a sweep, from jumping where they buckle."""
SURFACE_MEMORY = 0.95
"""Share of its tension that a held surface starts a step from; all of it would let wrinkles shiver.
Surfaces that nothing holds carry no load, and start from none."""
STIFFEST = 20.0
"""Triangles whose bends are stiffer than this start from none either: what bends and tension each
take from the other would grow."""
TAUT = 2.0
"""Surfaces' former tension is solved for strip by strip where h² T/(l m) is above this."""
SURFACE_TOLERANCE = 4e-3
"""Surfaces are swept until a sweep found no edge stretched by more than this share to mend…"""
SURFACE_UNREST = 300.0
"""…nor by more than this times h², for what is left over shakes the cloth [1/s²]…"""
FORWARD_SWEEPS = (1, 1)
"""…or so often, from the tautest strips to the slackest…"""
BACKWARD_SWEEPS = (-1, 1)
"""…and so in every other step, −1 being from the slackest to the tautest."""
MOST_SHORT_ROUNDS = 6
"""Short edges and clusters, and the edges around, are mended in turn so often at most."""
ROPE_FIRMNESS = 1e-9
"""Ropes are solved to tolerance and need only be solvable."""
ROPE_TOLERANCE = 1e-7
"""Ropes are solved until every edge keeps its length to this share."""
MOST_ROPE_ROUNDS = 30
"""Give up after so many rounds: a rope pulled from both ends cannot keep its length."""


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
    batches = ready_batches(model, state, settings, given)
    integrate(model, state, batches, given)
    arrival = state.positions.copy()
    project_former_tensions(state, batches)
    for sweep in range(settings.iterations):
        if sweep and is_relaxed(state, batches, settings.tolerance):
            break
        backwards = (state.steps + sweep) % 2 == 1
        project_levels(model, state, batches)
        project_goals(model, state, batches, given)
        project_bends(state, batches, backwards=backwards)
        project_volumes(model, state)
        project_shear(state, batches, backwards=backwards)
        project_clusters(state.positions, model.lengths.clusters)
        project_stretch(model, state, batches, backwards=backwards)
        project_short(model, state, batches)
        project_ropes(state, batches)
    state.positions = conserve_momentum(model, arrival, state.positions, about=start)
    regain_speed(model, state, batches, start)
    collide(model, state, settings, given, start, arrival)
    state.previous_dt = given.dt
    state.steps += 1


def integrate(
    model: SoftBodyModel, state: ParticleState, batches: Batches, given: StepInput
) -> None:
    """Lets particles go on under gravity and springs, and puts pinned ones on their targets."""
    moved = (state.positions - state.previous_positions) * batches.velocity_gains
    moved += given.gravity[:, None] * batches.h_squared
    rope_kernels.add_pulls_from_start(moved, state.positions, batches.rope_strips())
    state.previous_positions = state.positions.copy()
    state.positions = state.positions + moved
    state.positions[:, model.pinned] = given.targets[:, model.pinned]


def project_former_tensions(state: ParticleState, batches: Batches) -> None:
    """Starts strips from the tension they had, so that projections only have to find its change."""
    positions = state.positions
    project_former_tension(positions, batches.stretch_net, kept=SURFACE_MEMORY, taut=TAUT)
    project_former_tension(positions, batches.rope_net, kept=1.0, taut=0.0)
    rope_kernels.project_tree_tension(positions, batches.trees)


def project_levels(model: SoftBodyModel, state: ParticleState, batches: Batches) -> None:
    """Solves each coarse level, and hands its corrections down to the next finer one."""
    for level, limits in zip(model.lengths.levels, batches.levels, strict=True):
        coarse = state.positions[:, level.particles]
        before = coarse.copy()
        stretch_kernels.project_at_most(coarse, limits)
        coarse -= before
        if coarse.any():
            stretch_kernels.add_interpolated(state.positions, level, coarse)


def project_goals(
    model: SoftBodyModel, state: ParticleState, batches: Batches, given: StepInput
) -> None:
    """Draws softly pinned particles towards their targets: C = x − target, with compliance."""
    if len(model.goals):
        inverse_masses = model.inverse_masses[model.goals]
        softness = model.goal_compliances / batches.h_squared[model.goals]
        share = inverse_masses / (inverse_masses + softness)
        missing = given.targets[:, model.goals] - state.positions[:, model.goals]
        state.positions[:, model.goals] += missing * share


def project_bends(state: ParticleState, batches: Batches, *, backwards: bool) -> None:
    """Draws ropes and surfaces back to their rest angles."""
    way = slice(None, None, -1) if backwards else slice(None)
    bends = batches.bends
    bend_kernels.project_rope_bends(state.positions, bends.rope_lines[way])
    bend_kernels.project_stiff_bends(state.positions, bends.stiff)
    bend_kernels.project_bend_strips(state.positions, bends.line_strips[way])
    bend_kernels.project_flat_bends(state.positions, bends.lines[way])
    bend_kernels.project_flat_bends(state.positions, bends.flat_hinges[way])
    bend_kernels.project_signed_bends(state.positions, bends.hinges[way])


def project_volumes(model: SoftBodyModel, state: ParticleState) -> None:
    """Blows closed soft bodies up, or lets them shrink, to the volume they had."""
    if len(model.volumes.rest_volumes):
        volume_kernels.project_volumes(state.positions, model.volumes, model.inverse_masses)


def project_shear(state: ParticleState, batches: Batches, *, backwards: bool) -> None:
    """Draws faces back to their angles."""
    way = slice(None, None, -1) if backwards else slice(None)
    stretch_kernels.project_strips(state.positions, batches.shear[way])
    stretch_kernels.project_at_most(state.positions, batches.folds[way])


def project_stretch(
    model: SoftBodyModel, state: ParticleState, batches: Batches, *, backwards: bool
) -> None:
    """Sweeps over the edges of surfaces and over tethers until nothing is stretched noticeably.

    Every other step sweeps there and back: a sweep that always runs the same way is slightly
    unstable. The last one ends with the slackest strips, for the heavily loaded give way less to
    them than they to the loaded. What is left at single edges, those around them take.
    """
    tethers = model.lengths.tethers
    pins = state.positions[:, tethers.pins]
    tautest_first = sorted(batches.stretch, key=lambda batch: batch.multipliers.min())
    tolerance = min(SURFACE_TOLERANCE, SURFACE_UNREST * batches.steps[0] ** 2)
    for way in BACKWARD_SWEEPS if backwards else FORWARD_SWEEPS:
        stretch_kernels.project_tethers(state.positions, tethers, pins)
        largest = stretch_kernels.project_strips(state.positions, tautest_first[::way])
        if largest < tolerance:
            return
    stretch_kernels.share_stretch(state.positions, batches.stretch_links, tolerance)


def project_short(model: SoftBodyModel, state: ParticleState, batches: Batches) -> None:
    """Mends what is left of edges much shorter than those around, which hardly notice it."""
    for _ in range(MOST_SHORT_ROUNDS if batches.short else 0):
        stretch_kernels.share_stretch(state.positions, batches.stretch_links, SURFACE_TOLERANCE)
        stretch_kernels.project_strips(state.positions, batches.short)
        project_clusters(state.positions, model.lengths.clusters)
        if stretch_kernels.strain_range(state.positions, batches.short)[1] < SURFACE_TOLERANCE:
            break


def project_ropes(state: ParticleState, batches: Batches) -> None:
    """Solves ropes until no edge is longer or shorter than it should be by ROPE_TOLERANCE.

    One Newton step is not enough where a rope turns sharply within a step.
    """
    for _ in range(MOST_ROPE_ROUNDS):
        rope_kernels.project_trees(state.positions, batches.trees)
        stretch_kernels.project_strips(state.positions, batches.ropes)
        lowest, highest = stretch_kernels.strain_range(state.positions, batches.rope_strips())
        if max(-lowest, highest) < ROPE_TOLERANCE:
            break


def is_relaxed(state: ParticleState, batches: Batches, tolerance: float) -> bool:
    """Whether no edge is longer than its tension warrants by this share; never for 0."""
    if tolerance == 0.0:
        return False
    strips = [*batches.stretch, *batches.rope_strips()]
    return stretch_kernels.strain_range(state.positions, strips)[1] < tolerance


def regain_speed(
    model: SoftBodyModel, state: ParticleState, batches: Batches, start: Floats
) -> None:
    """Gives ropes back the speed that solving for the end of the step has cost them.

    Not rings and nets: they are not solved to the last digit, and would gain more than they lost.
    """
    ropes = [level.batch for level in batches.trees.levels]
    if ropes:
        before = state.previous_positions.copy()
        rope_kernels.undo_implicit_damping(state.previous_positions, start, state.positions, ropes)
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


def ready_batches(
    model: SoftBodyModel, state: ParticleState, settings: SceneSettings, given: StepInput
) -> Batches:
    """The constraints for the same h² that gravity has; strips remember their tension."""
    steps = (given.dt, state.previous_dt)
    if state.batches is None or state.batches.steps != steps:
        gains = step_gains(settings.integrator, *steps, model.dampings)
        former, state.batches = state.batches, _make_batches(model, steps, *gains)
        if former is not None:
            _carry_tension(former, state.batches)
    for batch in state.batches.fresh():
        batch.multipliers.fill(0.0)
    return state.batches


def _carry_tension(former: Batches, batches: Batches) -> None:
    """Hands tension on when the step changes: multipliers are forces × h²."""
    ratio = batches.h_squared / former.h_squared
    nets = ((former.stretch_net, batches.stretch_net), (former.rope_net, batches.rope_net))
    for old, new in nets:
        np.multiply(old.displacement, ratio, out=new.displacement)
    for before, after in zip(former.strips(), batches.strips(), strict=True):
        np.multiply(before.multipliers, ratio[before.path[:-1]], out=after.multipliers)


def _make_batches(
    model: SoftBodyModel, steps: tuple[float, float], velocity_gains: Floats, h_squared: Floats
) -> Batches:
    """Every constraint set of the model for one pair of steps."""
    w = model.inverse_masses
    bends = bend_batches(model.bends, w, h_squared)
    stiff_triangles = len(model.lengths.folds.pairs) > 0 and bends.stiffness > STIFFEST
    remembering = (model.free_components < 0) & (not stiff_triangles)
    stretch = strip_batches(model.lengths.stretch, w, h_squared, firmness=SURFACE_FIRMNESS)
    shear = strip_batches(model.lengths.shear, w, h_squared, firmness=SURFACE_FIRMNESS)
    ropes = acting_from_start(
        strip_batches(model.lengths.ropes, w, h_squared, firmness=ROPE_FIRMNESS)
    )
    trees = tree_batches(model.lengths.trees, w, h_squared, firmness=ROPE_FIRMNESS)
    return Batches(
        steps=steps,
        velocity_gains=velocity_gains,
        h_squared=h_squared,
        stretch=stretch,
        stretch_net=make_net([*stretch, *shear], w, remembering),
        stretch_links=make_links(stretch, w),
        short=strip_batches(model.lengths.short, w, h_squared, firmness=SURFACE_FIRMNESS),
        ropes=ropes,
        trees=trees,
        rope_net=make_net(ropes, w, np.ones(len(w), dtype=bool)),
        shear=shear,
        folds=distance_batches(model.lengths.folds, w, h_squared),
        bends=bends,
        levels=[
            distance_batches(level.limits, level.inverse_masses, h_squared[level.particles])
            for level in model.lengths.levels
        ],
    )
