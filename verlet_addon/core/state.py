"""The variable state of a body, and its constraints prepared for steps of one length.

Solids, shells and water have classes of their own.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from math import nan

import numpy as np

from .arrays import NONZERO, Booleans, Floats, Integers, dot
from .bending.bend_damping import SLIP_SHARE, play_share, set_static_multipliers, stiffening
from .bending.bend_paths import BendPathBatch
from .bending.constraints import BendBatches, bend_batches
from .bending.stencil_batches import StencilBatch
from .bending.stiff_bends import StiffBendBatch
from .contacts.sides.depenetration import InitialDepths
from .integrators import start_gains, step_gains
from .kernel import Struct, kernel
from .model import HeldVertices, ShellModel, SoftBodyModel, SolidModel, WaterModel
from .plasticity import Plastic, with_permanent_rests
from .rigid.pieces import PiecePoses
from .rods.kernels import current_rotations
from .rods.rod_batches import RodBatch, rod_batch
from .ropes.constraints import RopeBatches, rope_batches
from .scene import SolverWork
from .shell.kernels import ShellSystem, shell_system
from .solid.linear_system import SolidSystem, solid_system
from .solid.solid_body import SolidState
from .stretch.constraints import LengthBatches, length_batches
from .stretch.seams import SeamBatch, seam_batches
from .stretch.tension_warm_start import carry_tension
from .volume.gas import Gas
from .water.waves import WaterState
from .weave.constraints import WeaveBatch, weave_batches

RestartedBatch = StencilBatch | BendPathBatch | StiffBendBatch | SeamBatch | WeaveBatch


@dataclass(frozen=True, eq=False, kw_only=True)
class Batches:
    """Constraint batches of a body for one pair of step lengths."""

    steps: tuple[float, float]
    """Lengths of this step and of the one before [s]."""
    velocity_gain: float
    """Factor of the previous displacement in the predictor; see `step_gains`."""
    h_squared: float
    """Factor h² of accelerations in the predictor [s²]; multipliers are forces × h²."""
    start_gains: tuple[float, float]
    """Factors of velocity [s] and acceleration [s²] in the previous displacement; see
    `start_gains`."""
    model: SoftBodyModel
    """The body's model; with its own copy of rest lengths and angles if it is plastic."""
    lengths: LengthBatches
    weave: list[WeaveBatch]
    ropes: RopeBatches
    bends: BendBatches
    rods: RodBatch | None
    seams: list[SeamBatch]
    kept_share: float
    """Share of the previous multipliers that bends of surfaces start a step from, 0 … 1."""
    play: float
    """Relative width of the hysteresis of those multipliers; see `bending.bend_damping`."""
    followers: list[Floats | None] = field(default_factory=list)
    """Per batch of `restarted`, multipliers after hysteresis (the output of a play operator); None
    for batches that start from 0."""

    def restarted(self) -> Iterator[tuple[RestartedBatch, float]]:
        """Batches whose multipliers are reset at the start of a step, with the share that is kept.

        The multipliers of strips are warm-started in other ways.
        """
        yield from ((batch, 0.0) for batch in self.seams)
        yield from ((batch, 0.0) for batch in self.weave)
        yield from ((batch, 0.0) for batch in self.bends.ropes)
        yield from ((batch, self.kept_share) for batch in self.bends.of_surfaces())


