"""Plain bodies, with lengths, bends, pins, gravity and ground only, advanced together in C.

In small bodies, the Python overhead of a step is ten times its computation. So compiled kernels
take all steps of a frame in one call, or each phase for all plain bodies, with the same bits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from weakref import WeakKeyDictionary

import numpy as np

from ..arrays import Booleans, Floats, Integers
from ..bending.constraints import BendBatches
from ..compiled import row_of
from ..contacts.manifold.plane import PlaneContact
from ..kernel import Struct, compiled_function, packed
from ..model import SoftBodyModel
from ..ropes.constraints import lengthen_ropes
from ..scene import Plane, Sample
from ..settings import SceneSettings
from ..state import Batches, ParticleState, batches_for
from ..target_curves import TargetCurve, pull_way
from .body_step import BodyStep
from .ground_contacts import ground_laws
from .lengths import BODY_LENGTHS
from .step_data import Body
from .surface_bodies import RESTING_STEPS, SurfaceStep


def is_plain(model: SoftBodyModel, state: ParticleState) -> bool:
    """Whether a body is cloth, or ropes without closed loops, and has no other constraints."""
    others = model.held, model.pieces, state.plastic, state.gas
    parts = (
        model.goals,
        model.limited,
        model.seams.pairs,
        model.ropes.rings.path,
        model.weave.rests,
    )
    return (
        type(model) is SoftBodyModel
        and model.settings.pressure == 0.0
        and model.settings.inertia_share == 0.0
        and all(each is None for each in others)
        and not any(each.size for each in parts)
    )


@dataclass(frozen=True, eq=False)
class PlainWork:
    """Arrays of a plain body that each step in C writes."""

    start: Floats
    """(3, n) positions at the start of the step [m]."""
    predicted: Floats
    """(3, n) positions after free motion, before any constraint [m]."""
    accelerations: Floats
    """(3, n) accelerations of free motion [m/s²]."""
    friction_corrections: Floats
    """(3, n) accumulated corrections by friction on the ground [m]."""
    normal_corrections: Floats
    """(n,) accumulated corrections along the normal of the ground [m]."""


def plain_work(batches: Batches) -> PlainWork:
    """The arrays of a plain body's batches, cached."""
    found = _works.get(batches)
    if found is None:
        n = batches.model.vertex_count
        start, predicted, accelerations, corrections = (np.zeros((3, n)) for _ in range(4))
        found = PlainWork(start, predicted, accelerations, corrections, np.zeros(n))
        _works[batches] = found
    return found


_works: WeakKeyDictionary[Batches, PlainWork] = WeakKeyDictionary()

Struct("bends", BendBatches, reads="ropes stiff paths soft")
PLAIN_MODEL = Struct(
    "plain_model",
    Batches,
    reads="velocity_gain h_squared bends rods",
    n=(int, lambda batches: batches.model.vertex_count),
    pins=(int, lambda batches: len(batches.model.pinned)),
    pinned=(Integers, lambda batches: batches.model.pinned),
    rest=(Floats, lambda batches: batches.model.rest_positions),
    inverse_masses=(Floats, lambda batches: batches.model.inverse_masses),
    multipliers=(Batches, lambda batches: batches),
    lengths=(BODY_LENGTHS, BODY_LENGTHS.pack),
    free=(int, lambda batches: batches.model.has_free_components),
    components=(Integers, lambda batches: batches.model.free_components),
    floors=(Floats, lambda batches: batches.model.thicknesses),
    dt=(float, lambda batches: batches.steps[0]),
    drift=(float, lambda batches: batches.start_gains[0]),
    bend=(float, lambda batches: batches.start_gains[1]),
    start=(Floats, lambda batches: plain_work(batches).start),
    predicted=(Floats, lambda batches: plain_work(batches).predicted),
    accelerations=(Floats, lambda batches: plain_work(batches).accelerations),
    friction_corrections=(Floats, lambda batches: plain_work(batches).friction_corrections),
    normal_corrections=(Floats, lambda batches: plain_work(batches).normal_corrections),
    scratch={
        "before targets": lambda batches: (3, batches.model.vertex_count),
        "whole": lambda batches: (int(batches.model.free_components.max(initial=-1)) + 1, 16),
    },
)


