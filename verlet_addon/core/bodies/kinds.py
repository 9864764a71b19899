"""The kinds of bodies in a step, by the classes of their batches."""

import numpy as np

from ..model import FleshModel
from ..settings import SceneSettings
from ..state import Batches, ShellBatches, SolidBatches, WaterBatches, ready_batches
from .body_step import BodyStep
from .flesh_bodies import FleshBodyStep
from .goal_springs import spring_goals
from .shell_bodies import ShellStep
from .solid_bodies import SolidBodyStep
from .step_data import NO_TARGETS, Body, StepInputs
from .surface_bodies import SurfaceStep
from .water_bodies import WaterStep

KINDS: dict[type[Batches], type[BodyStep]] = {
    Batches: SurfaceStep,
    ShellBatches: ShellStep,
    SolidBatches: SolidBodyStep,
    WaterBatches: WaterStep,
}
"""Classes of bodies in a step, by the class of their batches. A soft shell is a surface, and flesh
a kind of solid."""


def start_body_step(
    body: Body, number: int, settings: SceneSettings, inputs: StepInputs
) -> BodyStep:
    """The working data of a body at the start of a step, given its number in the inputs."""
    model, state = body
    batches = ready_batches(model, state, settings.integrator, inputs.dt)
    gravity = inputs.gravity * model.settings.gravity
    kind = FleshBodyStep if isinstance(model, FleshModel) else KINDS[type(batches)]
    return kind(
        model=model,
        state=state,
        batches=batches,
        targets=inputs.targets[number],
        fields=inputs.fields[number],
        pressure=inputs.pressures[number] if inputs.pressures else model.settings.pressure,
        accelerations=np.broadcast_to(gravity[:, None], state.positions.shape),
        start=state.positions,
        predicted=state.positions,
        spring_goals=NO_TARGETS
        if model.held is None
        else spring_goals(state.positions, model.held, inputs.spring_targets[number]),
        pull=inputs.pull(number),
        reference_motion=inputs.reference_motion(number),
    )