@dataclass(frozen=True, eq=False, kw_only=True)
class ShellBatches(Batches):
    """Batches of a shell; of lengths and bends, those of ropes alone are used."""

    shell: ShellSystem
    """The system in place of all other lengths and bends."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SolidBatches(Batches):
    """Batches of a solid, which are empty besides its system."""

    solid: SolidSystem


@dataclass(frozen=True, eq=False, kw_only=True)
class WaterBatches(Batches):
    """Batches of a body of water, all of which are empty."""


@dataclass(eq=False)
class ParticleState:
    """The state of a body of n particles; positions are rows x, y, z, for fast kernels."""

    positions: Floats
    """(3, n) current positions [m]."""
    previous_positions: Floats
    """(3, n) positions one step ago; velocity updates change them [m]."""
    previous_dt: float
    """Length of the step before [s]."""
    steps: int = 0
    """Number of steps taken; odd ones sweep in reverse order, except for bodies at rest."""
    steps_in_contact: int = 0
    """Number of successive steps with contact with another body, a collider or itself."""
    ground_depths: InitialDepths | None = None
    """Initial depths of particles in the ground, still to be reduced; None without ground."""
    rigid: PiecePoses | None = None
    """Poses of rigid pieces."""
    rod_rotations: Floats | None = None
    """(m, 4) rotations of the segments of rods from their rest pose, as unit quaternions."""
    gas: Gas | None = None
    """Gas enclosed by cloth."""
    closed: Booleans | None = None
    """(s,) bool, seams that have closed."""
    torn: Booleans | None = None
    """(s,) bool, seams that have torn."""
    plastic: Plastic | None = None
    """Permanent strains of a plastic body."""
    sweeps: Integers = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    """(1,) number of sweeps over the lengths of surfaces since the last frame."""
    held: HeldVertices | None = None
    """The goal springs that its batches were made with."""
    batches: Batches | None = field(default=None, repr=False)
    """Batches for the current step length, rebuilt when it changes."""

    def velocities(self) -> Floats:
        """(3, n) mean velocities over the last step [m/s]."""
        return np.asarray((self.positions - self.previous_positions) / self.previous_dt)

    @property
    def is_asleep(self) -> bool:
        """Whether the last step changed nothing; only solids come to rest exactly."""
        return False

    def wake(self) -> None:
        """Makes the next step solve for a body at rest, because an input has changed."""

    def take_work(self) -> SolverWork:
        """Work of the solvers since this was last called."""
        work = SolverWork(
            sweeps=int(self.sweeps[0]),
            linearizations=0 if self.rigid is None else int(self.rigid.linearizations[1]),
        )
        self.sweeps.fill(0)
        if self.rigid is not None:
            self.rigid.linearizations[1] = 0
        return work

    def shift_previous(self, move: Callable[[Floats], Floats]) -> None:
        """Moves the points (3, n) that velocities are measured from."""
        self.previous_positions = move(self.previous_positions)


@dataclass(eq=False)
class SolidBodyState(ParticleState):
    """The state of a solid: that of its points, and of its nodes."""

    solid: SolidState = field(kw_only=True)
    """Nodes of the lattice."""

    @property
    def is_asleep(self) -> bool:
        """Whether the last step changed nothing, and nothing has moved its points since."""
        return (
            self.solid.sleep_state is not None
            and np.array_equal(self.positions, self.solid.solved_points)
            and np.array_equal(self.previous_positions, self.solid.solved_points)
        )

    def wake(self) -> None:
        """Makes the next step solve for a solid at rest."""
        self.solid.sleep_state = None

    def take_work(self) -> SolverWork:
        """Work of the solvers since this was last called."""
        work = SolverWork(solid_solutions=self.solid.solutions)
        self.solid.solutions = 0
        return work

    def shift_previous(self, move: Callable[[Floats], Floats]) -> None:
        """Moves the points (3, n) and the nodes that velocities are measured from."""
        super().shift_previous(move)
        self.solid.previous_nodes = move(self.solid.previous_nodes)
        self.solid.previous_solved_points = move(self.solid.previous_solved_points)


@dataclass(eq=False)
class WaterBodyState(ParticleState):
    """The state of a body of water."""

    water: WaterState = field(kw_only=True)
    """Waves."""


def ready_batches(
    model: SoftBodyModel, state: ParticleState, integrator: str, dt: float
) -> Batches:
    """The constraint batches at the start of a step of length `dt` [s], multipliers reset."""
    batches = batches_for(model, state, integrator, dt)
    start_multipliers(batches)
    return batches


def batches_for(model: SoftBodyModel, state: ParticleState, integrator: str, dt: float) -> Batches:
    """The constraint batches for a step of length `dt` [s]; multipliers are those of the last step.

    Batches are rebuilt when the step length changes; strips then keep their tension.
    """
    steps = (dt, state.previous_dt)
    if state.batches is None or state.batches.steps != steps:
        previous, state.batches = state.batches, _make_batches(model, state, integrator, steps)
        if previous is not None:
            _rescale_tension(previous, state.batches)
        if state.batches.kept_share:
            set_static_multipliers(state.batches.bends, state.positions)
        _reset_followers(state.batches)
    return state.batches


def _reset_followers(batches: Batches) -> None:
    """Sets followers to the current multipliers."""
    batches.followers[:] = [
        batch.multipliers.copy() if kept_share else None
        for batch, kept_share in batches.restarted()
    ]


Struct(
    "restarted_multipliers",
    Batches,
    reads="kept_share play",
    values=(list[Floats], lambda batches: [each.multipliers for each, _ in batches.restarted()]),
    counts=(
        Integers,
        lambda batches: np.array(
            [each.multipliers.size for each, _ in batches.restarted()], dtype=np.int64
        ),
    ),
    followers=(list[Floats], lambda batches: batches.followers),
)


@kernel()
def start_multipliers(batches: Batches) -> None:
    """Resets multipliers at the start of a step: to 0, or to a share of their followers."""
    for (batch, kept_share), follower in zip(batches.restarted(), batches.followers, strict=True):
        if follower is None:
            batch.multipliers.fill(0.0)
            continue
        ahead = batch.multipliers - follower
        shares = dot(batch.multipliers, batch.multipliers) / np.maximum(dot(ahead, ahead), NONZERO)
        ahead *= np.maximum(1.0 - batches.play * np.sqrt(shares), SLIP_SHARE)
        np.add(follower, ahead, out=follower)
        np.multiply(follower, kept_share, out=batch.multipliers)


def invalidate_batches(state: ParticleState) -> None:
    """Marks the batches for a rebuild in the next step, which keeps their tension."""
    if state.batches is not None:
        state.batches = replace(state.batches, steps=(nan, nan))


def _make_batches(
    model: SoftBodyModel, state: ParticleState, integrator: str, steps: tuple[float, float]
) -> Batches:
    """Batches of all constraints of the model for one pair of step lengths [s]."""
    if state.plastic is not None:
        model = with_permanent_rests(model, state.plastic)
    w = model.mobilities
    gains = step_gains(integrator, *steps, model.settings.damping)
    velocity_gain, h_squared = (float(gain) for gain in gains)
    drift, bend = (float(gain) for gain in start_gains(steps[0], model.settings.damping))
    loss = model.settings.inner_damping if model.triangles.size else 0.0
    stiffer = stiffening(loss, steps[0])
    bends = bend_batches(model.bends, w, h_squared, stiffer)
    rest = state.positions if model.settings.has_animated_rest else model.rest_positions
    state.rod_rotations = current_rotations(model.rods, state.rod_rotations, state.positions, rest)
    if state.closed is None or state.torn is None:
        state.closed, state.torn = np.zeros((2, len(model.seams.pairs)), dtype=bool)
    common = Batches(
        steps=steps,
        velocity_gain=velocity_gain,
        h_squared=h_squared,
        start_gains=(drift, bend),
        model=model,
        lengths=length_batches(
            model.lengths, w, h_squared, _warm_started_particles(model, state, bends)
        ),
        weave=weave_batches(model.weave, w, h_squared),
        ropes=rope_batches(model.ropes, w, h_squared),
        bends=bends,
        rods=rod_batch(model.rods, model.settings, w, h_squared, steps[0], state.rod_rotations),
        seams=seam_batches(model.seams, state.closed, state.torn, w, h_squared),
        kept_share=1.0 - 1.0 / stiffer,
        play=play_share(loss, steps[0]),
    )
    return _of_kind(common, model, state)


def _of_kind(batches: Batches, model: SoftBodyModel, state: ParticleState) -> Batches:
    """The batches with what the kind of the body has beside them."""
    match model, state:
        case ShellModel(), _:
            goals = model.goals, model.goal_compliances
            shell = shell_system(model.shell, model.mobilities, batches.h_squared, *goals)
            return batches if shell is None else ShellBatches(**vars(batches), shell=shell)
        case SolidModel(), SolidBodyState():
            held = model.pinned[:0] if model.held is None else model.held.vertices
            sprung = np.concatenate([*model.sprung, held])
            solid = solid_system(
                model.solid, state.solid, batches.steps[0], batches.h_squared, sprung
            )
            return SolidBatches(**vars(batches), solid=solid)
        case WaterModel(), _:
            return WaterBatches(**vars(batches))
    return batches


def _warm_started_particles(
    model: SoftBodyModel, state: ParticleState, bends: BendBatches
) -> Booleans:
    """(n,) bool, particles whose tension is warm-started from the step before.

    Components without pins bear no load, unless gas is enclosed. Triangles with stiff bends are
    excluded, because warm-started tension and stiff bends amplify each other. So are bodies of
    rigid pieces with short strips between them, whose lengths are solved in one system: a warm
    start would only damp them.
    """
    all_joined = model.pieces is not None and model.pieces.joins_all_particles
    mask = (model.free_components < 0) & (not all_joined) | (state.gas is not None)
    opposite = model.lengths.opposite_particles
    mask[opposite] &= ~bends.stiff_particles[opposite]
    return mask


def _rescale_tension(previous: Batches, batches: Batches) -> None:
    """Copies tension to batches of another step length: multipliers are forces × h²."""
    ratio = batches.h_squared / previous.h_squared
    carry_tension(previous.lengths.strip_system, batches.lengths.strip_system, ratio)
    carry_tension(previous.ropes.strip_system, batches.ropes.strip_system, ratio)