def warm_start_arrays(batches: Batches) -> list[Floats]:
    """Arrays besides positions that a step passes to the next: rotations, and multipliers."""
    strip_systems = batches.lengths.strip_system, batches.ropes.strip_system
    kept = [
        rows
        for strip_system in strip_systems
        for rows in (strip_system.multipliers, strip_system.displacement)
    ]
    lagging = [batch.multipliers for batch, share in batches.restarted() if share]
    kept += [] if batches.rods is None else [batches.rods.rotations]
    return [*kept, *lagging, *(rows for rows in batches.followers if rows is not None)]


@dataclass(eq=False)
class PlainBody:
    """One plain body between two samples."""

    model: SoftBodyModel
    state: ParticleState
    batches: Batches
    positions: Floats
    """(3, n) copy of the state's positions, which compiled steps change [m]."""
    previous_positions: Floats
    """(3, n) copy of the state's previous positions, likewise [m]."""
    pins_start: Floats
    """(3, p) positions of pins at the start of the frame [m]."""
    pins_end: Floats
    """(3, p) their targets at its end [m]."""
    friction: float
    restitution: float
    """Coulomb's coefficient, and that of restitution, on the ground."""
    curve: TargetCurve | None
    """The way of its animated mesh, if its ropes follow that."""
    pull: TargetCurve | None
    """The way of accelerations besides gravity, if any [m/s²]."""

    def write_state(self) -> None:
        """Stores the positions and previous positions of this body in its state."""
        self.state.positions = self.positions
        self.state.previous_positions = self.previous_positions


@dataclass(frozen=True, eq=False)
class FrameInputs:
    """Gravity, ground and steps between two samples, of all plain bodies of a scene."""

    steps: int
    gravity: Floats
    """(3,) [m/s²]"""
    ground: Plane | None


Struct(
    "plain_state",
    PlainBody,
    reads="pins_start pins_end friction restitution curve pull",
    shares="positions previous_positions",
    body=(PLAIN_MODEL, lambda member: PLAIN_MODEL.pack(member.batches)),
    heaviness=(float, lambda member: member.model.settings.gravity),
    taken=(int, lambda member: member.state.steps),
    sweeps=(Integers, lambda member: member.state.sweeps),
)
Struct(
    "frame_inputs",
    FrameInputs,
    reads="steps gravity",
    normal=(Floats, lambda inputs: None if inputs.ground is None else inputs.ground.normal),
    level=(float, lambda inputs: 0.0 if inputs.ground is None else inputs.ground.level),
)


_move_plain = compiled_function("move_plain", Sequence[PlainBody], FrameInputs, Floats)
_predict_plain = compiled_function("predict_plain", Sequence[PlainBody], FrameInputs, int)
_project_plain = compiled_function("project_plain", Sequence[PlainBody], FrameInputs, int, Booleans)
_finish_plain = compiled_function("finish_plain", Sequence[PlainBody], FrameInputs)


