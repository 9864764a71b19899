"""Plain bodies between two samples, advanced together by compiled calls."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Booleans, Floats
from ..compiled import row_of
from ..contact.plane import PlaneContact
from ..kernel import Struct, compiled_function, packed
from ..model import SoftBodyModel
from ..ropes.constraints import lengthen_ropes
from ..scene import Plane, Sample
from ..settings import SceneSettings
from ..state import Batches, ParticleState, batches_for
from .body_step import BodyStep
from .plain_bodies import PLAIN_MODEL, plain_work
from .step_data import Body
from .surface_bodies import RESTING_STEPS, SurfaceStep


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
    """Coulomb coefficient on the ground."""
    restitution: float
    """Coefficient of restitution on the ground."""

    def write_state(self) -> None:
        """Stores the positions and previous positions of this body in its state."""
        self.state.positions, self.state.previous_positions = (
            self.positions,
            self.previous_positions,
        )


@dataclass(frozen=True, eq=False)
class FrameInputs:
    """What acts on all plain bodies of a scene between two samples."""

    steps: int
    gravity: Floats
    """(3,) [m/s²]"""
    ground: Plane | None


Struct(
    "plain_state",
    PlainBody,
    reads="pins_start pins_end friction restitution",
    shares="positions previous_positions",
    body=(PLAIN_MODEL, lambda member: PLAIN_MODEL.pack(member.batches)),
    heaviness=(float, lambda member: member.model.settings.gravity),
    taken=(int, lambda member: member.state.steps),
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
    bodies: Sequence[Body], numbers: Sequence[int], settings: SceneSettings, after: Sample
) -> PlainGroup:
    """The group of the plain bodies with these numbers, for the steps to a sample."""
    members = {
        number: _make_member(bodies[number], after.targets[number], settings) for number in numbers
    }
    inputs = FrameInputs(settings.substeps, after.gravity.astype(float), after.ground)
    return PlainGroup(members, inputs, {})


def _make_member(body: Body, targets: Floats, settings: SceneSettings) -> PlainBody:
    """The member for one body with these targets (n, 3) [m]."""
    model, state = body
    batches = batches_for(model, state, settings.integrator, state.previous_dt)
    positions, previous = state.positions.copy(), state.previous_positions.copy()
    lengthen_ropes(positions, batches.ropes)
    pins = positions[:, model.pinned], targets.T[:, model.pinned]
    laws = _ground_laws(model, settings)
    return PlainBody(model, state, batches, positions, previous, *pins, *laws)


def _ground_laws(model: SoftBodyModel, settings: SceneSettings) -> tuple[float, float]:
    """Coefficients of friction and restitution of a body on the ground."""
    body = model.settings
    return (
        min(body.friction, settings.ground_friction),
        max(body.restitution, settings.ground_restitution),
    )


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
        friction, restitution = _ground_laws(model, settings)
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
