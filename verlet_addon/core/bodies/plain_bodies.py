"""Cloth and ropes, advanced together in C.

In small bodies, the Python overhead of a step is ten times its computation. So compiled kernels
take all steps of a frame in one call, or each phase for all plain bodies, with the same bits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Booleans, Floats
from ..compiled import row_of
from ..kernel import Struct, compiled_function, packed
from ..scene import Plane, Sample, plane_between, plane_shift
from ..settings import SceneSettings
from .plain_members import PlainBody, make_body_step, make_member, meet_ground
from .step_data import Body, StepInputs, Way
from .surface_bodies import RESTING_STEPS, SurfaceStep


@dataclass(frozen=True, eq=False)
class FrameInputs:
    """Gravity, ground and steps between two samples, of all plain bodies of a scene."""

    steps: int
    gravity: Floats
    """(3,) [m/s²]"""
    grounds: Sequence[Plane]
    """The ground at the end of each step; empty if there is none."""
    shift: Floats
    """(3,) displacement of the ground in each step [m]."""


Struct(
    "frame_inputs",
    FrameInputs,
    reads="steps gravity",
    normals=(Floats, lambda inputs: np.stack([p.normal for p in inputs.grounds] or [np.zeros(3)])),
    levels=(Floats, lambda inputs: np.array([plane.level for plane in inputs.grounds])),
    grounds=(int, lambda inputs: len(inputs.grounds)),
    shift=(Floats, lambda inputs: inputs.shift if inputs.shift.any() else None),
)


_move_plain = compiled_function("move_plain", Sequence[PlainBody], FrameInputs, Floats)
_predict_plain = compiled_function("predict_plain", Sequence[PlainBody], FrameInputs, int)
_project_plain = compiled_function("project_plain", Sequence[PlainBody], FrameInputs, int, Booleans)
_finish_plain = compiled_function("finish_plain", Sequence[PlainBody], FrameInputs, int)
_end_plain = compiled_function("end_plain", Sequence[PlainBody], FrameInputs, int)


@dataclass(eq=False)
class PlainGroup:
    """The plain bodies of a scene, and the inputs of the frame."""

    members: dict[int, PlainBody]
    """Members by the numbers of their bodies."""
    inputs: FrameInputs
    body_steps: dict[int, SurfaceStep]
    """Working data of the members by number, the same in all steps; empty before `start_steps`."""
    settings: SceneSettings
    """Friction and restitution of the ground."""
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

    def start_steps(self) -> None:
        """Prepares the members for single steps with contacts."""
        for number, member in self.members.items():
            member.write_state()
            self.body_steps[number] = make_body_step(member)

    def predict(self, inputs: StepInputs) -> None:
        """Runs the predictor of all members for the next step."""
        for number, body_step in self.body_steps.items():
            body_step.entangled = False
            meet_ground(body_step, self.settings, inputs)
            if self.members[number].in_field:
                body_step.fields, body_step.pull = inputs.fields[number], inputs.pull(number)
                body_step.accelerations[...] = body_step.find_accelerations(inputs)
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
            _finish_plain(*self._arguments, self.number)

    def end(self) -> None:
        """Puts particles where they must be, whatever acted last, and shifts velocities."""
        if self.members:
            _end_plain(*self._arguments, self.number)

    @cached_property
    def _arguments(self) -> tuple[int | bytes, int, int]:
        """Arguments of every compiled phase: structs, their number, inputs."""
        structs = [packed(member).address for member in self.members.values()]
        return row_of(structs), len(structs), packed(self.inputs).address


def make_group(
    bodies: Sequence[Body],
    numbers: Sequence[int],
    settings: SceneSettings,
    ways: Sequence[Way],
    before: Sample,
    after: Sample,
) -> PlainGroup:
    """The group of the plain bodies with these numbers, on their ways to the next sample."""
    members = {n: make_member(bodies[n], ways[n], settings) for n in numbers}
    steps, ends = settings.substeps, (before.ground, after.ground)
    grounds = [plane_between(*ends, number / steps) for number in range(1, steps + 1)]
    inputs = FrameInputs(
        steps,
        after.gravity.astype(float),
        [plane for plane in grounds if plane is not None],
        plane_shift(*ends, steps),
    )
    return PlainGroup(members, inputs, {}, settings)


EMPTY_GROUP = PlainGroup({}, FrameInputs(0, np.zeros(3), [], np.zeros(3)), {}, SceneSettings())
"""The group without members, for scenes without plain bodies."""