@dataclass(eq=False)
class PlainGroup:
    """The plain bodies of a scene, and the inputs of the frame."""

    members: dict[int, PlainBody]
    """Members by the numbers of their bodies."""
    inputs: FrameInputs
    body_steps: dict[int, BodyStep]
    """Working data of the members by number, the same in all steps; empty before `start_steps`."""
    number: int = 0
    """Number of the current step in the frame, from 1."""

    def take_all_steps(self) -> Floats:
        """Takes all steps of the frame in one call.

        Returns lowest and highest corners (count, 2, 3) of boxes around each member's positions at
        the ends of all steps [m].
        """
        boxes = np.empty((len(self.members), 2, 3))
        _move_plain(*self._arguments, boxes)
        return boxes

    def start_steps(self, settings: SceneSettings, after: Sample) -> None:
        """Prepares the members for single steps with contacts."""
        for number, member in self.members.items():
            member.write_state()
            self.body_steps[number] = _make_body_step(member, settings, after)

    def predict(self) -> None:
        """Runs the predictor of all members for the next step."""
        for body_step in self.body_steps.values():
            body_step.entangled = False
        if self.members:
            self.number += 1
            _predict_plain(*self._arguments, self.number)

    def project_constraints(self) -> None:
        """Projects internal constraints and ground contacts of all members once."""
        if self.members:
            resting = np.array(
                [member.state.steps_in_contact >= RESTING_STEPS for member in self.members.values()]
            )
            _project_plain(*self._arguments, self.number, resting)

    def finish(self) -> None:
        """Updates velocities of ropes and of ground contacts."""
        if self.members:
            _finish_plain(*self._arguments)

    @cached_property
    def _arguments(self) -> tuple[int | bytes, int, int]:
        """Arguments of every compiled phase: structs, their number, inputs."""
        structs = [packed(member).address for member in self.members.values()]
        return row_of(structs), len(structs), packed(self.inputs).address


def make_group(
    bodies: Sequence[Body],
    numbers: Sequence[int],
    settings: SceneSettings,
    before: Sample,
    after: Sample,
    curves: Mapping[int, TargetCurve] = MappingProxyType({}),
) -> PlainGroup:
    """The group of the plain bodies with these numbers, for the steps between two samples."""
    pulls = list(map(pull_way, before.every_pull, after.every_pull))
    members = {
        n: _make_member(bodies[n], after.targets[n], settings, (curves.get(n), pulls[n]))
        for n in numbers
    }
    gravity = after.gravity.astype(float)
    return PlainGroup(members, FrameInputs(settings.substeps, gravity, after.ground), {})


def _make_member(
    body: Body, targets: Floats, settings: SceneSettings, ways: Sequence[TargetCurve | None]
) -> PlainBody:
    """The member for one body with these targets (n, 3) [m]."""
    model, state = body
    batches = batches_for(model, state, settings.integrator, state.previous_dt)
    positions, previous = state.positions.copy(), state.previous_positions.copy()
    lengthen_ropes(positions, batches.ropes)
    pins = positions[:, model.pinned], targets.T[:, model.pinned]
    laws = ground_laws(model, settings)
    return PlainBody(model, state, batches, positions, previous, *pins, *laws, *ways)


def _make_body_step(member: PlainBody, settings: SceneSettings, after: Sample) -> BodyStep:
    """Working data of a member in all steps of a frame; compiled kernels write its arrays."""
    work, model, ground = plain_work(member.batches), member.model, after.ground
    body_step = SurfaceStep(
        model=model,
        state=member.state,
        batches=member.batches,
        contacts=[],
        targets=member.positions,
        accelerations=work.accelerations,
        start=work.start,
        predicted=work.predicted,
    )
    if ground is not None:
        n = len(model.inverse_masses)
        friction, restitution = ground_laws(model, settings)
        body_step.contacts.append(
            PlaneContact(
                plane=ground,
                start=work.start,
                climb=0.0,
                floors=np.broadcast_to(model.thicknesses, (2, n)),
                friction=friction,
                restitution=restitution,
                normal_corrections=work.normal_corrections,
                friction_corrections=work.friction_corrections,
                predicted=work.predicted,
                accelerations=work.accelerations,
                dt=member.batches.steps[0],
                start_gains=member.batches.start_gains,
            )
        )
    return body_step


EMPTY_GROUP = PlainGroup({}, FrameInputs(0, np.zeros(3), None), {})
"""The group without members, for scenes without plain bodies."""
